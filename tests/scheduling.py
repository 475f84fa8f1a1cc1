"""Schedules of a made-up installation: jobs, places in a temporary folder, and programs that note their calls."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from memttl.core.schedule import Every, Job, Wish
from memttl.setup.here import Here

# names as people give them to folders, each with what one of the schedulers reads in a way of its own
AWKWARD = (
    "a b",
    "100% sure",
    "$HOME",
    "${x}",
    "it's",
    'say "hi"',
    "back\\slash",
    "ünï",
    "a;b",
    "#c",
    "-d",
    "<&>",
    "%h",
    "$$",
)


def job(file: str = "/srv/m/memory.jsonl", **how: Any) -> Job:
    """A job on one file, as `make_job` gives it."""
    wish = how.pop("wish", Wish("systemd", how.pop("command", "prune"), how.pop("every", None)))
    words = ("/opt/memttl/bin/python", "-P", "-m", "memttl", wish.command, "--quiet", "--file", file)
    values = {
        "name": "memttl-prune-memory-1a2b3c4d",
        "file": file,
        "wish": wish,
        "words": words,
        "environment": (),
        "folders": (os.path.dirname(file),),
        "user": None,
        "group": None,
        "spread": 1234567,
        "sandbox": True,
        "hides_users": True,
        "hides_tmp": True,
    }
    return Job(**{**values, **how})


def values(text: str, key: str) -> list[str]:
    """What a unit says of one key, line by line."""
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def as_systemd_reads(line: str, *, is_command: bool = True) -> list[str]:
    """The words of a line: specifiers, quotes with C escapes, then the variables of a command."""
    words = [word.replace("%%", "%") for word in shlex.split(line)]  # shlex undoes all that we escape
    return [word.replace("$$", "$") for word in words] if is_command else words


def minutes(n: int) -> Every:
    """Every n minutes."""
    return Every(n)


def here(folder: Path, **how: Any) -> Here:
    """An installation on Linux without a systemd that answers; all places lie in `folder`, programs in `folder/bin`."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    values = {
        "platform": "linux",
        "program": (sys.executable, "-P", "-m", "memttl"),
        "lies_in": (),
        "passing": None,
        "environment": (),
        "environ": {"PATH": f"{bin_}:{os.environ['PATH']}"},
        "user": os.getuid(),
        "group": os.getgid(),
        "is_booted": False,
        "user_units": folder / "user",
        "system_units": folder / "system",
        "cron_folder": folder / "cron.d",
        "agents": folder / "agents",
        "daemons": folder / "daemons",
        "logs": folder / "logs",
    }
    return Here(**{**values, **how})


def program(folder: Path, name: str, script: str = "") -> None:
    """A program in `folder/bin` that notes each call in `folder/calls`, and then does what `script` says (sh)."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    calls = shlex.quote(str(folder / "calls"))
    path.write_text(f'#!/bin/sh\necho "{name} $*" >>{calls}\n{script}\n', encoding="utf-8")
    path.chmod(0o755)


def calls(folder: Path) -> list[str]:
    """How the programs were called."""
    path = folder / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


CRONTAB = """
store=$(dirname "$0")/../crontab
if [ "$1" = -l ]; then
  [ -f "$store" ] || { echo "no crontab for anna" >&2; exit 1; }
  exec cat "$store"
fi
cat >"$store.new" && mv "$store.new" "$store"
"""
