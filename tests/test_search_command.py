"""`memttl search` as a whole process: what it prints in a pipe and at a terminal, its document, its exit codes."""

from __future__ import annotations

import json
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, Terminal, aged, copy_of, error_of, memttl, tree
from pruning import settings_of
from support import entity, relation
from test_dry_run import VERDICT_KEYS
from without_root import memttl_as_nobody, needs_root, nobodys_folder

from memttl.core.search import Query
from memttl.errors import UnknownEntity
from memttl.workflow.scan import scan
from memttl.workflow.search import search

EXAMPLE = FIXTURES / "memory/example.jsonl"
NOW = ("--now", "2026-06-01")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\x9b31m\r\n\x08\x7f"
COLOUR = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    lines = [
        entity(["plain WebKit note", "[session] 2026-04-01: webkit is gone", {"text": "webkit"}], name="A", kind="t"),
        entity(["[session] 2026-05-20: webkit to come"], name="webkit", kind="u"),
        entity(["nothing of it"], name="C", kind="t"),
        relation("A", "C"),
        relation("C", "webkit"),
        relation("C", "C"),
    ]
    path.write_bytes(b"\n".join(lines))
    return aged(path)


def document(path: Path, *options: str) -> dict[str, Any]:
    ended = memttl("search", *options, "--json", "--file", path, *NOW)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def printed(path: Path, *options: str) -> list[str]:
    ended = memttl("search", *options, "--file", path, *NOW)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def screen(path: Path, *options: str, **terminal: Any) -> str:
    ended = Terminal("search", *options, "--file", path, *NOW, **terminal).end()
    assert ended.code == 0
    return ended.screen.replace("\r\n", "\n")


def test_document_is_in_the_servers_shape(memory: Path) -> None:
    found = document(memory, "webkit")
    assert found == {
        "schema": 1,
        "file": str(memory),
        "now": "2026-06-01T00:00:00Z",
        "entities": [
            {"name": "A", "entityType": "t", "observations": ["plain WebKit note", {"text": "webkit"}]},
            {"name": "webkit", "entityType": "u", "observations": ["[session] 2026-05-20: webkit to come"]},
        ],
        "relations": [
            {"from": "A", "to": "C", "relationType": "knows"},
            {"from": "C", "to": "webkit", "relationType": "knows"},
        ],
    }
    assert list(found) == ["schema", "file", "now", "entities", "relations"]
    assert [list(e) for e in found["entities"]] == [["name", "entityType", "observations"]] * 2


def test_verdicts_stand_in_the_document_on_request(memory: Path) -> None:
    found = document(memory, "webkit", "--verdicts", "--expired", "include")
    assert list(found) == ["schema", "file", "now", "entities", "relations", "verdicts"]
    assert all(list(verdict) == VERDICT_KEYS for verdict in found["verdicts"])
    assert [(v["entity"], v["index"], v["expired"]) for v in found["verdicts"]] == [
        ("A", 0, False),
        ("A", 1, True),
        ("A", 2, False),
        ("webkit", 0, False),
    ]


def test_verdicts_are_those_that_explain_gives() -> None:
    found = document(EXAMPLE, "", "--verdicts", "--expired", "include")["verdicts"]
    explained = json.loads(memttl("explain", "--json", "--file", EXAMPLE, *NOW).stdout)["verdicts"]
    assert found == [{k: v for k, v in verdict.items() if k != "tried"} for verdict in explained]


def test_document_holds_no_number_that_json_has_not(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b'{"type":"entity","name":"E","entityType":"t","observations":[1e400,{"text":"x","n":1e999}]}')
    ended = memttl("search", "e", "--json", "--file", aged(path), *NOW)
    observations = json.loads(ended.stdout, parse_constant=pytest.fail)["entities"][0]["observations"]
    assert observations == [None, {"text": "x", "n": None}]


def test_plain_text_is_entities_then_relations_then_a_sentence(memory: Path) -> None:
    assert printed(memory, "WEBKIT") == [
        "A (t)",
        "  - plain WebKit note",
        "  - webkit",
        "webkit (u)",
        "  - [session] 2026-05-20: webkit to come",
        "A -> knows -> C",
        "C -> knows -> webkit",
        "",
        f"2 entities, 3 observations and 2 relations of {memory}. Left out: 1 observation that matches "
        "and has expired; `--expired include` shows it.",
    ]


def test_plain_text_tells_tier_age_and_expiry_on_request(memory: Path) -> None:
    assert printed(memory, "webkit", "--verdicts", "--expired", "include")[:9] == [
        "A (t)",
        "  - plain WebKit note",
        "    permanent, age unknown, expiry never",
        "  - [session] 2026-04-01: webkit is gone",
        "    session, age 61 days, expiry 2026-05-02 (has come)",
        "  - webkit",
        "    permanent, age unknown, expiry never",
        "webkit (u)",
        "  - [session] 2026-05-20: webkit to come",
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["zzz"], "Nothing matches 'zzz' in {}."),
        (["zzz", "--type", "t"], "Nothing of what the options name matches 'zzz' in {}."),
        (
            ["is gone"],
            "Nothing matches 'is gone' in {}. Left out: 1 observation that matches and has expired; "
            "`--expired include` shows it.",
        ),
    ],
)
def test_nothing_found_is_said_in_a_sentence(memory: Path, options: list[str], sentence: str) -> None:
    assert printed(memory, *options) == [sentence.format(memory)]


def test_nothing_found_is_two_empty_lists(memory: Path) -> None:
    found = document(memory, "zzz")
    assert (found["entities"], found["relations"]) == ([], [])


def test_parts_that_a_foreign_record_lacks_are_said_and_are_null(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [entity(["x"]), b'{"type":"entity","observations":["odd",7]}', b'{"type":"relation","to":"E"}']
    path.write_bytes(b"\n".join(lines))
    assert printed(aged(path), "", "--verdicts")[2:7] == [
        "    permanent, age unknown, expiry never",
        "no name (no type)",
        "  - odd",
        "  - 7",
        "? -> ? -> E",
    ]
    found = document(path, "", "--verdicts")
    assert found["entities"][1] == {"name": None, "entityType": None, "observations": ["odd", 7]}
    assert found["relations"] == [{"from": None, "to": "E", "relationType": None}]
    assert len(found["verdicts"]) == 1


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--expired", "only"], ["A"]),
        (["--expired", "include"], ["A", "webkit"]),
        (["--expired", "include", "--tier", "session"], ["A", "webkit"]),
        (["--tier", "session", "--tier", "operational"], ["webkit"]),
        (["--expire-before", "2026-06-19"], []),
        (["--expire-before", "2026-06-20"], ["webkit"]),
        (["--type", "T"], ["A"]),
        (["--type", "?"], ["A", "webkit"]),
        (["--type", "t", "--type", "u"], ["A", "webkit"]),
    ],
    ids=" ".join,
)
def test_options_narrow_what_is_found(memory: Path, options: list[str], names: list[str]) -> None:
    assert [e["name"] for e in document(memory, "webkit", *options)["entities"]] == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--expired", "onyl"], "--expired knows no 'onyl' (did you mean \"only\"?); nothing was done"),
        (["--expire-before", "soon"], "--expire-before 'soon' cannot be read"),
        (["--tier", "sesion"], 'did you mean "session"'),
        (["--type", "v"], "No entity is of type 'v'"),
        (["more"], "unexpected extra argument"),
    ],
    ids=str,
)
def test_2_option_that_names_nothing(memory: Path, options: list[str], message: str) -> None:
    ended = memttl("search", "webkit", *options, "--json", "--file", memory, *NOW)
    assert ended.returncode == 2
    assert message in error_of(ended)["message"]


def test_query_of_several_words_is_told_to_stand_in_quotes(memory: Path) -> None:
    ended = memttl("search", "plain", "webkit", "--file", memory)
    assert ended.stderr.endswith(
        "A query of several words stands in quotes. The memory file is named by --file PATH.\n"
    )


def test_2_no_query() -> None:
    assert memttl("search").returncode == 2


@pytest.mark.parametrize("name", ["truncated-tail.jsonl", "nan-number.jsonl"])
def test_0_good_lines_of_a_damaged_file_are_read(tmp_path: Path, name: str) -> None:
    ended = memttl("search", "", "--json", "--file", copy_of(FIXTURES / "memory" / name, tmp_path), *NOW)
    assert ended.returncode == 0
    assert "that the memory server cannot read" in ended.stderr
    assert json.loads(ended.stdout)["entities"]


@pytest.mark.parametrize(("name", "code"), [("chat-log.jsonl", 65), ("gzip.jsonl", 65), ("none.jsonl", 66)])
def test_file_that_is_none_of_the_servers_or_missing(tmp_path: Path, name: str, code: int) -> None:
    if code == 65:
        copy_of(FIXTURES / "memory" / name, tmp_path, name=name)
    ended = memttl("search", "x", "--json", "--file", tmp_path / name)
    assert (ended.returncode, error_of(ended)["code"]) == (code, code)


def test_type_that_half_of_a_file_lacks_is_looked_for_again(memory: Path) -> None:
    whole = memory.read_bytes() + b"\n" + entity(["webkit"], name="D", kind="late")
    memory.write_bytes(whole[:-20])
    threading.Timer(0.5, memory.write_bytes, (whole,)).start()
    assert [e.name for e in search(settings_of(memory), Query("webkit", types=("late",))).found.entities] == ["D"]


def test_type_that_a_damaged_file_lacks_for_good_is_an_error(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes()[:-20])
    with pytest.raises(UnknownEntity):
        search(settings_of(aged(memory)), Query("webkit", types=("late",)))


@needs_root
def test_it_works_in_a_folder_that_may_only_be_read() -> None:
    with nobodys_folder() as folder:
        path = folder / "memory.jsonl"
        path.write_bytes(entity(["webkit"]))
        folder.chmod(0o555)
        ended = memttl_as_nobody("search", "webkit", "--file", aged(path))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "  - webkit" in ended.stdout


def test_it_writes_nothing_in_a_folder_that_holds_state_or_none(memory: Path) -> None:
    for prepare in (lambda: None, lambda: scan(settings_of(memory))):
        prepare()
        before = tree(memory.parent)
        assert memttl("search", "webkit", "--file", memory).returncode == 0
        assert tree(memory.parent) == before


def test_what_the_ledger_knows_counts(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["[session] undated webkit"]))
    scan(settings_of(aged(path), now="2026-01-01T00:00:00Z"))
    assert printed(path, "webkit")[0].startswith("Nothing matches 'webkit'")
    assert document(path, "webkit", "--expired", "only", "--verdicts")["verdicts"][0]["age_source"] == "seen"


def test_instant_before_the_last_look_is_said(memory: Path) -> None:
    scan(settings_of(memory, now="2026-06-01T12:00:00Z"))
    outcome = search(settings_of(memory, now="2026-05-01T12:00:00Z"), Query("webkit"))
    assert any("runs behind; what was first seen since then counts as new" in w for w in outcome.warnings)


def test_several_files_are_each_searched(memory: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    shutil.copy2(memory, other)
    ended = memttl("search", "webkit", "--json", "--file", memory, "--file", other)
    assert [len(found["entities"]) for found in json.loads(ended.stdout)["files"]] == [2, 2]


def test_terminal_highlights_what_matches(memory: Path) -> None:
    shown = screen(memory, "webkit", "--expired", "include")
    assert "  - plain \x1b[1;33mWebKit\x1b[0m note\n" in shown
    assert "\n\x1b[1;33mwebkit\x1b[0m (u)\n" in shown
    assert "\x1b[1mA\x1b[0m (t)\n" in shown
    assert "C -> knows -> webkit\n" in shown


def test_terminal_shows_the_lines_of_a_pipe(memory: Path) -> None:
    assert COLOUR.sub("", screen(memory, "webkit", "--verdicts")).splitlines() == printed(
        memory, "webkit", "--verdicts"
    )


def test_long_text_is_left_to_the_terminal_to_wrap(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["webkit " + "word " * 200 + "end"]))
    assert "word " * 200 + "end\n" in screen(aged(path), "webkit", columns=60)


@pytest.mark.parametrize(
    ("options", "env"), [([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), (["--no-color"], {})], ids=str
)
def test_without_colour_no_escape_reaches_the_terminal(memory: Path, options: list[str], env: dict[str, str]) -> None:
    assert "\x1b" not in screen(memory, "webkit", *options, env=env)


def test_colour_that_is_asked_for_goes_through_a_pipe(memory: Path) -> None:
    assert "  - plain \x1b[1;33mWebKit\x1b[0m note" in printed(memory, "webkit", "--color")


def test_highlight_stands_where_the_match_is_though_case_changes_lengths(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["İİİ and webkit", "a\tb\x1bc webkit\n"]))
    shown = screen(aged(path), "webkit")
    assert "  - İİİ and \x1b[1;33mwebkit\x1b[0m\n" in shown
    assert "  - a\\tb\\x1bc \x1b[1;33mwebkit\x1b[0m\\n\n" in shown


@pytest.mark.parametrize("query", ["owned", "\x1b]0;owned", "\x9b", "\x07\x1b", "nothing\x1b[2J"], ids=ascii)
@pytest.mark.parametrize("options", [(), ("--verdicts", "--expired", "include")], ids=str)
def test_no_escape_of_a_file_or_a_query_reaches_the_terminal(
    tmp_path: Path, query: str, options: tuple[str, ...]
) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [entity([HOSTILE, {"text": HOSTILE}, [HOSTILE]], name=HOSTILE, kind=HOSTILE), relation(HOSTILE, HOSTILE)]
    path.write_bytes(b"\n".join(lines))
    shown = COLOUR.sub("", screen(aged(path), query, *options))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert "\\x1b" in shown


def test_query_that_begins_with_a_dash_stands_behind_two(memory: Path) -> None:
    ended = memttl("search", "--file", memory, "--", "--force")
    assert (ended.returncode, ended.stdout) == (0, f"Nothing matches '--force' in {memory}.\n")
