"""Memory files as hypothesis draws them: awkward texts, dates, marks and prefixes, in every style of writing JSON.

hypothesis's own text rarely meets a lone surrogate, so a list of awkward strings is mixed in (DESIGN.md, section 5).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

AWKWARD = [
    "", " ", "\t", "\r", "\n", "\u2028", "\u2029", "\x85", "\x00", "\x1f", "\u00a0", "\ufeff", "\u200b",
    "\ud800", "\udfff\ud800", "😀", "👩\u200d👩\u200d👧", "e\u0301", "ß", "İ", "ǅ", "ﬁ", "Σας", "ͅ", "\u202e", "：",
    '"', "\\", "\\u0065", '","', '"]}', "],[", "{}", "[]", "[[", "))", "observations", '"observations":[', "null",
    "[session]", "session", "Session:", "[session](x)", "session::", "- [x]", "1. ", "•", "[permanent] x", "x - pin",
    "[pin]", "(keep)", "; pinned", "[expires 2026-02-30]", "[ttl: 30m]", "[ttl 0]", "[tier: nosuch]",
    "[expires: never]", "2026-02-30: x", "1970-01-01 x", "0001-01-01T00:00:00Z", "0000-00-00", "2026-01-05",
    "(2026-01-05)", "24:00", "2026-01-05T24:00: x", "2026-01-05 to 2026-02-01", "[2026-01-05](x.md)",
    "docs/2026-01-05.md", "v2026.1.5", "Stand: 2026-01-05", "05/01/2026: x", "January 2026", "[expires 31/12/2025]",
]  # fmt: skip
# no birth today, but one day: only where time stands still
LATER = [
    "2026-12-24: plan",
    "x (2027-01-01)",
    "9999-12-31T23:59:59Z x",
    "[session 2026-06-02] x",
    "x [created 2026-07-01]",
]
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HEADS = [
    "",
    "",
    "[session] ",
    "Session: ",
    "- [x] session: ",
    "operational - ",
    "[permanent] ",
    "(log) ",
    "{}: ",
    "[{}] ",
]
HEADS += ["[session {}] ", "Session {}: ", "log: {} ", "{} - [operational] ", "{} to {}: ", "Session: {} "]
TAILS = [
    "",
    "",
    "",
    " [pin]",
    " ({})",
    " [expires {}]",
    " (review by {})",
    " [ttl {}]",
    " [tier: session]",
    " - expires {}",
]
TAILS += [
    "; keep",
    " [created {}; ttl: {}]",
    " [tier: permanent].",
    " [ttl never]",
    " [expires {}, tier: log]",
    " [expires TBD]",
]
TIERS = ["session", "operational", "permanent", "log", "nosuch"]
TTLS = ["1d", "7d", "30d", "12h", "2w", "3mo", "1y", "0", "30m"]
POLICIES = [
    "",
    'timezone = "Europe/Berlin"',
    'timezone = "America/St_Johns"\ndefault_tier = "operational"',
    '[review]\nwhen_due = "list"',
    '[dates]\nformats = ["%d/%m/%Y", "%B %Y"]\nlabels = ["Stand"]',
    '[tiers]\nlog = "14d"\n[[rules]]\nprefix = ["log", "session"]\ntier = "log"',
    '[[rules]]\nentity_type = ["n*"]\ntier = "session"',
    "[age]\nentity_created_at = true\ngrace = 0",
    'default_tier = "session"\n[prune]\nremove_empty_entities = true',
]
KEEP_LAST = '[tiers]\nlog = { ttl = "14d", keep_last = 2 }\n[[rules]]\nprefix = ["log", "session"]\ntier = "log"'
INHERIT = "[age]\ninherit = true"

texts = st.one_of(
    st.sampled_from(AWKWARD), st.text(max_size=12), st.text(alphabet="session 2026-01:[](){};,.pinexrtl", max_size=40)
)
past_days = st.dates(date(2025, 1, 1), date(2026, 5, 31)).map(str)
past_moments = st.datetimes(datetime(2025, 1, 1), datetime(2026, 5, 31)).map(
    lambda d: d.isoformat(timespec="seconds") + "Z"
)
pasts = st.one_of(past_days, past_days, past_moments)
some_days_later = st.integers(min_value=0, max_value=24 * 800).map(lambda hours: timedelta(hours=hours))


@st.composite
def sayings(draw: st.DrawFn) -> str:
    """A text with a head, a body and a tail or two, each of which may say something of its lifecycle."""
    parts = [draw(st.sampled_from(HEADS)), draw(texts).replace("{", "").replace("}", "")]
    parts += draw(st.lists(st.sampled_from(TAILS), max_size=2))
    return "".join(_filled(draw, part) for part in parts)


def _filled(draw: st.DrawFn, part: str) -> str:
    pieces = part.split("{}")
    filled = pieces[0]
    for piece in pieces[1:]:
        filled += draw(st.sampled_from(TTLS) if filled.rstrip(" :").endswith("ttl") else pasts) + piece
    return filled


def observations(*, later: bool) -> st.SearchStrategy[Any]:
    """An element of a list of observations: texts, objects that hold one, and anything else that JSON knows."""
    said = st.one_of(sayings(), texts, *([st.sampled_from(LATER)] if later else []))
    moments: list[st.SearchStrategy[Any]] = [
        pasts,
        st.integers(0, 1780000000),
        st.integers(0, 1780000000000),
        st.none(),
    ]
    fields = {
        "created_at": st.one_of(*moments),
        "timestamp": st.one_of(*moments, st.just(10**400), st.booleans()),
        "ttl": st.one_of(
            st.integers(-1, 90), st.sampled_from(TTLS), st.none(), st.floats(allow_nan=False, allow_infinity=False)
        ),
        "decay": st.one_of(st.sampled_from(TIERS), st.floats(allow_nan=False, allow_infinity=False)),
    }
    objects = st.fixed_dictionaries({"text": said}, optional=fields)
    others: st.SearchStrategy[Any] = st.sampled_from(
        [None, 0, -1.5, True, [], {}, ["[session] 2026-01-01: x"], {"note": "x"}]
    )
    return st.one_of(said, said, said, objects, others)


@st.composite
def entity_lines(draw: st.DrawFn, *, later: bool = True) -> bytes:
    """The line of an entity: its keys in any order, extra keys, one of a few names."""
    record: dict[str, Any] = {
        "type": "entity",
        "name": draw(st.sampled_from(["A", "a", "B", "", "ß", "\ud800", "observations"])),
        "entityType": draw(st.sampled_from(["note", "Task", "", None, 3])),
        "observations": draw(st.lists(observations(later=later), max_size=6)),
    }
    extra = {"ttl": st.sampled_from([30, 0, "2w"]), "decay": st.sampled_from(TIERS), "createdAt": pasts}
    extra |= {"tags": st.just(["x", {"observations": ["y"]}]), "version": st.sampled_from([1, 1.0, 10**25])}
    record |= {key: draw(extra[key]) for key in draw(st.lists(st.sampled_from(sorted(extra)), max_size=2, unique=True))}
    return styled(draw, {key: record[key] for key in draw(st.permutations(sorted(record)))})


def styled(draw: st.DrawFn, value: object) -> bytes:
    """JSON as the server, Python or Go writes it, with or without spaces and escapes."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    text = json.dumps(value, separators=separators, ensure_ascii=draw(st.booleans()))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=separators).encode()


OTHERS = [
    b"",
    b" ",
    "\u2028".encode(),
    b'{"type":"_aim"}',
    b'{"type":"relation","from":"A","to":"B","relationType":"x"}',
]
OTHERS += [
    b'{"type":"relation","from":"\\u0042","to":"B","observations":["[session] 2026-01-01: x"]}',
    b'{"type":"note"}',
    b"[]",
]


@st.composite
def memory_files(draw: st.DrawFn, *, later: bool = True) -> bytes:
    """A whole memory file: at least as many entities as lines of others, any line end, perhaps a BOM."""
    lines = draw(st.lists(entity_lines(later=later), min_size=1, max_size=5))
    lines = draw(st.permutations([*lines, *draw(st.lists(st.sampled_from(OTHERS), max_size=len(lines)))]))
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + end.join(lines) + draw(st.sampled_from([b"", end]))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
MUTATIONS = [
    "",
    "",
    ",",
    ":",
    "[",
    "]",
    "{",
    "}",
    '"',
    "\\",
    " ",
    "\n",
    "\v",
    "0",
    "-",
    ".",
    "e",
    "NaN",
    "Infinity",
    "tru",
    "\x00",
    "é",
]


@st.composite
def json_lookalikes(draw: st.DrawFn) -> str:
    """JSON text with up to three characters replaced or put in."""
    text = styled(draw, draw(json_values)).decode()
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(MUTATIONS)) + text[at + draw(st.integers(0, 1)) :]
    return text


def subsets(items: Iterable[int]) -> st.SearchStrategy[set[int]]:
    """Any subset of some indexes."""
    found = sorted(items)
    return st.sets(st.sampled_from(found)) if found else st.just(set())
