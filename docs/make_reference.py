"""Write docs/reference.md and docs/memttl.1 anew, from the commands themselves, their examples and the README's codes.

Run it as `python docs/make_reference.py` after a change of any command, option or help text; a test compares.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

import typer  # noqa: E402

from memttl import __version__  # noqa: E402
from memttl.cli import app  # noqa: E402
from memttl.commands.examples import examples_of  # noqa: E402
from memttl.commands.groups import shown_argument  # noqa: E402

COMMAND = "python docs/make_reference.py"
# what every command takes, by the names of its parameters
COMMON = ("file", "policy", "now", "json", "quiet", "verbose", "color")
DATE = "2026-11-30"  # of the man page's form: its text has the version
ENVIRONMENT = {
    "MEMTTL_FILE": "The memory file (a glob may name several), where no --file is given.",
    "MEMORY_FILE_PATH": "The same, as the memory server reads it: an absolute path. MEMTTL_FILE goes before it.",
    "MEMTTL_POLICY": "The policy, where no --policy is given.",
    "MEMTTL_STATE_DIR": "The folder for ledger, audit log and backups, instead of beside the memory file.",
    "MEMTTL_NOW": "The instant to judge as of, where no --now is given (`memttl serve` refuses it).",
    "MEMTTL_LOG": "A file to which diagnostics are added.",
    "TZ": "The time zone that `memttl init` writes into a policy, before the system's own.",
    "PYTHONPATH": "Where memttl is run from a folder: a schedule takes it over.",
    "NO_COLOR": "When set and not empty: no colour, unless --color is given.",
    "TERM": "`dumb` means neither colour nor progress.",
    "COLUMNS": "The width of tables, instead of the terminal's.",
    "XDG_CONFIG_HOME": "Config files (~/.config): memttl/policy.toml, a user's systemd units, fish's completions.",
    "XDG_STATE_HOME": "The folder of state (~/.local/state): for memory files in the npx cache.",
    "XDG_DATA_HOME": "The folder of data (~/.local/share): for bash's completions.",
    "ZDOTDIR": "The folder of zsh's own files: for its completions.",
    "HOME": "The user's folder, below which the MCP clients keep their configs.",
    "USERPROFILE": "The same on Windows.",
    "PATH": "Where programs are looked for, and with them the servers that npm installs for all.",
    "APPDATA": "On Windows: the folder of most clients' configs.",
    "LOCALAPPDATA": "On Windows: the folder of the packaged Claude Desktop, and of npm's cache.",
    "CLAUDE_CONFIG_DIR": "The folder of Claude Code's config.",
    "CODEX_HOME": "The folder of Codex's config.",
    "COPILOT_HOME": "The folder of Copilot's config.",
    "NPM_CONFIG_CACHE": "npm's cache, in which npx keeps servers; npm_config_cache as well.",
    "NPM_CONFIG_USERCONFIG": "npm's own config, which may name its cache; npm_config_userconfig as well.",
    "npm_config_prefix": "Where npm installs for all.",
    "NVM_DIR": "The folder of nvm, below which it does so as well.",
}
FILES = {
    "memory.jsonl": "The memory file, under whatever name MEMORY_FILE_PATH gives it.",
    "memttl.toml": "The policy beside the memory file.",
    "~/.config/memttl/policy.toml": "The user's own policy, where none lies beside the memory file.",
    ".memttl/NAME/ledger.db": "First and last sightings, and what was set; NAME is that of the memory file.",
    ".memttl/NAME/audit.jsonl": "The audit log.",
    ".memttl/NAME/backups/": "The whole memory file before each run.",
    ".memttl/NAME/quarantine/": "What repairs took out.",
}
INTRODUCTION = (
    "memttl gives a lifecycle to the one file in which the MCP memory server keeps its knowledge graph. It finds out "
    "how old every observation is and how long it is meant to last, shows what has expired and why, and removes just "
    "that. Every removal has a reason, a backup and a line in an audit log. What it does not understand, it keeps."
)


class Option(NamedTuple):
    """An option or an argument: its names as help texts show them, and what it does."""

    names: tuple[str, ...]
    value: str
    told: str

    @property
    def usage(self) -> str:
        """All in one line."""
        return ", ".join(self.names) + (f" {self.value}" if self.value else "")


class Entry(NamedTuple):
    """One command: its words, its usage, what it does, what it takes besides the common options, its examples."""

    words: str
    usage: str
    told: str
    options: tuple[Option, ...]
    takes_common: bool
    examples: tuple[tuple[str, str], ...]


def main() -> None:
    """Write both."""
    (DOCS / "reference.md").write_text(reference(), encoding="utf-8")
    (DOCS / "memttl.1").write_text(man_page(), encoding="utf-8")


def entries() -> list[Entry]:
    """Give memttl itself and all its commands, in the order of its help."""
    return [_entry(words, command) for words, command in _walk("", typer.main.get_command(app))]


def _walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, sub in getattr(command, "commands", {}).items():
        if not sub.hidden:
            yield from _walk(f"{words} {name}".strip(), sub)


def _entry(words: str, command: Any) -> Entry:
    takes_common = {p.name for p in command.params} >= set(COMMON)
    own = [p for p in command.params if not (takes_common and p.name in COMMON)]
    arguments = [shown_argument(p) for p in own if p.param_type_name == "argument"]
    tail = ["COMMAND"] if getattr(command, "commands", None) else []
    usage = " ".join(["memttl", *words.split(), "[OPTIONS]", *arguments, *tail])
    told = " ".join((command.help or "").split())
    return Entry(words, usage, told, tuple(map(_option, own)), takes_common, examples_of(words))


def common_options() -> list[Option]:
    """Give what every command takes."""
    command = typer.main.get_command(app).commands["prune"]  # type: ignore[attr-defined]
    return [*(_option(p) for p in command.params if p.name in COMMON), Option(("-h", "--help"), "", "Show the help.")]


def _option(parameter: Any) -> Option:
    if parameter.param_type_name == "argument":
        return Option((shown_argument(parameter),), "", parameter.help or "")
    names = sorted((*parameter.opts, *parameter.secondary_opts), key=lambda name: name.startswith("--"))
    value = "" if parameter.is_flag else parameter.metavar or parameter.name.upper()
    default = parameter.default
    shown = f" (default: {default})" if default and not parameter.is_flag and "default" not in parameter.help else ""
    return Option(tuple(names), value, f"{parameter.help.rstrip('.')}{shown}.")


def exit_codes() -> list[tuple[str, str]]:
    """Give code and meaning as the README has them."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (\d+) \| (.*) \|$", readme, re.MULTILINE)


def reference() -> str:
    """Give the text of docs/reference.md."""
    top, *rest = entries()
    lines = [
        "# Reference",
        "",
        f"Printed from the commands themselves (`{COMMAND}`). [The README](../README.md) explains what it is all for.",
        "",
        "## Options of every command",
        "",
        "They stand after the name of the command, and of the subcommand.",
        "",
        *_listed(common_options()),
        *(line for entry in rest for line in _section(entry)),
        "",
        "## memttl itself",
        "",
        *_body(top),
        "",
        "## Exit codes",
        "",
        *(f"- **{code}**: {told}" for code, told in exit_codes()),
        "",
        "## Environment",
        "",
        *(f"- `{name}`: {told}" for name, told in ENVIRONMENT.items()),
        "",
        "## Files",
        "",
        *(f"- `{name}`: {told}" for name, told in FILES.items()),
    ]
    return "\n".join(lines) + "\n"


def _section(entry: Entry) -> list[str]:
    level = "##" if " " not in entry.words else "###"
    return ["", f"{level} memttl {entry.words}", "", *_body(entry)]


def _body(entry: Entry) -> list[str]:
    lines = [entry.told, "", "```sh", entry.usage, "```"]
    if entry.options:
        lines += ["", *_listed(entry.options)]
    if entry.takes_common:
        lines += ["", "And the [options of every command](#options-of-every-command)."]
    if entry.examples:
        shown = [line for words, told in entry.examples for line in (f"# {told}", words)]
        lines += ["", "```sh", *shown, "```"]
    return lines


def _listed(options: Any) -> list[str]:
    return [f"- `{option.usage}`: {option.told}" for option in options]


def man_page() -> str:
    """Give the text of docs/memttl.1, in the man macros of groff."""
    top, *rest = entries()
    parts = [
        f'.\\" Printed by: {COMMAND}',
        f'.TH MEMTTL 1 "{DATE}" "memttl {__version__}" "User Commands"',
        ".SH NAME",
        _text("memttl - a lifecycle for the memory file of the MCP memory server"),
        ".SH SYNOPSIS",
        ".B memttl",
        _text("COMMAND [OPTIONS]"),
        ".SH DESCRIPTION",
        _text(INTRODUCTION),
        ".SH COMMANDS",
        *(part for entry in rest for part in _man_entry(entry)),
        ".SH OPTIONS",
        _text("Of memttl itself:"),
        *map(_man_option, top.options),
        ".PP",
        _text("Of every command, after its name:"),
        *map(_man_option, common_options()),
        ".SH EXIT STATUS",
        *(_tagged(code, told) for code, told in exit_codes()),
        ".SH ENVIRONMENT",
        *(_tagged(name, told) for name, told in ENVIRONMENT.items()),
        ".SH FILES",
        *(_tagged(name, told) for name, told in FILES.items()),
        ".SH EXAMPLES",
        "It begins with these:",
        *(part for words, told in top.examples for part in _man_example(words, told)),
        ".SH SEE ALSO",
        _text("The README and docs/reference.md of memttl."),
    ]
    return "\n".join(parts) + "\n"


def _man_entry(entry: Entry) -> Iterator[str]:
    yield f'.SS "{_escaped(entry.usage)}"'
    yield _text(entry.told)
    yield from map(_man_option, entry.options)
    for words, told in entry.examples:
        yield from _man_example(words, told)


def _man_option(option: Option) -> str:
    return _tagged(option.usage, option.told)


def _tagged(tag: str, told: str) -> str:
    return f'.TP\n.B "{_escaped(tag)}"\n{_text(told)}'


def _man_example(words: str, told: str) -> Iterator[str]:
    yield f".PP\n{_text(told)}"
    yield f".PP\n.RS 4\n.nf\n{_line(_escaped(words))}\n.fi\n.RE"


def _text(text: str) -> str:
    """Give a paragraph as lines of the page; what stands in backquotes is bold."""
    return "\n".join(_line(_bold(line)) for line in textwrap.wrap(text, 60, break_on_hyphens=False))


def _bold(line: str) -> str:
    """Escape a line, with the words between its backquotes in bold; a quotation that a line break cuts goes on."""
    return re.sub(r"\\\(ga", "", re.sub(r"\\\(ga(.*?)\\\(ga", r"\\fB\1\\fR", _escaped(line)))


_ESCAPES = {
    "\\": "\\e",
    "-": "\\-",
    "'": "\\(aq",
    '"': "\\(dq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
}


def _escaped(text: str) -> str:
    """Give a text in which nothing is a command or an escape to groff, and nothing is beyond ASCII."""
    return "".join(_ESCAPES.get(c) or (c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)


def _line(escaped: str) -> str:
    """Give a line that is no command to groff, whatever it begins with."""
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    main()
