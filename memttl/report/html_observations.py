"""The listed observations of one report into the table that people sort and filter. Pure; called by `report_html.py`.

The table is whole and in the report's order without the page's script, which only adds buttons and hides rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memttl.core.dates import day_of
from memttl.core.listing import LISTED_AS
from memttl.core.model import Verdict
from memttl.core.report import Group, Listed, Report
from memttl.core.wording import FROM_OLD_VERSION, day_words, instant_text, when_text
from memttl.report.html_text import Child, Html, join, name, number, tag
from memttl.report.text import NO_TYPE, age_days, age_of

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)")
_LONG, _TALL = 1200, 60  # characters: a longer text or name scrolls in its own box; a longer name takes many lines
_KNOWN = {
    "set": "set to", "object": "created", "text": "written", "inherited": "its entity", "entity": "its entity",
    "seen": "first seen", "unknown": "",
}  # fmt: skip
_HEADS = (
    ("why", "Why", "number"),
    ("expires", "Expires", "date"),
    ("entity", "Entity", "text"),
    ("type", "Type", "text"),
    ("text", "Observation", "text"),
    ("tier", "Tier", "text"),
    ("age", "Age", "number"),
    ("tokens", "Tokens", "number"),
)


def observations(report: Report, now: datetime, *, id_: str) -> Html:
    """Give the controls and the table; `id_` sets it apart from the tables of other files."""
    items = report.listed
    if not items:
        return Html()
    heads = (("group", "Group", "text"), *_HEADS) if report.is_grouped else _HEADS
    head = tag("tr", *(tag("th", label, scope="col", class_=key, data_kind=kind) for key, label, kind in heads))
    rows = join(_rows(report.groups, now, is_grouped=report.is_grouped))
    caption = tag("caption", "Listed observations", class_="quiet")
    classes = "observations grouped" if report.is_grouped else "observations"
    whole = tag("table", caption, tag("thead", head), tag("tbody", rows), class_=classes, id=id_)
    return tag("div", _controls(items, id_), whole, class_="listing")


def _rows(groups: Sequence[Group], now: datetime, *, is_grouped: bool) -> Iterator[Html]:
    for group in groups:
        first = tag("td", name(group.name, without="none"), class_="group") if is_grouped else Html()
        for item in group.listed:
            yield _row(item, now, first)


def _row(item: Listed, now: datetime, first: Html) -> Html:
    verdict = item.verdict
    return tag(
        "tr",
        first,
        tag("td", tag("span", item.listed_as, class_=f"badge {item.listed_as}"), class_="why", data_v=_rank(item)),
        _expires(verdict, now),
        _named(verdict.entity, "entity", without="no name"),
        _named(verdict.entity_type, "type", without=NO_TYPE),
        _text(verdict),
        _named(verdict.tier, "tier", without="no tier"),
        _age(verdict, now),
        tag("td", number(item.tokens), class_="tokens", data_v=item.tokens),
        class_="tall" if len(verdict.entity) > _TALL else None,
        data_why=item.listed_as,
        data_tier=verdict.tier,
        data_source=verdict.age_source,
        data_line=verdict.line,
        data_index=verdict.index,
    )


def _named(value: str | None, class_: str, *, without: str) -> Html:
    shown = name(value, without=without)
    if value and len(value) > _LONG:
        shown = tag("div", shown, class_="long", tabindex=0, role="region", aria_label="Whole name")
    return tag("td", shown, class_=class_)


def _rank(item: Listed) -> int:
    return LISTED_AS.index(item.listed_as)


def _expires(verdict: Verdict, now: datetime) -> Html:
    if verdict.expires_at is None:
        return tag("td", "once its age is known" if verdict.waits_for_age else "never", class_="expires none")
    written = instant_text(verdict.expires_at)
    return tag("td", _time(written, day_words(verdict.expires_at, now.tzinfo or UTC)), class_="expires", data_v=written)


def _time(written: str | None, shown: str) -> Html:
    return tag("time", shown, datetime=written, class_="day" if _DAY.fullmatch(shown) else None)


def _text(verdict: Verdict) -> Html:
    text = str(verdict.observation)
    is_long = len(text) > _LONG or text.count("\n") > 20
    attributes = {"tabindex": "0", "role": "region", "aria_label": "Whole text"} if is_long else {}
    return tag(
        "td",
        tag("div", text, class_="words long" if is_long else "words", dir="auto", **attributes),
        tag("div", *_notes(verdict), class_="note"),
        class_="text",
    )


def _notes(verdict: Verdict) -> Iterator[Child]:
    yield f"line {verdict.line} · "
    yield tag("bdi", *_with_whole_days(verdict.reason), class_="reason")
    if verdict.pinned:
        yield from (" · ", tag("span", "pinned", class_="pinned"))


def _with_whole_days(sentence: str) -> Iterator[Child]:
    """Keep a line from breaking inside a date."""
    for place, part in enumerate(_DAY.split(sentence)):
        yield tag("span", part, class_="day") if place % 2 else part


def _age(verdict: Verdict, now: datetime) -> Html:
    born = verdict.created_at
    if born is None:
        return tag("td", tag("span", "unknown", class_="none"), class_="age")
    since = _time(when_text(born), day_of(born, now.tzinfo or UTC).isoformat())
    known = "arrived" if verdict.arrived else _KNOWN[verdict.age_source or "unknown"]
    if verdict.backfilled:
        known = FROM_OLD_VERSION + ","
    note = tag("div", f"{known} ", since, class_="note")
    return tag("td", tag("div", age_of(verdict, now)), note, class_="age", data_v=age_days(born, now))


def _controls(items: Sequence[Listed], id_: str) -> Html:
    """Give what filters the table; hidden until the page's script shows it."""
    selects = (
        ("why", "Why", [why for why in LISTED_AS if any(item.listed_as == why for item in items)]),
        ("tier", "Tier", list(dict.fromkeys(item.verdict.tier or "" for item in items))),
        ("source", "Age known from", list(dict.fromkeys(str(item.verdict.age_source) for item in items))),
    )
    search = tag("input", type="search", id=f"{id_}-find", class_="find", autocomplete="off", spellcheck="false")
    return tag(
        "form",
        tag("div", tag("label", "Find", for_=f"{id_}-find"), search, class_="field wide"),
        *(_select(key, label, options, id_) for key, label, options in selects),
        tag("button", "Reset", type="reset"),
        tag("p", class_="count", role="status", aria_live="polite"),
        class_="controls",
        role="search",
        aria_label="Listed observations",
        hidden=True,
    )


def _select(key: str, label: str, options: Sequence[str], id_: str) -> Html:
    choices = (tag("option", option, value=option) for option in options)
    every = Html('<option value="">all</option>')
    select = tag("select", every, *choices, id=f"{id_}-{key}", data_key=key)
    return tag("div", tag("label", label, for_=f"{id_}-{key}"), select, class_="field")
