"""A stranger's version merged into the memory file, as a change for the write path: what it takes away is logged, told.

`recover.py` makes it of what came out of the memory file's place, `moving_merge.py` of what came out of an old place.
"""

from __future__ import annotations

from typing import Any

from memttl.core.wording import plural
from memttl.files.commit import Change
from memttl.files.snapshot import Snapshot
from memttl.files.writing import Session, Written


def change_of(snapshot: Snapshot, merged: bytes, run: str, begin: dict[str, Any], key: str) -> Change:
    """Give the change that makes `merged` of what was read; `key` names the stranger's version."""
    from memttl.core.differences import differences
    from memttl.core.restore_records import merged_away_events

    reason = f"another program had removed it in {begin['from']}"
    gone = merged_away_events(snapshot.data, differences(snapshot.data, merged), run, reason=reason)
    digests = {"file_digest": snapshot.digest, "new_digest": snapshot._replace(data=merged).digest}
    keys = (key, *(event["raw_digest"] for event in gone))
    return Change(run, merged, {**begin, **digests}, lambda: gone, keys)


def tell_what_went(session: Session, written: Written) -> None:
    """Say how much another program's version took away, and how it comes back."""
    gone = written.change.removals()
    if gone:
        count = sum(event["event"] == "removed" for event in gone)
        things = plural(count, "observation") if count else plural(len(gone), "line")
        session.warn(
            f"{things} that another program had removed went with its update; "
            f"`memttl undo {written.change.run}` puts that back"
        )


def tell_what_stayed(session: Session, origin: object) -> None:
    """Say that a version lacked much, and that nothing went because of that."""
    session.warn(
        f"a version that came out of {origin} lacks much of the memory, as one does that a server began anew: what it "
        "holds was added, and nothing was taken away"
    )
