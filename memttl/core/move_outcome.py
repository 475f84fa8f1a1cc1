"""What a move came to, as a value: the workflow makes it, `report/move.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from memttl.core.installed import Installed

Kind = Literal["move", "finish", "bring in", "remove link", "nothing"]


class PolicyStep(NamedTuple):
    """What becomes of the policy beside the memory file. `differs`: another one lies at the new place, and will hold.

    `kind`: there is none; it is taken along; it is copied, since other memory files stay there; the one at the new
    place stays. `schema` is the name of a JSON Schema beside it that its first line names, and that goes along; "" for
    none.
    """

    kind: Literal["none", "taken", "copied", "stays"] = "none"
    source: str = ""
    target: str = ""
    differs: bool = False
    schema: str = ""


class ClientStep(NamedTuple):
    """A client's config that names the old place, and the piece of it that names the new one.

    `place` is the way to the one value that changes, and `value` what it is to be, as the config's format writes it;
    both are empty where more than one changes, or one is added.
    """

    client: str
    config: str
    snippet: str
    place: str = ""
    value: str = ""


class MoveOutcome(NamedTuple):
    """What one move came to, or would. `file` is the path as named, `link` None where nobody has chosen yet.

    `kind` tells what there is to do: `finish` an interrupted move, `bring in` a file that has appeared at the old place
    again, `remove link` of an earlier move. `state` is where ledger, log and backups lie before and after; `archive`
    likewise, equal where it stays. `environment` are variables that name the old place, `schedules` those of memttl's
    own that do. `merged` counts what other programs wrote meanwhile; `returned`: a file lies at the old place again.
    """

    file: str
    now: datetime
    source: str
    target: str
    kind: Kind = "move"
    link: bool | None = None
    dry_run: bool = False
    applied: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    entities: int = 0
    observations: int = 0
    state: tuple[str, str] = ("", "")
    policy: PolicyStep = PolicyStep()
    archive: tuple[str, str] | None = None
    folders: tuple[str, ...] = ()
    clients: tuple[ClientStep, ...] = ()
    environment: tuple[str, ...] = ()
    schedules: tuple[Installed, ...] = ()
    merged: int = 0
    returned: bool = False
    warnings: tuple[str, ...] = ()
