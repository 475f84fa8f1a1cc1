"""memttl: lifecycle for the knowledge graph that AI assistants keep through the MCP memory server.

The names below are the library's public face; everything else may change between releases.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
