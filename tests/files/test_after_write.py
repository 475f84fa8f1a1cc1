"""What others save after a write of `memttl serve`: who had not seen it is merged, who had is obeyed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pruning import at
from served import Served, add, drop, make, part, relate, take
from strangers import Stranger
from support import entity, relation

from memttl.core.graph_edits import Edit


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file of two entities and a relation."""
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\n".join([entity(["x0", "x1"], name="A"), entity(["y"], name="B"), relation("A", "B")]))
    return path


UNDOES = {
    "text": (take("A", "x0"), add("A", "x0"), b'"x0"'),
    "last text": (take("A", "x1"), add("A", "x1"), b'"x1"'),
    "relation": (part("A", "B"), relate("A", "B"), b'"relation"'),
    "entity": (drop("B"), make("B", "y"), b'"y"'),
}


@pytest.mark.parametrize("case", UNDOES)
def test_what_one_server_deleted_and_another_added_again_stays(memory: Path, case: str) -> None:
    one, other = Served(memory), Served(memory)
    delete, again, text = UNDOES[case]
    one.answer(delete)
    other.answer(again)
    one.answer(make("C", "next"))
    assert text in memory.read_bytes()
    assert (one.told, other.told) == ([], [])


@pytest.mark.parametrize("case", UNDOES)
def test_what_one_server_added_and_another_deleted_stays_away(memory: Path, case: str) -> None:
    one, other = Served(memory), Served(memory)
    delete, again, text = UNDOES[case]
    one.answer(delete)
    one.answer(again)
    other.answer(delete)
    one.answer(make("C", "next"))
    assert text not in memory.read_bytes()


@pytest.mark.parametrize("rest", [False, True])
def test_old_version_that_somebody_puts_back_after_the_answer_stays(
    memory: Path, monkeypatch: pytest.MonkeyPatch, *, rest: bool
) -> None:
    monkeypatch.setattr("memttl.files.served._AFTER_S", 0.0)
    one, old = Served(memory), memory.read_bytes()
    one.answers(add("A", "new"), take("A", "x0"))
    memory.write_bytes(old)
    if rest:
        one.rest()
        assert memory.read_bytes() == old
    else:
        one.answer(make("C", "next"))
        assert memory.read_bytes().startswith(old.split(b"\n")[0])


def served_beside(
    tmp_path: Path, act: Callable[[Stranger], object], edit: Edit, *, step: str = "released", write_path: str = "auto"
) -> tuple[list[str], list[str]]:
    """What the file holds, and what is told, once an edit is written beside a stranger who acts at a step."""
    server = Stranger(tmp_path / "memory.jsonl")
    server.in_place(["x0", "x1"])
    one = Served(server.path, step=at(step, lambda: act(server)), write_path=write_path)  # type: ignore[arg-type]
    one.answer(edit)
    found: list[str] = json.loads(server.path.read_bytes())["observations"]
    return found, one.told


def removes(text: str) -> Callable[[Stranger], None]:
    """A server that has read the new version and takes a text out of it."""
    return lambda server: server.rename(t for t in server.load() if t != text)


def adds(*texts: str) -> Callable[[Stranger], None]:
    """A server that has read the new version and adds texts to it."""
    return lambda server: server.rename([*server.load(), *texts])


@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_deletion_by_who_has_read_the_new_version_stays_and_is_told(tmp_path: Path, write_path: str) -> None:
    found, told = served_beside(tmp_path, removes("ours"), add("a", "ours"), write_path=write_path)
    assert found == ["x0", "x1"]
    assert [text for text in told if "stays as it saved it" in text]


@pytest.mark.parametrize("text", ["x0", "x1"])
@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_addition_by_who_has_read_the_new_version_stays(tmp_path: Path, write_path: str, text: str) -> None:
    found, _ = served_beside(tmp_path, adds(text, "more"), take("a", text), write_path=write_path)
    assert sorted(found) == ["more", "x0", "x1"]


@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_version_that_shows_that_it_was_made_from_the_old_one_is_merged(tmp_path: Path, write_path: str) -> None:
    def late(server: Stranger) -> None:
        server.rename(["x0", "x1", "theirs"])

    assert served_beside(tmp_path, late, take("a", "x0"), write_path=write_path)[0] == ["x1", "theirs"]


def test_late_save_before_the_new_version_is_free_is_merged_whatever_it_holds(tmp_path: Path) -> None:
    def late(server: Stranger) -> None:
        server.rename(["x0"])

    found, told = served_beside(tmp_path, late, add("a", "ours"), step="synced")
    assert found == ["x0", "ours"]
    assert [text for text in told if "saved the version of before" in text]


def test_writer_who_waits_for_the_new_version_is_waited_for(tmp_path: Path) -> None:
    from strangers import behind

    def late(server: Stranger) -> None:
        behind(lambda: server.in_place(["x0", "theirs"]))

    assert served_beside(tmp_path, late, add("a", "ours"), step="synced")[0] == ["x0", "theirs", "ours"]


def test_reader_who_waits_for_the_new_version_is_none_who_writes_it(tmp_path: Path) -> None:
    from strangers import behind

    found, told = served_beside(tmp_path, lambda server: behind(server.load), add("a", "ours"), step="synced")
    assert (found, told) == (["x0", "x1", "ours"], [])
    assert not os.listdir(tmp_path / ".memttl" / "memory.jsonl" / "backups")
