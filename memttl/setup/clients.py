"""The MCP clients as a table: where each keeps its configs, under which keys, and which variables it puts into them.

`discover.py` goes through the rows. A new client is a row; a new place of a client is a line of its row.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from memttl.setup.found import System

# how a client writes a variable in a config
Style = Literal[
    "env",  # ${env:HOME}
    "folders",  # ${workspaceFolder}, ${userHome}, ${/}
    "braces",  # ${HOME}, ${HOME:-/root}
    "dollar",  # $HOME
    "percent",  # %USERPROFILE%, on Windows
    "input",  # ${input:path}: the client asks
]
ALL: tuple[System, ...] = ("linux", "macos", "windows")
UNIX: tuple[System, ...] = ("linux", "macos")


class At(NamedTuple):
    """A place of a user's config: the first of `paths` whose variables are all set; a `*` in it is a glob.

    The variables are `home`, `config` (where programs of this system keep their settings), `appdata`, `localappdata`,
    and any of the environment. `keys` is the way to the servers, where it is not the client's usual one.
    """

    paths: tuple[str, ...]
    systems: tuple[System, ...] = ALL
    keys: tuple[str, ...] = ()


class Client(NamedTuple):
    """One MCP client. `project` are its configs in the folder of a project, and the way to the servers in each.

    `word` is its name on a command line. `shadow` is what to say of a further config of the user where an earlier one
    is there, "" where all of them hold. `also` are the keys that it wants in an entry besides command, args and env.
    """

    title: str
    word: str
    keys: tuple[str, ...]
    user: tuple[At, ...]
    project: tuple[tuple[str, tuple[str, ...]], ...] = ()
    styles: tuple[Style, ...] = ()
    shadow: str = ""
    also: tuple[tuple[str, str | tuple[str, ...]], ...] = ()


_SERVERS = ("mcpServers",)
_STDIO = (("type", "stdio"),)
_CODE = ("Code", "Code - Insiders", "VSCodium")
_CLAUDE = "claude_desktop_config.json"
# the package's family name (Claude_pzs8sxrjxfjjc) is left open
_PACKAGED = "{localappdata}/Packages/Claude_*/LocalCache/Roaming/Claude/"
_CLINE = "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"

CLIENTS = (
    Client(
        "Claude Desktop",
        "claude-desktop",
        _SERVERS,
        (
            At((_PACKAGED + _CLAUDE,), ("windows",)),
            At(("{config}/Claude/" + _CLAUDE,)),
        ),
        shadow="the packaged app of Claude Desktop reads a config of its own instead",
    ),
    Client(
        "Claude Code",
        "claude",
        _SERVERS,
        (At(("{CLAUDE_CONFIG_DIR}/.claude.json", "{home}/.claude.json")),),
        ((".mcp.json", _SERVERS),),
        ("braces",),
        also=_STDIO,
    ),
    Client(
        "Cursor",
        "cursor",
        _SERVERS,
        (At(("{home}/.cursor/mcp.json",)),),
        ((".cursor/mcp.json", _SERVERS),),
        ("env", "folders"),
    ),
    Client(
        "VS Code",
        "vscode",
        ("servers",),
        (
            *(At((f"{{config}}/{name}/User/mcp.json",)) for name in _CODE),
            At(("{config}/Code/User/profiles/*/mcp.json",)),
            At(("{home}/.var/app/com.visualstudio.code/config/Code/User/mcp.json",), ("linux",)),  # Flatpak
            # until the summer of 2025 the servers stood in the settings
            At(("{config}/Code/User/settings.json",), keys=("mcp", "servers")),
        ),
        ((".vscode/mcp.json", ("servers",)),),
        ("env", "folders", "input"),
        also=_STDIO,
    ),
    Client(
        "Copilot",
        "copilot",
        _SERVERS,
        (At(("{COPILOT_HOME}/mcp-config.json", "{home}/.copilot/mcp-config.json")),),
        ((".github/mcp.json", _SERVERS),),
        ("env", "braces", "dollar"),
        also=(*_STDIO, ("tools", ("*",))),  # its command line takes no server without
    ),
    Client(
        "Windsurf",
        "windsurf",
        _SERVERS,
        (At(("{home}/.codeium/windsurf/mcp_config.json",)), At(("{home}/.codeium/mcp_config.json",))),
        (),
        ("env",),
    ),
    Client(
        "Zed",
        "zed",
        ("context_servers",),
        (
            At(("{XDG_CONFIG_HOME}/zed/settings.json", "{home}/.config/zed/settings.json"), UNIX),
            At(("{config}/Zed/settings.json",), ("macos", "windows")),
        ),
        ((".zed/settings.json", ("context_servers",)),),
        also=(("source", "custom"),),  # releases of 2025 read no entry without
    ),
    Client(
        "Codex",
        "codex",
        ("mcp_servers",),
        (At(("{CODEX_HOME}/config.toml", "{home}/.codex/config.toml")),),
        ((".codex/config.toml", ("mcp_servers",)),),
    ),
    Client(
        "Gemini CLI",
        "gemini",
        _SERVERS,
        (At(("{home}/.gemini/settings.json",)),),
        ((".gemini/settings.json", _SERVERS),),
        ("braces", "dollar", "percent"),
    ),
    Client(
        "Cline",
        "cline",
        _SERVERS,
        tuple(At((f"{{config}}/{name}/User/globalStorage/{_CLINE}",)) for name in _CODE),
        (),
        ("env",),
    ),
)
