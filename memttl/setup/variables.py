"""Puts values in for the variables of a text of a config, as the client that reads it does.

`entries.py` calls it on every word of an entry. What has no value here stays as it is, and `left_in` finds it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memttl.setup.clients import Style
from memttl.setup.found import Machine

_BRACES = re.compile(r"\$\{([^{}$]*)\}")
_DOLLAR = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_PERCENT = re.compile(r"%([A-Za-z_][A-Za-z0-9_()]*)%")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASKED = ("input:", "command:", "config:")  # the client asks, or computes it


def filled(text: str, styles: tuple[Style, ...], machine: Machine, folder: Path | None) -> str:
    """Put values in for the variables that a client with these styles knows; `folder` is the project's."""

    def of_braces(found: re.Match[str]) -> str:
        value = _value(found[1], styles, machine, folder)
        return found[0] if value is None else value

    def of_name(found: re.Match[str]) -> str:
        return variable(machine, found[1]) or found[0]

    text = _BRACES.sub(of_braces, text)
    if "dollar" in styles:
        text = _DOLLAR.sub(of_name, text)
    return _PERCENT.sub(of_name, text) if "percent" in styles and machine.system == "windows" else text


def variable(machine: Machine, name: str) -> str | None:
    """Give a variable of the environment; Windows tells no case."""
    if machine.system != "windows":
        return machine.environ.get(name)
    return _of_any_case(machine.environ, name)


def _of_any_case(environ: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in environ.items() if key.upper() == name.upper()), None)


def _value(inside: str, styles: tuple[Style, ...], machine: Machine, folder: Path | None) -> str | None:
    """Give what stands for `${inside}`, None where that is not known here."""
    if "env" in styles and inside.startswith("env:"):
        return variable(machine, inside.removeprefix("env:"))
    if "folders" in styles:
        found = _folder(inside, machine, folder)
        if found is not None:
            return found
    if "braces" in styles:
        name, has_default, default = inside.partition(":-")
        if _NAME.fullmatch(name):
            value = variable(machine, name)
            return default if has_default and not value else value
    return None


def _folder(inside: str, machine: Machine, folder: Path | None) -> str | None:
    if inside == "userHome":
        return str(machine.home)
    if inside in ("/", "pathSeparator"):
        return "\\" if machine.system == "windows" else "/"
    if folder is None:
        return None
    return {"workspaceFolder": str(folder), "workspaceRoot": str(folder), "workspaceFolderBasename": folder.name}.get(
        inside
    )


def left_in(text: str) -> str:
    """Give the first variable that is still in a text, "" where there is none."""
    found = _BRACES.search(text) or _PERCENT.search(text) or _DOLLAR.match(text)
    return found[0] if found else ""


def is_asked(name: str) -> bool:
    """Say whether the client asks for a variable, or computes it: `${input:memory_file}`."""
    return name.removeprefix("${").startswith(_ASKED)
