"""The bytes of a copy of a memory file, in whatever encoding, or of a quarantine file, without what is forgotten. Pure.

`files/erasing.py` writes what is left; `files/forget_survey.py` counts it, and gathers from the same parts.
"""

from __future__ import annotations

import json

from memttl.core.encodings import decoded
from memttl.core.forgetting import Targets, Without, without
from memttl.core.quarantine import quarantine_parts

_QUARANTINE = b'{"quarantine":'


def parts_of(data: bytes) -> list[bytes]:
    """Give the bytes in which entities may stand, in UTF-8: the file's, or each piece's of a quarantine file."""
    if not data.startswith(_QUARANTINE):
        return [_plain(data)]
    _, pieces, tail = quarantine_parts(data)
    return [*(_plain(raw) for _, _, raw in pieces), tail]


def copy_without(data: bytes, targets: Targets) -> Without:
    """Cut what is meant out of a copy, which keeps its encoding; a piece that is all gone takes its head along."""
    if not data.startswith(_QUARANTINE):
        return _encoded_without(data, targets)
    first, pieces, tail = quarantine_parts(data)
    out, total = [first], Without(b"")
    for head, line, raw in pieces:
        left = _encoded_without(raw, targets)
        if left.gone:
            line = json.dumps({**head, "bytes": len(left.data)}, separators=(",", ":")).encode() + b"\n"
        out += [line, left.data, b"\n"] if left.data or not left.gone else []
        total = total.plus(left)
    rest = without(tail, targets, drop_broken=True)
    total = total.plus(rest)
    return total._replace(data=b"".join((*out, rest.data)) if total.gone else data)


def _plain(data: bytes) -> bytes:
    found = decoded(data)
    return _plain(found.data) if found is not None else data


def _encoded_without(data: bytes, targets: Targets) -> Without:
    found = decoded(data)
    if found is None:
        return without(data, targets, drop_broken=True)
    left = _encoded_without(found.data, targets)
    return left._replace(data=found.encode(left.data) if left.data else b"") if left.gone else left._replace(data=data)
