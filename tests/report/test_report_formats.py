"""One report, many renderings: the same observations and numbers in each, and no text of the file does any harm."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting import csv_rows, json_rows, markdown_rows, ndjson_rows, outcome_of, plain_texts
from rich.cells import cell_len
from strategies import AWKWARD
from support import FIXTURES, entity

from memttl.core.report import ReportOutcome
from memttl.errors import Foreign
from memttl.report import report_csv, report_json, report_markdown, report_plain, report_table
from memttl.report.terminal import Screen
from memttl.report.text import legible, visible

FILES = sorted(path for path in (FIXTURES / "memory").glob("*.jsonl"))
ALL = {"undated": True, "within": "never"}
FORMULAS = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx", " =1", "\n=1", "＝1", "－1"]
MARKUP = [
    "a|b",
    "`code`",
    "a``b|`",
    "\\",
    "\\|",
    "[x](y)",
    "<b>",
    "&amp;",
    "# no heading",
    "**b**",
    "a\nb",
    "~~x~~",
    "<br>",
]
HTML = ["</script><img src=x onerror=alert(1)>", '"><svg onload=x>', "<!--", "]]>", "&lt;"]
ESCAPES = ["\x1b[31mred", "\x9b31m", "\x1b]0;title\x07", "\u202eabc", "a\rb", "x\x00y", "\u2028", "\x7f"]


def reports(name: str) -> ReportOutcome | None:
    try:
        return outcome_of((FIXTURES / "memory" / name).read_bytes(), file=name, **ALL)  # type: ignore[arg-type]
    except Foreign:
        return None


def odd_graph(texts: list[str]) -> bytes:
    """A graph whose names, types and texts are all odd."""
    lines = [entity([text, f"[session] 2026-01-01: {text}"], name=text or "empty", kind=text) for text in texts]
    return b"\n".join(lines)


# the same in every format


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_format_lists_the_same_observations(path: object) -> None:
    outcome = reports(path.name)  # type: ignore[attr-defined]
    if outcome is None:
        pytest.skip("foreign")
    listed = json_rows(outcome)
    assert listed == ndjson_rows(outcome)
    shown = [tuple(legible(cell) for cell in row) for row in listed]
    assert [tuple(map(bare, row)) for row in csv_rows(outcome)] == [tuple(map(bare, row)) for row in shown]
    assert [(e, k, t.strip(" ")) for e, k, t in markdown_rows(outcome)] == [(e, k, t.strip(" ")) for e, k, t in shown]
    assert plain_texts(outcome) == [visible(text) for _, _, text in listed]


@settings(max_examples=60)
@given(st.lists(st.one_of(st.sampled_from([*AWKWARD, *FORMULAS, *MARKUP, *HTML, *ESCAPES]), st.text()), max_size=4))
def test_every_format_lists_the_same_odd_texts(texts: list[str]) -> None:
    outcome = outcome_of(odd_graph(texts), **ALL)  # type: ignore[arg-type]
    listed = json_rows(outcome)
    assert listed == ndjson_rows(outcome)
    shown = [tuple(legible(cell) for cell in row) for row in listed]
    assert [tuple(map(bare, row)) for row in csv_rows(outcome)] == [tuple(map(bare, row)) for row in shown]
    assert [row[2].strip() for row in markdown_rows(outcome)] == [row[2].strip() for row in shown]
    assert plain_texts(outcome) == [visible(text) for _, _, text in listed]
    for width in (60, 200):
        report_table.render([outcome], Screen(width, color=False))


def bare(cell: str) -> str:
    """A cell of the CSV, or the text that it holds, without what keeps it from being a formula."""
    return cell.replace("\t", "\\t").removeprefix("'").replace(";'", ";")


def numbers_of(text: str) -> set[str]:
    return {number.replace(",", "") for number in re.findall(r"\d[\d,]*", text)}


def test_the_same_numbers_stand_in_every_format() -> None:
    outcome = reports("example.jsonl")
    assert outcome is not None
    summary = json.loads(json.dumps(report_json.report_document(outcome)))["summary"]
    wanted = {str(summary[key]) for key in summary if summary[key] and key not in ("removed",)}
    for text in (
        report_plain.render([outcome]),
        report_markdown.render([outcome]),
        report_table.render([outcome], Screen(80, color=False)),
    ):
        assert wanted <= numbers_of(text)


def test_counts_of_what_is_listed_are_those_of_the_rows() -> None:
    outcome = reports("every-mark.jsonl")
    assert outcome is not None
    document = report_json.report_document(outcome)
    assert document["listed"]["observations"] == len(document["observations"])
    assert [g["observations"] for g in document["groups"]] == [len(g.listed) for g in outcome.report.groups]
    whys = ["expired", "due", "review", "undated"]
    rows = list(csv.DictReader(io.StringIO(report_csv.render([outcome]), newline="")))
    for why in whys:
        count = sum(row["listed_as"] == why for row in rows)
        assert document["listed"][why] == count
        heading = {"expired": "Expired", "due": "Due some day", "review": "Due for review", "undated": "Undated"}[why]
        if count:
            assert f"{heading}: {count} observation" in report_plain.render([outcome])


def test_several_files_stand_in_one_result() -> None:
    one, two = reports("example.jsonl"), reports("every-mark.jsonl")
    assert one is not None
    assert two is not None
    assert csv_rows(one, two) == csv_rows(one) + csv_rows(two)
    assert ndjson_rows(one, two) == ndjson_rows(one) + ndjson_rows(two)
    assert report_csv.render([one, two]).count("listed_as") == 1
    assert report_markdown.render([one, two]).count("# Memory report: ") == 2


# CSV


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_the_csv_is_a_formula(text: str) -> None:
    outcome = outcome_of(odd_graph([text]), **ALL)  # type: ignore[arg-type]
    for row in csv.reader(io.StringIO(report_csv.render([outcome]), newline="")):
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


def test_csv_quotes_what_must_be_quoted() -> None:
    text = 'a "b", c\nd;e'
    outcome = outcome_of(entity([text]), **ALL)  # type: ignore[arg-type]
    assert '"a ""b"", c\nd;e"' in report_csv.render([outcome])
    assert csv_rows(outcome) == [("E", "note", text)]


def test_csv_without_anything_listed_is_its_header() -> None:
    assert report_csv.render([outcome_of(b"")]).split("\r\n") == [
        ",".join(f'"{key}"' for key in report_json.ROW_KEYS),
        "",
    ]


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_no_formula_begins_behind_whatever_parts_the_cells(separator: str) -> None:
    texts = [f"a{separator}{sign}1+1" for sign in "=+-@"]
    rendered = report_csv.render([outcome_of(entity(texts), **ALL)])  # type: ignore[arg-type]
    for row in csv.reader(io.StringIO(rendered, newline=""), delimiter=separator):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


# Markdown


@pytest.mark.parametrize("name", ["1. item", "- item", "+ item", "    code", "2) x"])
def test_markdown_begins_no_list_or_code_within_an_item(name: str) -> None:
    data = entity(["2026-01-05: dated", "undated"], name=name)
    items = [line[2:] for line in report_markdown.render([outcome_of(data)]).split("\n") if line.startswith("- ")]
    assert any(name.strip().partition(" ")[2] in item for item in items)
    assert not any(re.match(r"\s|[-+]\s|\d+[.)]\s", item) for item in items)


def test_markdown_holds_the_warnings() -> None:
    outcome = outcome_of(entity(["x"]))._replace(warnings=("something is odd",))
    assert "## Warnings\n\n- something is odd" in report_markdown.render([outcome])


@pytest.mark.parametrize("text", MARKUP)
def test_markdown_shows_markup_as_text(text: str) -> None:
    outcome = outcome_of(odd_graph([text]), **ALL)  # type: ignore[arg-type]
    assert {row[2] for row in markdown_rows(outcome)} >= {text.strip(" ")}
    listed = [line for line in report_markdown.render([outcome]).split("\n") if line.startswith("| ")]
    for line in listed:
        assert not re.search(r"(?<!\\)(?:\\\\)*[`<*\[](?!br>)", line)


# control characters


@pytest.mark.parametrize("text", ESCAPES)
@pytest.mark.parametrize("color", [False, True])
def test_no_text_of_the_file_sends_a_control_character(text: str, color: bool) -> None:
    outcome = outcome_of(odd_graph([text]), file=f"{text}.jsonl", **ALL)  # type: ignore[arg-type]
    renderings = [module.render([outcome]) for module in (report_plain, report_csv, report_markdown)]
    table = report_table.render([outcome], Screen(100, color=color))
    renderings.append(re.sub("\x1b\\[[0-9;]*m", "", table) if color else table)
    for rendering in renderings:
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\u2028]", rendering.replace("\r\n", "\n"))
        assert "\r" not in rendering.replace("\r\n", "\n")


# at a terminal


@pytest.mark.parametrize("width", [60, 61, 72, 80, 100, 109, 110, 140, 200])
@pytest.mark.parametrize("name", ["example.jsonl", "wide-right-to-left-and-emoji.jsonl", "every-mark.jsonl"])
def test_table_fits_the_width(width: int, name: str) -> None:
    outcome = reports(name)
    assert outcome is not None
    for line in report_table.render([outcome], Screen(width, color=False)).split("\n"):
        assert cell_len(line) <= width, line


def test_columns_stay_straight_with_wide_characters() -> None:
    texts = ["plain", "日本語のテキスト", "👍🏽 ok", "e\u0301e\u0301", "שלום עולם", "مرحبا"]
    data = b"\n".join(entity([f"[session] 2026-01-01: {text}"], name=text, kind=text) for text in texts)
    table = report_table.render([outcome_of(data)], Screen(80, color=False)).split("\n")
    shares = [line for line in table if any(line.startswith(text) for text in texts) and "(" not in line]
    assert len(shares) == len(texts)
    assert {cell_len(line.rstrip()) for line in shares} == {cell_len(shares[0].rstrip())}


def test_chart_reads_without_colour() -> None:
    policy = "".join(f'[tiers]\nt{n} = "30d"\n' if n == 0 else f't{n} = "30d"\n' for n in range(4))
    marks = [f"note {n} [created 2026-05-20; tier: t{n}]" for n in range(4)]
    for ascii_only in (False, True):
        table = report_table.render(
            [outcome_of(entity(marks), policy)], Screen(80, color=False, encoding="ascii" if ascii_only else "utf-8")
        )
        bar = next(line for line in table.split("\n") if line.startswith("  2026-06  4")).split()[2]
        assert len(set(bar)) == 4
        assert bar.isascii() is ascii_only


def test_every_tier_of_the_chart_is_named_and_has_a_sign_of_its_own() -> None:
    names = [f"tier-number-{n}" for n in range(15)]
    policy = "[tiers]\n" + "".join(f'{name} = "30d"\n' for name in names)
    data = entity([f"note [created 2026-05-20; tier: {name}]" for name in names])
    table = report_table.render([outcome_of(data, policy)], Screen(60, color=False))
    legend = table.partition("What expires when")[2].partition("\n\n")[0].split("\n")[2:]
    pairs = re.findall(r"(\S) (tier-number-\d+)", "\n".join(legend))
    assert sorted(name for _, name in pairs) == sorted(names)
    assert len({sign for sign, _ in pairs}) == 15


def test_table_fits_where_the_encoding_lacks_wide_characters() -> None:
    outcome = reports("wide-right-to-left-and-emoji.jsonl")
    assert outcome is not None
    table = report_table.render([outcome], Screen(60, color=False, encoding="ascii"))
    assert table.isascii()
    assert max(map(len, table.split("\n"))) <= 60


def test_entity_without_a_name_is_shown_as_such() -> None:
    outcome = outcome_of(entity(["x [expires 2026-01-01]"], name="", kind=""))
    for text in (report_plain.render([outcome]), report_table.render([outcome], Screen(80, color=False))):
        assert '"" (no type)' in text


def test_report_that_lists_nothing_says_what_would_list_more() -> None:
    note = outcome_of(entity(["a note"]))
    for text in (report_table.render([note], Screen(100, color=False)), report_plain.render([note])):
        assert "Nothing has expired, is due or due for review. To see more: --undated. Ages: `memttl scan`" in text
    later = outcome_of(entity(["x [expires 2027-01-01]"]))
    assert "To see more: --within 1y or --undated" in " ".join(report_plain.render([later]).split())
    assert "To see more" not in report_plain.render([outcome_of(entity(["a note"]), undated=True, expired_only=False)])
    assert "It holds no observations." in report_plain.render([outcome_of(b"")])
