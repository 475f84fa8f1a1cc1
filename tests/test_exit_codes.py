"""Every exit code of SPEC section 6 by a whole process, with the words and the document that go with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from process import FIXTURES, Terminal, aged, copy_of, error_of, memttl
from support import entity

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def test_0_nothing_to_do(memory: Path) -> None:
    ended = memttl("prune", "--yes", "--file", memory, "--now", "2026-01-01")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_0_applied(memory: Path) -> None:
    ended = memttl("prune", "--yes", "--file", memory, *NOW)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Removed 7 of 63 observations" in ended.stdout


def test_2_without_terminal_and_yes_nothing_is_done(memory: Path) -> None:
    ended = memttl("prune", "--file", memory, *NOW)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--yes" in ended.stderr
    assert "--dry-run" in ended.stderr
    assert memory.read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--entity", "sprint 11"], ["'sprint 11'", 'did you mean "Sprint 11"?']),
        (["--tier", "sesion"], ["'sesion'", 'did you mean "session"?', "session, operational, permanent"]),
        (["--now", "2026-02-30"], ["--now '2026-02-30' cannot be read"]),
        (["--now", ""], ["--now '' cannot be read"]),
        (["--policy", ""], ["--policy was given an empty path"]),
        (["--nosuch"], ["--nosuch", "memttl prune --help"]),
    ],
)
def test_2_words_that_mean_nothing(memory: Path, options: list[str], words: list[str]) -> None:
    ended = memttl("prune", "--dry-run", "--file", memory, *NOW, *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert all(word in ended.stderr for word in words), ended.stderr


def test_2_empty_file_option() -> None:
    assert "--file was given an empty path" in memttl("prune", "--dry-run", "--file", "").stderr


def test_2_explain_of_an_unknown_entity(memory: Path) -> None:
    ended = memttl("explain", "Sprint 12", "--file", memory, *NOW)
    assert ended.returncode == 2
    assert 'did you mean "Sprint 1' in ended.stderr


@pytest.mark.parametrize("text", ["data/memory.jsonl", "~/memory.jsonl"])
def test_2_server_path_that_is_not_absolute_is_told_in_both_readings(tmp_path: Path, text: str) -> None:
    ended = memttl("prune", "--dry-run", env={"MEMORY_FILE_PATH": text, "HOME": str(tmp_path)}, cwd=tmp_path)
    assert ended.returncode == 2
    assert "dist/ folder" in ended.stderr
    assert str(tmp_path / text.removeprefix("~/")) in ended.stderr


def test_2_a_now_after_the_clock_is_not_asked_about_but_needs_yes(memory: Path) -> None:
    ended = Terminal("prune", "--file", memory, "--now", "2099-01-01").end()
    assert ended.code == 2
    assert "lies after the clock" in ended.screen
    assert memttl("prune", "--yes", "--file", memory, "--now", "2099-01-01").returncode == 0


def test_3_check_found_work(memory: Path) -> None:
    assert memttl("prune", "--check", "--file", memory, *NOW).returncode == 3


def test_0_check_found_none(memory: Path) -> None:
    assert memttl("prune", "--check", "--file", memory, "--now", "2026-01-01").returncode == 0


@pytest.fixture
def too_much(tmp_path: Path) -> Path:
    """20 observations, of which 11 have expired."""
    texts = [f"[session] 2026-01-05: {i}" for i in range(11)] + [f"note {i}" for i in range(9)]
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(texts))
    return aged(path)


@pytest.mark.parametrize("how", ["--dry-run", "--yes", "--check"])
def test_4_a_limit_refuses_the_whole_plan(too_much: Path, how: str) -> None:
    before = too_much.read_bytes()
    ended = memttl("prune", how, "--file", too_much, *NOW)
    assert ended.returncode == 4
    assert "11 of 20 observations would go (55%)" in ended.stdout
    assert "--force" in ended.stdout
    assert too_much.read_bytes() == before


def test_4_prints_the_plan_document_with_its_refusals(too_much: Path) -> None:
    document = json.loads(memttl("prune", "--yes", "--json", "--file", too_much, *NOW).stdout)
    assert not document["applied"]
    assert len(document["removed"]) == 11
    assert "max_prune_fraction" in document["refusals"][0]


def test_4_is_lifted_by_force(too_much: Path) -> None:
    document = json.loads(memttl("prune", "--yes", "--force", "--json", "--file", too_much, *NOW).stdout)
    assert (document["applied"], document["refusals"]) == (True, [])


def test_4_count_limit(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"[session] 2026-01-05: {i}" for i in range(3)] + ["x"] * 17))
    (tmp_path / "memttl.toml").write_text("[limits]\nmax_prune_count = 2\n")
    ended = memttl("prune", "--dry-run", "--file", path, *NOW)
    assert ended.returncode == 4
    assert "max_prune_count = 2" in ended.stdout


def test_65_names_every_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\n".join([entity(["a"]), b'{"type":"entity"', entity(["b"]), b"{}{}", b'{"a":NaN}']))
    ended = memttl("prune", "--yes", "--file", aged(path), *NOW)
    assert ended.returncode == 65
    assert all(f"line {n}, column" in ended.stderr for n in (2, 4, 5))
    assert "line 1" not in ended.stderr
    assert "--keep-malformed" in ended.stderr


@pytest.mark.parametrize(
    ("fixture", "words"),
    [
        ("chat-log", "lines have no type"),
        ("empty-object-alone", "empty JSON object"),
        ("gzip", "compressed with gzip"),
        ("one-line-array", "one JSON array"),
        ("one-line-graph-object", "one JSON document with entities and relations"),
        ("pretty-printed-array", "one JSON array"),
        ("think-tank-underscore-type", "_type"),
        ("utf-16-le-with-bom", "UTF-16"),
    ],
)
def test_65_each_kind_of_foreign_file_has_its_own_message(tmp_path: Path, fixture: str, words: str) -> None:
    path = copy_of(FIXTURES / f"memory/{fixture}.jsonl", tmp_path)
    error = error_of(memttl("prune", "--yes", "--json", "--file", path, *NOW))
    assert (error["code"], error["name"]) == (65, "Foreign")
    assert words in error["message"]


def test_66_no_memory_file_is_named() -> None:
    ended = memttl("prune", "--dry-run")
    assert ended.returncode == 66
    assert all(word in ended.stderr for word in ("--file", "MEMTTL_FILE", "MEMORY_FILE_PATH"))


def test_66_says_where_it_looked(tmp_path: Path) -> None:
    error = error_of(memttl("prune", "--dry-run", "--json", "--file", tmp_path / "none.jsonl"))
    assert error["code"] == 66
    assert str(tmp_path / "none.jsonl") in error["message"]


@pytest.mark.parametrize("name", ["", ".memttl-link", "pipe", "/dev/null"])
def test_66_what_is_no_regular_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".memttl-link").symlink_to(".memttl-link")
    assert memttl("prune", "--dry-run", "--file", tmp_path / name, timeout=10).returncode == 66


def test_66_a_relative_path_in_a_folder_that_is_gone() -> None:
    words = 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$@"'
    for name in ("FILE", "MEMORY_FILE_PATH"):
        env = {f"MEMTTL_{name}" if name == "FILE" else name: "memory.jsonl"}
        assert memttl("prune", "--dry-run", env=env, shell=words).returncode == 66


def test_78_tells_all_problems_at_once(memory: Path) -> None:
    (memory.parent / "memttl.toml").write_text('default_teir = "x"\n[tiers]\nsession = "0d"\n')
    error = error_of(memttl("prune", "--dry-run", "--json", "--file", memory, *NOW))
    assert (error["code"], error["name"]) == (78, "BadPolicy")
    assert 'did you mean "default_tier"?' in error["message"]
    assert "tiers.session" in error["message"]


def test_130_ctrl_c_at_the_question(memory: Path) -> None:
    terminal = Terminal("prune", "--file", memory, *NOW)
    terminal.read_until("[y/N]")
    terminal.type("\x03")
    ended = terminal.end()
    assert ended.code == 130
    assert "Interrupted; the memory file is as it was." in ended.screen
    assert os.listdir(memory.parent) == ["memory.jsonl"]


def test_130_document_of_ctrl_c(memory: Path) -> None:
    terminal = Terminal("prune", "--json", "--file", memory, *NOW, piped=True)
    terminal.read_until("[y/N]")
    terminal.type("\x03")
    assert json.loads(terminal.end().stdout)["error"]["name"] == "Interrupted"


def test_several_files_are_all_done_and_the_highest_code_is_returned(tmp_path: Path) -> None:
    files = [copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2)]
    damaged = copy_of(FIXTURES / "memory/nan-number.jsonl", tmp_path, name="0.jsonl")
    ended = memttl("prune", "--yes", "--json", "--file", tmp_path / "*.jsonl", "--file", tmp_path / "none", *NOW)
    document = json.loads(ended.stdout)
    assert ended.returncode == 66
    assert list(document) == ["schema", "files"]
    assert [d["file"] for d in document["files"]] == [str(p) for p in (damaged, *files, tmp_path / "none")]
    assert [d.get("applied") for d in document["files"]] == [None, True, True, None]
    assert [d["error"]["code"] for d in document["files"] if "error" in d] == [65, 66]


def test_one_file_by_two_names_is_done_once(memory: Path) -> None:
    link = memory.with_name("link.jsonl")
    link.symlink_to(memory.name)
    ended = memttl("prune", "--yes", "--json", "--file", memory, "--file", link, "--file", memory, *NOW)
    document = json.loads(ended.stdout)
    assert (document["file"], document["applied"]) == (str(memory), True)


def test_glob_that_matches_nothing_is_told(tmp_path: Path) -> None:
    ended = memttl("prune", "-n", "--file", tmp_path / "*.jsonl")
    assert (ended.returncode, "*.jsonl" in ended.stderr) == (66, True)


def test_glob_that_matches_nothing_does_not_stop_the_others(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text('{"type":"entity","name":"E","entityType":"t","observations":["x"]}', encoding="utf-8")
    ended = memttl("prune", "-n", "--json", "--file", path, "--file", tmp_path / "zz*")
    assert ended.returncode == 66
    assert [set(d) >= {"counts"} for d in json.loads(ended.stdout)["files"]] == [True, False]


def test_name_with_the_letters_of_a_glob_is_a_name_where_such_a_file_lies(tmp_path: Path) -> None:
    path = copy_of(EXAMPLE, tmp_path, name="memory[1].jsonl")
    assert memttl("prune", "--dry-run", "--file", path, *NOW).returncode == 0


def test_0_without_a_word_the_help() -> None:
    ended = memttl()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "prune" in ended.stdout


def test_66_of_a_missing_file_tells_of_its_backups(memory: Path) -> None:
    run = json.loads(memttl("prune", "--yes", "--json", "--file", memory, *NOW).stdout)["run"]
    memory.unlink()
    for command in (["report"], ["prune", "--dry-run"], ["explain"]):
        ended = memttl(*command, "--file", memory)
        assert ended.returncode == 66
        assert f"memttl backups restore {run} --file {memory}" in ended.stderr


def test_66_of_a_missing_folder_tells_how_to_write_a_backup_elsewhere(memory: Path) -> None:
    state = {"MEMTTL_STATE_DIR": str(memory.parent / "state")}
    folder = memory.parent / "gone"
    folder.mkdir()
    moved = aged(memory.rename(folder / "memory.jsonl"))
    run = json.loads(memttl("prune", "--yes", "--json", "--file", moved, *NOW, env=state).stdout)["run"]
    for path in (moved, folder / ".memttl/memory.jsonl/lock", folder / ".memttl/.gitignore"):
        path.unlink()
    for path in sorted((folder / ".memttl/memory.jsonl").iterdir()):
        path.unlink()
    for path in (folder / ".memttl/memory.jsonl", folder / ".memttl", folder):
        path.rmdir()
    for command in (["undo", "--yes"], ["backups", "restore", "latest", "--yes"], ["report"]):
        ended = memttl(*command, "--file", moved, env=state)
        assert ended.returncode == 66, ended.stderr
        assert f"memttl backups show {run} --raw" in ended.stderr
    assert memttl("backups", "show", run, "--raw", "--file", moved, env=state).stdout == EXAMPLE.read_text("utf-8")


def test_2_an_empty_backup_is_not_the_latest(memory: Path) -> None:
    memttl("prune", "--yes", "--file", memory, *NOW)
    memory.write_bytes(b"")
    assert memttl("undo", "--yes", "--file", aged(memory)).returncode == 0  # whose backup is an empty file
    assert memttl("backups", "restore", "latest", "--yes", "--file", memory).returncode == 0
    assert memory.read_bytes() == EXAMPLE.read_bytes()
