"""Digests by which the ledger knows a text and a line without keeping either. All are heads of SHA-256.

Called by everything that looks something up in the ledger. Names and texts may hold lone surrogates, which UTF-8 has no
bytes for; they are taken as they are.
"""

from __future__ import annotations

import hashlib

KEY_BYTES = 8  # within one entity: a collision needs two texts of the same entity
LINE_BYTES = 16


def as_bytes(text: str) -> bytes:
    """Give the bytes of a name or text, those of a lone surrogate included."""
    return text.encode("utf-8", "surrogatepass")


def text_of_bytes(data: bytes) -> str:
    """Give the name or text back that `as_bytes` took."""
    return data.decode("utf-8", "surrogatepass")


def text_digest(text: str) -> str:
    """Give the SHA-256 of an observation's text, in hex: what the audit log holds of it."""
    return hashlib.sha256(as_bytes(text)).hexdigest()


def raw_digest(text: str) -> str:
    """Give the SHA-256, in hex, of raw JSON or of a line as it stood: bytes that are no UTF-8 are escaped in `text`."""
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no bytes of a file: somebody has edited the log
        data = as_bytes(text)
    return hashlib.sha256(data).hexdigest()


def text_key(text: str) -> bytes:
    """Give the key of an observation's text within its entity: the first 8 bytes of its digest."""
    return hashlib.sha256(as_bytes(text)).digest()[:KEY_BYTES]


def line_digest(raw: bytes) -> bytes:
    """Give the digest by which an unchanged line is known again unparsed: 16 bytes."""
    return hashlib.sha256(raw).digest()[:LINE_BYTES]
