"""The folders of fixtures/clients: homes with configs as clients write them, and what must be found there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from process import FIXTURES

from memttl.setup.found import Found, Machine

FOLDER = FIXTURES / "clients"
CASES = sorted(path.name for path in FOLDER.iterdir())


def digest(found: re.Match[str]) -> str:
    return hashlib.sha512(found[1].encode()).hexdigest()[:16]


def make(home: Path, what: str, name: str, more: str = "") -> None:
    """Make what git cannot hold."""
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "link":
        path.symlink_to(more)
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "mode":
        path.chmod(int(more, 8))
    elif what == "folder":
        path.mkdir()
    elif what == "size":
        with path.open("wb") as file:
            file.truncate(int(more))
    elif what == "deep":
        path.write_text("[" * int(more), encoding="utf-8")


class Case:
    """One folder, copied to where {HOME} is known."""

    def __init__(self, name: str, home: Path) -> None:
        self.home = home
        shutil.copytree(FOLDER / name / "home", home)
        for path in home.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                for encoding in ("utf-8", "utf-16-le"):
                    data = data.replace("{HOME}".encode(encoding), str(home).encode(encoding))
                path.write_bytes(data)
        text = (FOLDER / name / "expected.json").read_text(encoding="utf-8").replace("{HOME}", str(home))
        self.expected: dict[str, Any] = json.loads(re.sub(r"\{SHA:([^}]*)\}", digest, text))
        for steps in self.expected.get("make", ()):
            make(home, *steps)

    @property
    def machine(self) -> Machine:
        """The machine that the folder stands for."""
        system = self.expected["system"]
        data = self.home / "AppData"
        places = (data / "Roaming", data / "Local") if system == "windows" else (None, None)
        folder = self.home / self.expected.get("folder", "")
        return Machine(system, self.home, folder, self.expected.get("environ", {}), *places)

    def told(self, found: Found, like: dict[str, Any]) -> dict[str, Any]:
        """What was found of a file, in the words of `expected.json`."""
        pointers = found.pointers
        told = {
            "path": None if found.path is None else str(found.path),
            "clients": [[p.client, str(p.config.relative_to(self.home)), list(p.keys)] for p in pointers],
            "exists": found.exists,
            "entities": found.entities,
            "observations": found.observations,
            "troubles": [trouble.name for trouble in found.troubles],
            "text": found.text,
            "release": found.release,
            "idle": [pointer.idle for pointer in pointers],
            "version": [pointer.version for pointer in pointers],
            "server": [pointer.server for pointer in pointers],
            "project": [str(pointer.project) for pointer in pointers],
        }
        return {key: told[key] for key in like}
