"""The rows of the ledger that must not be misread, each with a checksum of its own. `ledger.py` writes and reads them.

SQLite finds a damaged page, but not a changed byte inside a value: a pin whose digest lost a bit would pin nothing, and
its observation would go.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from memttl.core.asked import asked_document, asked_of
from memttl.core.digests import as_bytes, text_of_bytes
from memttl.core.known import Setting
from memttl.core.sightings import BadRow

_CHECK_BYTES = 4
SettingRow = tuple[bytes, str, bytes | None, str]


def sealed(data: bytes, of: bytes = b"") -> bytes:
    """Give a value with a checksum of it, and of the name `of` whose value it is, behind it."""
    return data + zlib.crc32(data, zlib.crc32(of)).to_bytes(_CHECK_BYTES, "little")


def unsealed(found: object, of: bytes = b"") -> bytes:
    """Give the value back that `sealed` took.

    Raises:
        BadRow: it is not what was written.
    """
    if not isinstance(found, bytes) or sealed(found[:-_CHECK_BYTES], of) != found:
        raise BadRow("a row is not what was written")
    return found[:-_CHECK_BYTES]


def setting_row(setting: Setting) -> SettingRow:
    """Give what the ledger holds of a setting: entity, digest, text, and what was asked as JSON with a checksum."""
    entity = as_bytes(setting.entity)
    text = None if setting.text is None else as_bytes(setting.text)
    document = asked_document(setting.asked)
    check = _check_of(entity, setting.digest, text, document)
    return entity, setting.digest, text, json.dumps({**document, "check": check})


def setting_of(entity: bytes, digest: str, text: bytes | None, asked: str) -> Setting:
    """Read what `setting_row` gave; raises one of UNREADABLE where it is not what was written."""
    document = json.loads(asked)
    if document.pop("check") != _check_of(entity, digest, text, document):
        raise ValueError("it is not what was written")
    return Setting(text_of_bytes(entity), digest, None if text is None else text_of_bytes(text), asked_of(document))


def _check_of(entity: bytes, digest: str, text: bytes | None, document: Mapping[str, object]) -> int:
    row = json.dumps([entity.hex(), digest, None if text is None else text.hex(), document])
    return zlib.crc32(row.encode())
