"""HTML reports for tests: pages of files that hold many things and hostile texts, and what a page says, by its keys."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from process import aged
from pruning import settings_of
from support import entity, relation

from memttl.core.listing import LISTED_AS
from memttl.core.report import Query, ReportOutcome
from memttl.report.report_html import render
from memttl.report.text import visible
from memttl.workflow.report import report

VOID = {"meta", "link", "input", "col"}
HOSTILE = (
    "</script><img src=x onerror=window.broken=1>",
    '"><svg onload=window.broken=1>',
    "' autofocus onfocus=window.broken=1 x='",
    "]]><!--",
    "--><script>window.broken=1</script>",
    "</textarea></title></style><b>bold</b>",
    "&lt;i&gt; &amp; &#106;avascript:",
    "{{7*7}} ${window.broken=1} `",
    "\x1b[31mred\x00\x07\x85\u2028\u202ereversed\u202c",
    "lone \ud800 surrogate",
    "first line\n\tsecond line\r\nthird",
    "שלום <b>עולם</b> مرحبا",
    "e\u0301🙂漢字\ufffe",
)
POLICY = """
[tiers]
session = "30d"
incident = "1y"
"</script><b>" = "10d"

[[rules]]
name = "<i>named</i>"
prefix = ["odd"]
tier = "</script><b>"

[[rules]]
prefix = ["session", "incident", "operational"]
tier = "session"
"""


def reported(path: Path, *, policy: str = "", **query: Any) -> ReportOutcome:
    """The report on one memory file."""
    return report(settings_of(path, policy=policy), Query(**query))


def hostile_file(folder: Path) -> Path:
    """A memory file whose names, types and texts try to break out of the page."""
    lines = [
        entity([f"[session] 2026-01-0{1 + place % 9}: {text}", f"odd: {text}", text], name=text, kind=text)
        for place, text in enumerate(HOSTILE)
    ]
    path = folder / "a<img src=x onerror=window.broken=1>'&amp;.jsonl"
    return left_alone(path, [*lines, relation("<b>", "</script>"), b'{"type":"entity","name":"</script><b>', b""])


def many_things(folder: Path) -> Path:
    """A memory file with something in every section of a report."""
    kinds = ["sprint", "bug", None, "Service", "bug"] * 5
    lines = []
    for n, kind in enumerate(kinds, start=1):
        texts = [f"[session] 2026-0{1 + n % 5}-1{n % 10}: note {n * 37 % 11}", f"undated {n}"]
        lines.append(entity(texts, name=f"Sprint {n}", kind=kind))
    lines += [
        entity([f"offer {n} [expires 2026-{6 + n % 7:02}-2{n}]" for n in range(8)], name="offers", kind="sales"),
        entity(["kept [pin]", "look again (review by 2026-05-01)", "x" * 20_000], name="N" * 300, kind="T" * 300),
        entity([{"content": "an object", "created_at": "2026-01-01", "decay": "session"}, 7], name="objects"),
        relation("offers", "objects"),
        b'{"type":"entity","name":"cut',
    ]
    return left_alone(folder / "many.jsonl", [*lines, b""])


def left_alone(path: Path, lines: list[bytes]) -> Path:
    """Write a memory file that has been left alone for so long that its damaged line is believed at once."""
    path.write_bytes(b"\n".join(lines))
    return aged(path)


class Element:
    """One element of a page: its attributes, its parent, and all text below it."""

    def __init__(self, tag: str, attributes: dict[str, str | None], parent: Element | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Element] = []
        self.text = ""

    def __getitem__(self, name: str) -> str:
        return self.attributes[name] or ""

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    def all(self, tag: str = "", **wanted: str) -> list[Element]:
        """All elements below it, in order, that have this tag and these attributes; `_` stands for `-`."""
        found: list[Element] = []
        for child in self.children:
            names = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
            has_all = all(
                value in child.classes if name == "class" else child.attributes.get(name, ...) == value
                for name, value in names.items()
            )
            found += [child] if has_all and (not tag or child.tag == tag) else []
            found += child.all(tag, **wanted)
        return found

    def one(self, tag: str = "", **wanted: str) -> Element:
        """The only one of them."""
        (found,) = self.all(tag, **wanted)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        at: Element | None = self.at
        while at is not None:
            at.text += data
            at = at.parent

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read(page: str) -> Element:
    """The elements of a page, each closed by its own end tag."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.at is reader.root, f"<{reader.at.tag}> is not closed"
    return reader.root


def page_of(*outcomes: ReportOutcome) -> Element:
    """The elements of the page of some reports."""
    return read(render(outcomes))


def number(element: Element) -> int:
    """The number that an element shows, which is also the one that it carries."""
    shown = int("".join(filter(str.isdigit, element.text)))
    assert shown == int(element["data-v"])
    return shown


def cell(row: Element, key: str) -> Element:
    """The cell of a listed observation."""
    return row.one("td", class_=key)


def rows_of(section: Element, id_: str) -> list[dict[str, Any]]:
    """The rows of one of the smaller tables, as the JSON document has them."""
    tables = section.all("table", data_table=id_)
    if not tables:
        return []
    rows = tables[0].one("tbody").all("tr")
    return [{td["data-key"]: _value(td) for td in row.all("td")} for row in rows]


def _value(td: Element) -> Any:
    if "data-v" in td.attributes:
        return number(td)
    return None if td.all("span", class_="none") else td.text


def said_by(section: Element) -> dict[str, Any]:
    """What one file's section says, under the keys of the JSON document."""
    keys = (
        "entities", "relations", "observations", "expired", "removed", "review_due", "unknown_age", "known_age",
        "seen_age", "pinned", "malformed_lines", "bytes", "characters", "tokens_estimated", "tokens_freed_estimated",
    )  # fmt: skip
    totals = {dd["data-key"]: number(dd) for dl in section.all("dl", class_="totals") for dd in dl.all("dd")}
    until = section.all("time", data_key="until")
    listed = {span["data-listed"]: number(span) for span in section.all("span") if "data-listed" in span.attributes}
    ones = section.all("span", data_key="one_date_entities")
    charts = {table["data-chart"]: table.one("tbody").all("tr") for table in section.all("table", class_="chart")}
    return {
        "file": section.one("bdi", data_key="file").text,
        "now": section.one("time", data_key="now")["datetime"],
        "summary": {key: totals[key] for key in keys},
        "listed": {"until": until[0]["datetime"] if until else None, **dict.fromkeys(LISTED_AS, 0), **listed},
        "groups": rows_of(section, "groups"),
        "observations": [observation(row) for row in section.all("tr") if "data-why" in row.attributes],
        "tiers": rows_of(section, "tiers"),
        "types": rows_of(section, "types"),
        "months": [month(row) for row in charts.get("timeline", [])],
        "ages": [{"age": row.one("th").text, "observations": number(row.one("td", data_key="observations"))}
                 for row in charts.get("ages", [])],
        "heaviest": rows_of(section, "heaviest"),
        "one_date": rows_of(section, "one_date"),
        "one_date_entities": number(ones[0]) if ones else 0,
        "damaged": rows_of(section, "damaged"),
        "refusals": [li.text for ul in section.all("ul", data_list="refusals") for li in ul.all("li")],
        "warnings": [li.text for ul in section.all("ul", data_list="warnings") for li in ul.all("li")],
    }  # fmt: skip


def month(row: Element) -> dict[str, Any]:
    """A row of the timeline; a bar's title says what it carries."""
    bars = {bar["data-tier"]: int(bar["data-v"]) for bar in row.all("rect")}
    titles = [title.text for title in row.all("title")]
    assert titles == [f"{tier}: {count:,}" for tier, count in bars.items()]
    return {"month": row.one("th").text, "observations": number(row.one("td", data_key="observations")), "tiers": bars}


def observation(row: Element) -> dict[str, Any]:
    """What a listed row says of its observation; what a page need not say is left out."""
    born, expires = cell(row, "age").all("time"), cell(row, "expires").all("time")
    return {
        "entity": cell(row, "entity").text,
        "entity_type": None if cell(row, "type").all("span", class_="none") else cell(row, "type").text,
        "line": int(row["data-line"]),
        "index": int(row["data-index"]),
        "observation": row.one("div", class_="words").text,
        "tier": cell(row, "tier").text,
        "age_source": row["data-source"],
        "created_at": born[0]["datetime"] if born else None,
        "expires_at": expires[0]["datetime"] if expires else None,
        "expired": cell(row, "why").text == "expired",
        "pinned": bool(row.all("span", class_="pinned")),
        "reason": row.one("bdi", class_="reason").text,
    }


def spelled_out(value: Any) -> Any:
    """A JSON document as a page shows it: control characters spelled out, line ends and tabs kept."""
    if isinstance(value, str):
        return "".join(part if part in "\n\t" else visible(part) for part in re.split("([\n\t])", value))
    if isinstance(value, list):
        return [spelled_out(item) for item in value]
    if isinstance(value, dict):
        return {spelled_out(key): spelled_out(item) for key, item in value.items()}
    return value


def as_shown(document: dict[str, Any]) -> dict[str, Any]:
    """A JSON document of a report with only what the page shows of it, spelled out."""
    kept = ("entity", "entity_type", "line", "index", "observation", "tier", "age_source", "created_at", "expires_at",
            "expired", "pinned", "reason")  # fmt: skip
    rest = {key: value for key, value in document.items() if key != "schema"}
    if not any(age["observations"] for age in document["ages"]):
        rest["ages"] = []  # said in words
    rows = [{key: row[key] for key in kept} for row in document["observations"]]
    return spelled_out(json.loads(json.dumps({**rest, "observations": rows})))
