"""Bytes in UTF-16 or packed with gzip into UTF-8, and back; and whatever any bytes hold in either. Pure.

`forgetting_copies.py` cuts in such copies, and `mentions.py` searches in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memttl.core.foreign import foreign_encoding

_GZIP = b"\x1f\x8b\x08"
_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_WIDE = re.compile(rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}")  # any JSON in UTF-16 has such a stretch: `{"ty`


class Decoded(NamedTuple):
    """The same content in UTF-8, and what gives such bytes their old encoding again."""

    data: bytes
    encode: Callable[[bytes], bytes]


def decoded(data: bytes) -> Decoded | None:
    """Give what bytes in UTF-16 or gzip hold; None for any others."""
    if data.startswith(_GZIP):
        return Decoded(_unpacked(data)[0], _packed)
    if foreign_encoding(data) is None and not (0 in data[:2] and _WIDE.search(data)):
        return None
    bom = data[:2] if data[:2] in _BOMS else b""
    name = _BOMS.get(bom, "utf-16-be" if data[:1] == b"\0" else "utf-16-le")
    even = data[len(bom) : len(data) - len(data) % 2]

    def encode(utf8: bytes) -> bytes:
        return bom + utf8.decode("utf-8", "surrogatepass").encode(name, "surrogatepass")

    return Decoded(even.decode(name, "surrogatepass").encode("utf-8", "surrogatepass"), encode)


def wide_texts(data: bytes) -> list[str]:
    """Give bytes that may hold UTF-16 anywhere, at an odd place, too, as the texts that they would be."""
    if not _WIDE.search(data):
        return []
    return [data[at:].decode(name, "replace") for name in _BOMS.values() for at in (0, 1)]


def packed_parts(data: bytes) -> Iterator[bytes]:
    """Give each piece packed with gzip that any bytes hold, unpacked as far as it can be."""
    at = data.find(_GZIP)
    while at >= 0:
        part, length = _unpacked(data[at:])
        if part:
            yield part
        at = data.find(_GZIP, at + max(length, 1))


def _unpacked(data: bytes) -> tuple[bytes, int]:
    """Unpack one piece after the other; give also how many bytes they took."""
    import zlib  # here: few files are packed

    out, rest = list[bytes](), data
    while rest.startswith(_GZIP):
        unpacker = zlib.decompressobj(31)
        try:
            for at in range(0, len(rest), 1 << 16):  # in pieces, so that what stands before damage is not lost
                out.append(unpacker.decompress(rest[at : at + (1 << 16)]))
                if unpacker.eof:
                    break
        except zlib.error:
            break
        if not unpacker.eof:
            rest = b""
            break
        rest = rest[at + (1 << 16) :] if not unpacker.unused_data else unpacker.unused_data + rest[at + (1 << 16) :]
    return b"".join(out), len(data) - len(rest)


def _packed(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, mtime=0)
