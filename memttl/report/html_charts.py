"""What expires when and how old things are, into charts of inline SVG. Pure; called by `report_html.py`.

A chart is a table with one bar a row, so that it reads without colour, without sight and on a narrow screen; the bars
are drawn in percent, so that they fit any width while the letters keep their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memttl.core.ages import Ages
from memttl.core.report import Month
from memttl.report.html_tables import Column, Value, number_class, table
from memttl.report.html_text import Html, join, number, tag

COLOURS = 8  # in report.css: --tier-0 and so on
HATCHES = 5
LEAST = 1.2  # percent: one observation among thousands is still to be seen


class Palette(NamedTuple):
    """The place of each tier, from which come its colour and its pattern; the same on the whole page."""

    places: Mapping[str, int]

    def fill(self, tier: str) -> str:
        """Give the name of the pattern that fills a tier's bars."""
        return f"url(#tier-{self.places[tier]})"


def palette_of(tiers: Sequence[str]) -> Palette:
    """Give each tier its place, in the order in which they come."""
    return Palette({tier: place for place, tier in enumerate(dict.fromkeys(tiers))})


def patterns(palette: Palette) -> Html:
    """Give the patterns that all charts of the page use; colour and hatch differ from one tier to the next."""
    defs = join(_pattern(place) for place in palette.places.values())
    return tag("svg", tag("defs", defs), class_="patterns", width=0, height=0, aria_hidden="true", focusable="false")


# bare bars first; what is drawn over the colour, in a square of eight
_HATCHES = ("", "M-2 2l4-4M0 8l8-8M6 10l4-4", "M2 2h2v2h-2zM6 6h2v2h-2z", "M0 2h8M0 6h8", "M2 0v8M6 0v8")


def _pattern(place: int) -> Html:
    hatch = _HATCHES[(place + place // COLOURS) % HATCHES]
    over = tag("path", d=hatch, class_="hatch") if hatch else Html()
    square = tag("rect", width=8, height=8, class_=f"tier-{place % COLOURS}")
    return tag("pattern", square, over, id=f"tier-{place}", width=8, height=8, patternUnits="userSpaceOnUse")


def timeline(months: Sequence[Month], palette: Palette) -> Html:
    """Give the chart of what expires when, a month a row and a tier a colour, its legend, and its numbers."""
    if not months:
        return tag("p", "Nothing here has an expiry.", class_="empty")
    widest = max(sum(_widths(month.tiers, months).values()) for month in months) or 1
    rows = [_month_row(month, months, palette, widest) for month in months]
    chart = _chart(rows, "timeline", "Observations by the month of their expiry")
    return join((_legend(months, palette), chart, _numbers(months)))


def _widths(tiers: Mapping[str, int], months: Sequence[Month]) -> dict[str, float]:
    most = max(month.observations for month in months) or 1
    return {tier: max(LEAST, 100 * count / most) for tier, count in tiers.items()}


def _month_row(month: Month, months: Sequence[Month], palette: Palette, widest: float) -> Html:
    at = 0.0
    bars = []
    for tier, width in _widths(month.tiers, months).items():
        count, share = month.tiers[tier], width * 100 / widest
        title = f"{tier}: {number(count)}"
        bars.append(_bar(at, share, title, fill=palette.fill(tier), data_tier=tier, data_v=count))
        at += share
    words = ", ".join(f"{tier} {number(count)}" for tier, count in month.tiers.items())
    return _row(month.month, bars, words or "none", month.observations)


def _bar(at: float, width: float, title: str, **attributes: str | int) -> Html:
    """One bar; its title shows under the pointer."""
    sizes = {"x": f"{at:.2f}%", "width": f"{width:.2f}%", "height": "100%"}
    return tag("rect", tag("title", title), **sizes, **attributes)


def _row(label: str, bars: Sequence[Html], words: str, count: int) -> Html:
    svg = tag("svg", *bars, class_="bar", role="img", aria_label=words, focusable="false")
    return tag(
        "tr",
        tag("th", label, scope="row", data_key="label"),
        tag("td", svg, class_="bars"),
        tag("td", number(count), class_=number_class(count), data_key="observations", data_v=count),
        class_=f"is-{label}" if label in ("expired", "later", "unknown") else None,
    )


def _chart(rows: Sequence[Html], id_: str, caption: str) -> Html:
    columns = tag("colgroup", *(tag("col", class_=name) for name in ("label", "bars", "amount")))
    words = ("When" if id_ == "timeline" else "Age", "Bar", "Observations")
    heads = (tag("th", tag("span", word, class_="quiet"), scope="col") for word in words)
    head = tag("thead", tag("tr", *heads))
    said = tag("caption", caption, class_="quiet")
    return tag("table", said, columns, head, tag("tbody", *rows), class_=f"chart {id_}", data_chart=id_)


def _tiers(months: Sequence[Month]) -> list[str]:
    return list(dict.fromkeys(tier for month in months for tier in month.tiers))


def _legend(months: Sequence[Month], palette: Palette) -> Html:
    used = sorted(_tiers(months), key=lambda tier: palette.places[tier])
    items = (tag("li", _swatch(palette.fill(tier)), tag("bdi", tier)) for tier in used)
    return tag("ul", *items, class_="legend", aria_label="Tiers")


def _swatch(fill: str) -> Html:
    square = tag("rect", width="100%", height="100%", fill=fill)
    return tag("svg", square, class_="swatch", aria_hidden="true", focusable="false")


def _numbers(months: Sequence[Month]) -> Html:
    tiers = _tiers(months)
    each = (Column(tier, tier, is_number=True) for tier in tiers)
    columns = (Column("month", "Month"), Column("all", "All", is_number=True), *each)
    rows: list[list[Value]] = [[m.month, m.observations, *(m.tiers.get(t, 0) for t in tiers)] for m in months]
    numbers = table(columns, rows, label="What expires when, in numbers", id_="months")
    return tag("details", tag("summary", "The numbers, tier by tier"), numbers)


def histogram(ages: Ages) -> Html:
    """Give the chart of how old observations are, one bar a range of ages."""
    most = max(age.observations for age in ages)
    if not most:
        return tag("p", "There is no observation whose age could be told.", class_="empty")
    rows = []
    for age in ages:
        width = max(LEAST, 100 * age.observations / most) if age.observations else 0.0
        bar = _bar(0, width, f"{age.age}: {number(age.observations)}", class_="age", data_v=age.observations)
        rows.append(_row(age.age, [bar] if width else [], number(age.observations), age.observations))
    return _chart(rows, "ages", "Observations by age")
