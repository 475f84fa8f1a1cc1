"""`memttl set`, `pin`, `unpin` and `renew` as whole processes: the question at a terminal, exit codes, documents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, Ended, Terminal, aged, copy_of, error_of, memttl, tree
from support import entity
from without_root import memttl_as_nobody, needs_root, nobodys_folder

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"
SPRINT = "[operational] 2026-02-10: staging uses the sandbox payment account"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def document(*args: str | Path) -> dict[str, Any]:
    ended = memttl(*args, "--json", *NOW)
    assert ended.returncode == 0, ended.stdout
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def answered(path: Path, keys: str, *args: str, **how: Any) -> Ended:
    terminal = Terminal(*args, "--file", path, *NOW, **how)
    terminal.read_until("[y/N]: ")
    terminal.type(keys)
    return terminal.end()


def listed(path: Path) -> list[dict[str, Any]]:
    settings: list[dict[str, Any]] = document("set", "--list", "--file", path)["settings"]
    return settings


def test_yes_at_the_question_pins_and_shows_the_change_once(memory: Path) -> None:
    ended = answered(memory, "y\n", "pin", "Sprint 11", "sandbox")
    assert ended.code == 0
    assert ended.screen.count("nothing set -> pinned; expiry 2026-05-12 (has come) -> never") == 1
    assert f"Pin 1 observation of {memory}?" in ended.screen
    assert f"Pinned 1 observation of {memory}." in ended.screen
    assert [row["settings"] for row in listed(memory)] == [{"pinned": True}]
    assert memory.read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.parametrize(
    ("args", "question"),
    [
        (["unpin", "Sprint 11"], "Unpin 1 observation of"),
        (["renew", "Sprint 11", "--for", "9d"], "Renew 5 observations of"),
        (["set", "Sprint 11", "--ttl", "9d"], "Change the settings of 5 observations of"),
        (["pin", "--entity", "Sprint *"], "Pin 1 entity pattern of"),
    ],
)
def test_each_command_asks_in_its_own_words_and_no_changes_nothing(
    memory: Path, args: list[str], question: str
) -> None:
    memttl("pin", "Sprint 11", "sandbox", "--yes", "--file", memory, *NOW)
    before = tree(memory.parent)
    ended = answered(memory, "n\n", *args)
    assert (ended.code, question in ended.screen) == (0, True)
    assert "Nothing was changed." in ended.screen
    assert tree(memory.parent) == before


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_leaving_at_the_question_leaves_nothing_behind(memory: Path, key: str) -> None:
    ended = answered(memory, key, "pin", "Sprint 11")
    assert ended.code == 130
    assert os.listdir(memory.parent) == ["memory.jsonl"]


def test_the_question_stands_on_stderr_and_the_document_alone_on_stdout(memory: Path) -> None:
    ended = answered(memory, "y\n", "pin", "Sprint 11", "sandbox", "--json", piped=True)
    assert json.loads(ended.stdout)["recorded"] is True
    assert "nothing set -> pinned" in ended.screen


def test_a_long_text_fits_the_screen(memory: Path) -> None:
    ended = answered(memory, "n\n", "pin", "Sprint 11", "sandbox", columns=50)
    assert "    [operational] 2026-02-10: staging uses the sa…" in ended.screen.split("\r\n")


def test_several_files_are_asked_about_one_by_one(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    terminal = Terminal("pin", "Sprint 11", "--file", first, "--file", second, *NOW)
    terminal.read_until("1.jsonl? [y/N]: ")
    terminal.type("n\n")
    terminal.read_until("2.jsonl? [y/N]: ")
    terminal.type("y\n")
    assert terminal.end().code == 0
    assert (len(listed(first)), len(listed(second))) == (0, 5)


def test_nothing_to_change_asks_nothing(memory: Path) -> None:
    memttl("pin", "Sprint 11", "--yes", "--file", memory, *NOW)
    before = tree(memory.parent)
    ended = Terminal("pin", "Sprint 11", "--file", memory, *NOW).end()
    assert (ended.code, f"Nothing to change in {memory}: 5 already as asked." in ended.screen) == (0, True)
    assert tree(memory.parent) == before


@pytest.mark.parametrize("hostile", ["\x1b]0;owned\x07\x1b[2J", "\u202egnp.exe", "\x9b31m\r\x08\ud800"])
def test_no_control_of_a_memory_file_reaches_the_screen(tmp_path: Path, hostile: str) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"x {hostile} [pin]", hostile * 30], name=f"A{hostile}"))
    runs = [
        answered(aged(path), "y\n", "pin", "A*").screen,
        Terminal("pin", "--entity", "A*", "--yes", "--file", path, *NOW).end().screen,
        Terminal("unpin", "A*", "--yes", "--file", path, *NOW).end().screen,
        Terminal("renew", "A*", "--yes", "--file", path, *NOW).end().screen,
        Terminal("set", "--list", "--file", path, *NOW).end().screen,
        Terminal("set", "Aq", "--ttl", "1d", "--yes", "--file", path, *NOW).end().screen,
    ]
    for screen in runs:
        assert not {c for c in screen if ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e"} - {"\r", "\n"}
        assert "\x08" not in screen


@pytest.mark.parametrize(
    "args", [["pin", "Sprint 11"], ["unpin", "Sprint 11"], ["renew", "Sprint 11"], ["set", "x", "--clear"]]
)
def test_2_without_a_terminal_and_yes_nothing_is_done(memory: Path, args: list[str]) -> None:
    ended = memttl(*args, "--file", memory, *NOW)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--yes" in ended.stderr
    assert "--dry-run" in ended.stderr
    assert os.listdir(memory.parent) == ["memory.jsonl"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["pin"], ["memttl pin", "Name an entity", "'*'", "--entity"]),
        (["unpin", "--yes"], ["memttl unpin", "Name an entity"]),
        (["renew"], ["memttl renew", "Name an entity"]),
        (["set", "--ttl", "3d"], ["memttl set", "Name an entity"]),
        (["set", "Sprint 11"], ["--ttl, --tier, --expires, --review-by, --created or --clear"]),
        (["set", "Sprint 11", "--list", "--ttl", "3d"], ["--list shows what is set"]),
        (["pin", "A", "--entity", "B"], ["Give one or the other"]),
        (["pin", "sprint 11", "-y"], ["'sprint 11'", 'did you mean "Sprint 11"?']),
        (["pin", "Sprint 11", "nowhere", "-y"], ["No observation of 'Sprint 11' matches"]),
        (["pin", "Sprint 11", "(", "--pattern", "-y"], ["no regular expression"]),
        (["pin", "--entity", "Spring *", "-y"], ["'Spring *'"]),
        (
            ["set", "Sprint 11", "--tier", "sesion", "-n"],
            ['did you mean "session"?', "session, operational, permanent"],
        ),
        (["set", "Sprint 11", "--ttl", "5m", "-n"], ["minutes or months"]),
        (["set", "Sprint 11", "--expires", "soon", "-n"], ["--expires 'soon' cannot be read", "or never"]),
        (["set", "Sprint 11", "--review-by", "never", "-n"], ["--review-by 'never' cannot be read", "expiry of never"]),
        (["set", "Sprint 11", "--created", "2026-06-02", "-n"], ["after now"]),
        (["renew", "Sprint 11", "-n"], ["3 observations are in a tier that never expires", "--for"]),
        (["renew", "Sprint 11", "--for", "0d", "-n"], ["--for '0d' cannot be read"]),
        (["set", "--list", "Sprint 12"], ["No entity is named 'Sprint 12'"]),
    ],
)
def test_2_words_that_mean_nothing(memory: Path, args: list[str], words: list[str]) -> None:
    ended = memttl(*args, "--file", memory, *NOW)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert all(word in ended.stderr for word in words), ended.stderr
    assert os.listdir(memory.parent) == ["memory.jsonl"]


def test_2_a_now_after_the_clock_is_not_asked_about_but_needs_yes(memory: Path) -> None:
    ended = Terminal("renew", "Sprint 11", "sandbox", "--file", memory, "--now", "2099-01-01").end()
    assert (ended.code, "lies after the clock" in ended.screen) == (2, True)
    ended_well = memttl("renew", "Sprint 11", "sandbox", "--yes", "--file", memory, "--now", "2099-01-01")
    assert "expires 2099-04-01" in ended_well.stdout


def test_65_a_damaged_and_a_foreign_file(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes() + b'\n{"type":"entity"')
    error = error_of(memttl("pin", "Sprint 11", "--dry-run", "--json", "--file", aged(memory), *NOW))
    assert (error["code"], error["name"]) == (65, "Malformed")
    memory.write_bytes(b'{"role":"user"}\n{"role":"user"}\n')
    assert error_of(memttl("set", "--list", "--json", "--file", aged(memory), *NOW))["code"] == 65


def test_66_no_memory_file(tmp_path: Path) -> None:
    for args in (["pin", "A", "-y"], ["set", "--list"]):
        assert error_of(memttl(*args, "--json", "--file", tmp_path / "none.jsonl"))["code"] == 66


def test_73_a_ledger_that_is_lost(memory: Path) -> None:
    memttl("prune", "--yes", "--file", memory, *NOW)
    state = memory.parent / ".memttl/memory.jsonl"
    (state / "ledger.db").unlink()
    (state / "audit.jsonl").unlink()
    for args in (["pin", "Sprint 11", "-y"], ["pin", "Sprint 11", "-n"], ["set", "--list"]):
        error = error_of(memttl(*args, "--json", "--file", memory, *NOW))
        assert (error["code"], error["name"]) == (73, "LedgerLost")


def test_75_a_clock_that_runs_behind(memory: Path) -> None:
    memttl("pin", "Sprint 11", "--yes", "--file", memory, *NOW)
    ended = memttl("unpin", "Sprint 11", "--yes", "--file", memory, "--now", "2026-05-01")
    assert (ended.returncode, "runs behind" in ended.stderr) == (75, True)


@needs_root
def test_77_in_a_folder_that_cannot_be_written_only_a_dry_run_and_the_list_work() -> None:
    with nobodys_folder() as folder:
        path = copy_of(EXAMPLE, folder)  # it and its state belong to root, as does the folder from now on
        os.chown(folder, 0, 0)
        memttl("pin", "Sprint 11", "--yes", "--file", path, *NOW)
        before = tree(folder)
        unpin = ("unpin", "*", "--file", path, *NOW)
        assert "Would unpin 5 observations" in memttl_as_nobody(*unpin, "--dry-run").stdout
        assert memttl_as_nobody("set", "--list", "--file", path).stdout.count("  - pinned\n") == 5
        assert memttl_as_nobody(*unpin, "--yes").returncode == 77
        assert tree(folder) == before


def test_the_document_of_a_change(memory: Path) -> None:
    found = document("renew", "Sprint 11", "sandbox", "--yes", "--file", memory)
    assert list(found) == [
        "schema", "file", "now", "recorded", "dry_run", "run", "changes", "entity_pins", "unchanged", "warnings",
    ]  # fmt: skip
    assert (found["recorded"], found["dry_run"], found["unchanged"]) == (True, False, 0)
    (change,) = found["changes"]
    assert len(change.pop("digest")) == 64
    assert change == {
        "entity": "Sprint 11",
        "observation": SPRINT,
        "present": True,
        "before": {},
        "after": {"expires_at": "2026-08-30T12:00:00Z"},
        "expires_before": "2026-05-12T00:00:00Z",
        "expires_after": "2026-08-30T12:00:00Z",
    }


def test_the_document_of_a_dry_run_has_the_same_keys_and_no_run(memory: Path) -> None:
    dry = document("pin", "--entity", "Sprint *", "--dry-run", "--file", memory)
    real = document("pin", "--entity", "Sprint *", "--yes", "--file", memory)
    assert (dry["recorded"], dry["run"], len(real["run"])) == (False, None, 8)
    assert dry["entity_pins"] == real["entity_pins"] == [{"pattern": "Sprint *", "pinned": True, "entities": 2}]


def test_the_document_of_the_list(memory: Path) -> None:
    both = ("--ttl", "1y", "--review-by", "2026-12-01")
    said = memttl("set", "Sprint 11", "sandbox", *both, "--yes", "--file", memory, *NOW).stdout
    assert "nothing set -> review by 2026-12-01, ttl 1 year" in said
    memttl("pin", "--entity", "Sprint *", "--yes", "--file", memory, *NOW)
    memory.write_bytes(entity(["x"], name="Other"))
    found = document("set", "--list", "--file", aged(memory))
    assert list(found) == ["schema", "file", "now", "settings", "entity_pins", "warnings"]
    (row,) = found["settings"]
    assert len(row.pop("digest")) == 64
    settings = {"review_by": "2026-12-01", "ttl": "1 year"}
    assert row == {"entity": "Sprint 11", "observation": SPRINT, "present": False, "settings": settings}
    assert found["entity_pins"] == ["Sprint *"]


def test_the_list_says_what_is_gone_and_what_was_not_kept(memory: Path) -> None:
    memttl("pin", "Sprint 11", "sandbox", "--yes", "--file", memory, *NOW)
    (memory.parent / "memttl.toml").write_text("[audit]\ntext = false\n")
    memttl("pin", "Sprint 11", "WebKit", "--yes", "--file", memory, *NOW)
    memory.write_bytes(entity(["x"], name="Other"))
    shown = memttl("set", "--list", "--file", aged(memory), *NOW).stdout
    assert shown.count("pinned; gone from the file") == 2
    assert SPRINT in shown
    assert "text not kept, SHA-256 " in shown


def test_an_empty_list_says_so(memory: Path) -> None:
    assert memttl("set", "--list", "--file", memory).stdout == f"Nothing is set in {memory}.\n"


def test_unpin_says_what_an_entity_pin_still_holds(memory: Path) -> None:
    memttl("pin", "--entity", "Sprint *", "--yes", "--file", memory, *NOW)
    ended = memttl("unpin", "Sprint 11", "--yes", "--file", memory, *NOW)
    assert ended.returncode == 0
    assert "5 observations stay pinned: 'Sprint 11': its entity was pinned (Sprint *) (5)" in ended.stderr


def test_explain_tells_what_was_set_and_which_entity_pin_holds(memory: Path) -> None:
    memttl("set", "Sprint 11", "sandbox", "--ttl", "9d", "--tier", "session", "--yes", "--file", memory, *NOW)
    explained = memttl("explain", "Sprint 11", "sandbox", "--file", memory, *NOW).stdout
    assert "keep 9 days" in explained
    assert "+ set ttl: 9 days: set" in explained
    memttl("pin", "Sprint 11", "sandbox", "--yes", "--file", memory, *NOW)
    assert "+ set pin: set" in memttl("explain", "Sprint 11", "sandbox", "--file", memory, *NOW).stdout
    memttl("pin", "--entity", "Sprint *", "--yes", "--file", memory, *NOW)
    explained = memttl("explain", "Sprint 11", "WebKit", "--file", memory, *NOW).stdout
    assert "keep: its entity was pinned (Sprint *)" in explained
    assert "+ set pin of the entity: Sprint *: set" in explained


def test_a_pin_holds_against_a_prune_that_would_remove_it(memory: Path) -> None:
    memttl("pin", "Sprint 11", "--yes", "--file", memory, *NOW)
    plan = document("prune", "--yes", "--file", memory)
    assert plan["applied"]
    assert "Sprint 11" not in {verdict["entity"] for verdict in plan["removed"]}
    assert SPRINT in memory.read_text()


def test_quiet_says_nothing(memory: Path) -> None:
    ended = memttl("pin", "Sprint 11", "--yes", "--quiet", "--file", memory, *NOW)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
