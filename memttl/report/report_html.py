"""Reports into one self-contained HTML page, which asks for nothing from anywhere. Pure; called by `report`.

Style and script lie in `page/` and are written into the page; the page's own policy lets nothing else run or load.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from memttl.core.report import ReportOutcome
from memttl.report.html_charts import palette_of, patterns
from memttl.report.html_sections import file_name, section
from memttl.report.html_tables import listing
from memttl.report.html_text import Html, tag


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give the page; one section for each memory file. It can be written as UTF-8 whatever the texts are."""
    style, script = _page_file("report.css"), _page_file("report.js")
    palette = palette_of([tier.name for outcome in outcomes for tier in outcome.report.tiers])
    sections = [section(outcome, f"file-{place}", palette) for place, outcome in enumerate(outcomes, start=1)]
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#report", class_="skip"),
        patterns(palette),
        tag("header", tag("h1", "Memory report"), _contents(outcomes)),
        tag("main", *sections, id="report", tabindex=-1),
        tag("footer", tag("p", "Made by memttl. This page is one file: nothing is loaded and nothing is sent.")),
        tag("script", Html(script)),
    )
    head = tag("head", *_head(_title(outcomes), style, script))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _page_file(name: str) -> str:
    return files("memttl.report").joinpath("page", name).read_text(encoding="utf-8")


def _title(outcomes: Sequence[ReportOutcome]) -> str:
    return f"Memory report: {file_name(outcomes[0].file)}" if len(outcomes) == 1 else "Memory report"


def _head(title: str, style: str, script: str) -> Iterator[Html]:
    yield tag("meta", charset="utf-8")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    yield tag("meta", http_equiv="Content-Security-Policy", content=policy)
    yield tag("meta", name="viewport", content="width=device-width, initial-scale=1")
    yield tag("meta", name="referrer", content="no-referrer")
    yield tag("meta", name="color-scheme", content="light dark")
    yield tag("link", rel="icon", href="data:,")
    yield tag("title", title)
    yield tag("style", Html(style))


def _hash(content: str) -> str:
    """Give the digest by which the page's policy knows its own style and script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _contents(outcomes: Sequence[ReportOutcome]) -> Html:
    """Give links to the files where there are several."""
    if len(outcomes) < 2:
        return Html()
    links = (tag("a", tag("bdi", outcome.file), href=f"#file-{place}") for place, outcome in enumerate(outcomes, 1))
    return tag("nav", listing(links), aria_label="Memory files")
