"""The HTML page of a report: its numbers are the JSON document's, its texts are text, and it asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from pages import (
    HOSTILE,
    POLICY,
    Element,
    as_shown,
    cell,
    hostile_file,
    left_alone,
    many_things,
    page_of,
    read,
    reported,
    said_by,
)
from process import FIXTURES, ROOT
from support import entity, relation

from memttl.core.listing import Window
from memttl.core.report import ReportOutcome
from memttl.report.html_text import tag, text
from memttl.report.report_html import render
from memttl.report.report_json import report_document

NAMES = ["example", "every-mark", "wide-right-to-left-and-emoji", "only-relations", "empty", "lone-surrogate-escapes",
         "ansi-escapes-html-and-markup", "object-observations", "truncated-tail"]  # fmt: skip


def section_of(outcome: ReportOutcome) -> Element:
    return page_of(outcome).one("section", id="file-1")


@pytest.mark.parametrize("query", [{}, {"undated": True}, {"group_by": "tier", "undated": True}, {"expired_only": True},
                                   {"tiers": ("session",), "group_by": "month"}, {"top": 0}])  # fmt: skip
def test_page_says_what_the_json_document_says(tmp_path: Path, query: dict[str, object]) -> None:
    outcome = reported(many_things(tmp_path), policy=POLICY, **query)
    assert said_by(section_of(outcome)) == as_shown(report_document(outcome))


def test_page_of_hostile_texts_says_what_the_json_document_says(tmp_path: Path) -> None:
    outcome = reported(hostile_file(tmp_path), policy=POLICY, undated=True)
    assert said_by(section_of(outcome)) == as_shown(report_document(outcome))


@pytest.mark.parametrize("name", NAMES)
def test_page_of_a_fixture_says_what_the_json_document_says(name: str) -> None:
    outcome = reported(FIXTURES / f"memory/{name}.jsonl", undated=True)
    assert said_by(section_of(outcome)) == as_shown(report_document(outcome))


def test_hostile_texts_make_no_element_and_no_attribute(tmp_path: Path) -> None:
    harmless = tmp_path / "harmless"
    harmless.mkdir()
    lines = []
    for n in range(len(HOSTILE)):
        lines.append(entity([f"[session] 2026-01-0{1 + n % 9}: x", "odd: x", "x"], name=str(n), kind=str(n)))
    left_alone(harmless / "m.jsonl", [*lines, relation("a", "b"), b'{"type":"entity"', b""])
    expected = page_of(reported(harmless / "m.jsonl", policy=POLICY, undated=True))
    page = page_of(reported(hostile_file(tmp_path), policy=POLICY, undated=True))
    for one in ("script", "style", "svg", "img", "b", "i", "form", "iframe", "tr", "td", "section"):
        assert len(page.all(one)) == len(expected.all(one)), one
    known = {name for element in expected.all() for name in element.attributes}
    assert {name for element in page.all() for name in element.attributes} <= known


def test_each_text_stands_whole_in_its_row(tmp_path: Path) -> None:
    page = page_of(reported(hostile_file(tmp_path), policy=POLICY, undated=True))
    shown = [row.one("div", class_="words").text for row in page.all("tr") if "data-why" in row.attributes]
    assert len(shown) == 3 * len(HOSTILE)
    assert HOSTILE[0] in shown
    assert "first line\n\tsecond line\\r\nthird" in shown
    assert "lone \\ud800 surrogate" in shown
    assert "\\x1b[31mred\\x00\\x07\\x85\\u2028\\u202ereversed\\u202c" in shown


def test_page_can_be_written_as_utf_8_whatever_it_says(tmp_path: Path) -> None:
    outcome = reported(hostile_file(tmp_path), policy=POLICY, undated=True)
    named = outcome._replace(file="odd \udcff name", warnings=("\ud800<b>",))
    assert "odd \\udcff name" in render([named]).encode().decode()


def test_page_asks_for_nothing(tmp_path: Path) -> None:
    page = page_of(reported(hostile_file(tmp_path), policy=POLICY), reported(many_things(tmp_path)))
    asked = [(name, element[name]) for element in page.all() for name in ("src", "href", "action", "style", "srcset")
             if name in element.attributes]  # fmt: skip
    assert {value for _, value in asked if not value.startswith("#")} == {"data:,"}
    assert not [name for element in page.all() for name in element.attributes if name.startswith("on")]
    assert "url(" not in page.one("style").text


def test_only_the_pages_own_script_and_style_are_let_run(tmp_path: Path) -> None:
    page = page_of(reported(many_things(tmp_path)))
    policy = page.one("meta", http_equiv="Content-Security-Policy")["content"]
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.one(name).text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_page_has_a_language_a_charset_a_title_and_one_heading(tmp_path: Path) -> None:
    page = page_of(reported(many_things(tmp_path)))
    assert page.one("html")["lang"] == "en"
    assert page.one("head").one("title").text == "Memory report: many.jsonl"
    assert [meta["charset"] for meta in page.all("meta") if "charset" in meta.attributes] == ["utf-8"]
    assert len(page.all("h1")) == 1


def test_ids_are_unique_on_a_page_of_several_files(tmp_path: Path) -> None:
    page = page_of(reported(many_things(tmp_path)), reported(FIXTURES / "memory/example.jsonl"))
    ids = [element["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {"file-1", "file-2"} <= set(ids)
    targets = {a["href"] for a in page.all("a")} | {f"#{label['for']}" for label in page.all("label")}
    assert targets <= {f"#{id_}" for id_ in ids}


def test_every_bar_is_filled_by_a_pattern_of_the_page(tmp_path: Path) -> None:
    page = page_of(reported(many_things(tmp_path), policy=POLICY), reported(FIXTURES / "memory/example.jsonl"))
    fills = {bar["fill"] for bar in page.all("rect") if "fill" in bar.attributes}
    assert fills
    assert fills <= {f"url(#{pattern['id']})" for pattern in page.all("pattern")}


def test_bars_of_a_month_stand_side_by_side_and_fit(tmp_path: Path) -> None:
    page = page_of(reported(many_things(tmp_path), policy=POLICY))
    for row in page.one("table", data_chart="timeline").one("tbody").all("tr"):
        at = 0.0
        for bar in row.all("rect"):
            assert float(bar["x"].rstrip("%")) == pytest.approx(at, abs=0.02)
            at += float(bar["width"].rstrip("%"))
        assert at <= 100.1


def test_grouped_report_names_each_rows_group(tmp_path: Path) -> None:
    outcome = reported(many_things(tmp_path), group_by="type", undated=True)
    rows = [row for row in page_of(outcome).all("tr") if "data-why" in row.attributes]
    expected = [group.name or "none" for group in outcome.report.groups for _ in group.listed]
    assert [cell(row, "group").text for row in rows] == expected


def test_empty_file_and_nothing_listed_are_said_in_words() -> None:
    shown = section_of(reported(FIXTURES / "memory/empty.jsonl")).text
    assert "Nothing here is expired, due or due for review." in shown
    assert "Nothing here has an expiry." in shown
    assert "The file holds no observation." in shown


def test_window_without_an_end_is_said_in_words(tmp_path: Path) -> None:
    outcome = reported(many_things(tmp_path))
    endless = outcome._replace(report=outcome.report._replace(window=Window(None)))
    assert "it expires at all" in section_of(endless).text


def test_refusals_and_a_thousand_warnings_are_all_there(tmp_path: Path) -> None:
    outcome = reported(many_things(tmp_path))
    warned = outcome._replace(
        warnings=tuple(f"warning {n} <b>" for n in range(1000)), report=outcome.report._replace(refusals=("no <i>",))
    )
    said = said_by(section_of(warned))
    assert said["warnings"] == [f"warning {n} <b>" for n in range(1000)]
    assert said["refusals"] == ["no <i>"]


def test_what_a_report_was_narrowed_to_is_said(tmp_path: Path) -> None:
    shown = section_of(reported(many_things(tmp_path), tiers=("session",), sources=("text",), expired_only=True)).text
    assert "only tier session, age source text, what has expired" in shown


def test_plain_text_is_escaped_wherever_it_is_put() -> None:
    assert tag("p", '<&"', title='"<') == '<p title="&quot;&lt;">&lt;&amp;&quot;</p>'
    assert text("a\nb\tc\r\x7f") == "a\nb\tc\\r\\x7f"


def test_wheel_holds_the_pages_style_and_script(tmp_path: Path) -> None:
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = zipfile.ZipFile(built).namelist()
    assert {"memttl/report/page/report.css", "memttl/report/page/report.js"} <= set(names)


def test_page_without_any_file_is_a_page() -> None:
    assert read(render([])).one("main").children == []
