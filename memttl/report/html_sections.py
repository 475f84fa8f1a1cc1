"""The report on one memory file into the sections of the HTML page, in the order in which people ask. Pure.

`report_html.py` calls it for each file; the charts and the listed observations have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC

from memttl.core.listing import LISTED_AS
from memttl.core.report import Query, Report, ReportOutcome, Share
from memttl.core.wording import day_words, instant_text, plural, when_text
from memttl.report.html_charts import Palette, histogram, timeline
from memttl.report.html_observations import observations
from memttl.report.html_tables import Column, listing, scrolling, table
from memttl.report.html_text import Child, Html, join, number, tag
from memttl.report.text import NO_TYPE

_ENTITY = Column("entity", "Entity", without="no name")
_TYPE = Column("entity_type", "Type", without=NO_TYPE)
_TIER = Column("tier", "Tier", without="no tier")
_OBSERVATIONS = Column("observations", "Observations", is_number=True)
_EXPIRED = Column("expired", "Expired", is_number=True)
_WEIGHTS = (Column("characters", "Characters", is_number=True), Column("tokens", "Tokens", is_number=True))
_SHARE = (
    _OBSERVATIONS,
    _EXPIRED,
    Column("due", "Due", is_number=True),
    Column("review_due", "For review", is_number=True),
    Column("unknown_age", "Age unknown", is_number=True),
    *_WEIGHTS,
)
_WHY = {"expired": "expired", "due": "due", "review": "for review", "undated": "undated"}
_MANY = 6  # sentences that still stand in full; more of them scroll


def section(outcome: ReportOutcome, id_: str, palette: Palette) -> Html:
    """Give all that there is to tell of one memory file."""
    found = outcome.report
    charts = (
        _titled("What expires when", timeline(found.months, palette)),
        _titled("How old they are", _may_be_older(found), histogram(found.ages)),
    )
    return tag(
        "section",
        tag("h2", tag("bdi", file_name(outcome.file)), id=f"{id_}-name"),
        _about(outcome),
        _notice("refusals", "A prune now would be refused", found.refusals),
        _notice("warnings", "Warnings", outcome.warnings),
        _totals(found),
        tag("div", *(tag("div", chart, class_="figure") for chart in charts), class_="figures"),
        _shares("By tier", _TIER, found.tiers, "tiers"),
        _shares("By entity type", _TYPE, found.types, "types"),
        _listed(outcome, id_),
        _heaviest(found),
        _one_dated(found),
        _damaged(found),
        class_="report",
        id=id_,
        aria_labelledby=f"{id_}-name",
    )


def _may_be_older(found: Report) -> Html:
    """Say of how many the age is only that of a first sighting, by memttl or in an old version of the file."""
    if not found.seen_age:
        return Html()
    saw = "when it first saw them"
    if found.backfilled_age:
        version = "an old version of the file that holds them"
        saw = version if found.backfilled_age == found.seen_age else f"{saw}, or {version}"
    return tag("p", f"{number(found.seen_age)} of all may be older: memttl knows only {saw}.", class_="older")


def file_name(path: str) -> str:
    """Give the last part of a path as it was named."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def _titled(title: Child, *parts: Child) -> Html:
    return join((tag("h3", title), *parts))


def _about(outcome: ReportOutcome) -> Html:
    now, until = outcome.now, outcome.report.window.until
    rows: list[tuple[str, Sequence[Child]]] = [
        ("File", (tag("bdi", outcome.file, data_key="file"),)),
        ("As of", (tag("time", f"{now:%Y-%m-%d %H:%M %Z}", datetime=instant_text(now), data_key="now"),)),
    ]
    if until:
        day = day_words(until, now.tzinfo or UTC)
        due = tag("time", day, datetime=instant_text(until), data_key="until")
        rows.append(("Due means", ("it expires by ", due)))
    else:
        rows.append(("Due means", ("it expires at all",)))
    if narrowed := _narrowed(outcome.query):
        rows.append(("Listed", (tag("bdi", narrowed), "; the totals are of the whole file")))
    return tag("dl", *(tag("div", tag("dt", term), tag("dd", *said)) for term, said in rows), class_="about")


def _narrowed(query: Query) -> str:
    words = (("entity", query.entities), ("type", query.types), ("tier", query.tiers), ("age source", query.sources))
    named = [f"{what} {' or '.join(values)}" for what, values in words if values]
    named += ["what has expired"] if query.expired_only else []
    return f"only {', '.join(named)}" if named else ""


def _notice(id_: str, title: str, sentences: Sequence[str]) -> Html:
    if not sentences:
        return Html()
    shown = listing((tag("bdi", sentence) for sentence in sentences), data_list=id_)
    boxed = scrolling(shown, label=title, class_="scroll tall") if len(sentences) > _MANY else shown
    count = f" ({number(len(sentences))})" if len(sentences) > 1 else ""
    return tag("div", tag("h3", title + count), boxed, class_=f"notice {id_}")


def _totals(found: Report) -> Html:
    counts, weights = found.counts, found.weights
    large = (
        ("observations", counts.observations, "observations"),
        ("expired", counts.expired, "expired"),
        ("due", sum(tier.due for tier in found.tiers), "due"),
        ("review_due", counts.review_due, "due for review"),
        ("tokens_estimated", weights.tokens_estimated, "tokens for a read_graph, estimated"),
        ("tokens_freed_estimated", weights.tokens_freed_estimated, "tokens that a prune now would free"),
    )
    small = (
        ("entities", counts.entities, "Entities"),
        ("relations", counts.relations, "Relations"),
        ("bytes", weights.bytes, "Bytes"),
        ("characters", weights.characters, "Characters"),
        ("known_age", found.known_age, "Ages known"),
        ("seen_age", found.seen_age, "Ages that may be higher"),
        ("unknown_age", counts.unknown_age, "Ages unknown"),
        ("removed", counts.removed, "A prune now would remove"),
        ("pinned", counts.pinned, "Pinned"),
        ("malformed_lines", counts.malformed_lines, "Malformed lines"),
    )
    return join((tag("h3", "Totals", class_="quiet"), _figures(large, "totals large"), _figures(small, "totals")))


def _figures(rows: Iterable[tuple[str, int, str]], class_: str) -> Html:
    figures = (
        tag("div", tag("dt", words), tag("dd", number(value), data_key=key, data_v=value), class_=f"is-{key}")
        for key, value, words in rows
    )
    return tag("dl", *figures, class_=class_)


def _listed(outcome: ReportOutcome, id_: str) -> Html:
    found = outcome.report
    count = len(found.listed)
    total = tag("span", number(count), class_="of", data_listed="observations", data_v=count)
    title = join(("Listed observations ", total))
    return _titled(title, _why_listed(outcome), _groups(found), observations(found, outcome.now, id_=f"{id_}-listed"))


def _why_listed(outcome: ReportOutcome) -> Html:
    """Say how many are listed for which reason; in words where there are none."""
    found, query = outcome.report, outcome.query
    if not found.listed:
        whys = ["expired", *([] if query.expired_only else ["due", "due for review"]), *(["undated"] * query.undated)]
        return tag("p", f"Nothing here is {', '.join(whys[:-1])}{' or ' * (len(whys) > 1)}{whys[-1]}.", class_="empty")
    parts: list[Child] = []
    for why in LISTED_AS:
        count = found.count(why)
        parts += [", ", tag("span", f"{number(count)} {_WHY[why]}", data_listed=why, data_v=count)]
    return tag("p", *parts[1:])


def _groups(found: Report) -> Html:
    if not found.groups:
        return Html()
    columns = (Column("group", "Group", without="none"), _OBSERVATIONS, *_WEIGHTS)
    rows = [(g.name, len(g.listed), g.characters, g.tokens) for g in found.groups]
    return tag(
        "details", tag("summary", "Characters and tokens by group"), table(columns, rows, label="Groups", id_="groups")
    )


def _shares(title: str, first: Column, shares: Sequence[Share], id_: str) -> Html:
    if not shares:
        return _titled(title, tag("p", "The file holds no observation.", class_="empty"))
    return _titled(title, table((first, *_SHARE), shares, label=title, id_=id_))


def _heaviest(found: Report) -> Html:
    if not found.heaviest:
        return Html()
    title = "Heaviest entities"
    columns = (_ENTITY, _TYPE, _OBSERVATIONS, _EXPIRED, *_WEIGHTS)
    return _titled(title, table(columns, found.heaviest, label=title, id_="heaviest"))


def _one_dated(found: Report) -> Html:
    count = found.one_dated_count
    if not count:
        return Html()
    title = "One date, undated siblings"
    said = tag(
        "p",
        tag("span", plural(count, "entity"), data_key="one_date_entities", data_v=count),
        f" {'holds' if count == 1 else 'hold'} one date and undated observations beside it, which take it with ",
        tag("code", "inherit = true"),
        " under ",
        tag("code", "[age]"),
        " in the policy.",
    )
    columns = (_ENTITY, _TYPE, Column("date", "Its date"), Column("undated", "Undated", is_number=True))
    rows = [(one.entity, one.entity_type, when_text(one.date), one.undated) for one in found.one_dated]
    return _titled(title, said, table(columns, rows, label=title, id_="one_date"))


def _damaged(found: Report) -> Html:
    if not found.damaged:
        return Html()
    said = tag("p", "The memory server cannot read these lines.")
    columns = (
        Column("line", "Line", is_number=True),
        Column("column", "Column", is_number=True),
        Column("problem", "Problem"),
    )
    shown = table(columns, found.damaged, label="Damaged lines", id_="damaged")
    return _titled("Damaged lines", said, tag("div", shown, class_="damaged"))
