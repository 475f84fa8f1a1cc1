"""Around the memory file: the MCP clients that point at it, and the schedules that run memttl on it."""
