"""The moment after a swap in which others may open the new version: has somebody saved what rests on the old one?

`commit.py` lets go of both versions with it; `after_write.py` brings together what was saved so.
"""

from __future__ import annotations

import enum
import os
import time

from memttl.files.swap import Attempt, file_of
from memttl.files.syscalls import is_awaited_by_a_writer, lease_break_s

_AT_ONCE_S = 0.002


class Late(enum.Enum):
    """What is known of a swap once others may open the new version: whether what they have saved can rest on it."""

    NO = "nobody has saved anything, or nobody can tell on what it rests"
    SAVED = "somebody has saved what was made without seeing the new version"
    COMING = "somebody who has not seen the new version is about to write it"


def let_go(attempt: Attempt) -> Late:
    """Close both versions, with which their leases go; say whether somebody has overtaken us.

    While we held it nobody could open the new version. So what lies in its place as soon as it is free, or is about to
    be written there, rests on the old one. The memory server needs longer than this look to read, change and save.
    """
    ours = os.fstat(attempt.new)
    is_held = time.monotonic() - attempt.held_since < lease_break_s() / 2  # later the kernel lets others in
    was_there = _is_live(attempt, ours)
    is_awaited = is_held and is_awaited_by_a_writer(attempt.new)
    freed = time.monotonic()
    attempt.close()
    is_there = _is_live(attempt, ours)
    is_prompt = time.monotonic() - freed < _AT_ONCE_S
    if is_held and (not was_there or (not is_there and is_prompt)):
        return Late.SAVED
    return Late.COMING if is_awaited else Late.NO


def _is_live(attempt: Attempt, ours: os.stat_result) -> bool:
    try:
        return file_of(attempt.memory.stat(attempt.name)) == file_of(ours)
    except FileNotFoundError:
        return False
