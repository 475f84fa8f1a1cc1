"""The audit log without what is to be forgotten: its chain holds, its frame stays, and nothing tells of it any more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import entity, relation

from memttl.core.chain import FIRST, check, digest_of, event_of, line_of
from memttl.core.digests import text_digest
from memttl.core.forgetting import Targets, targets_of
from memttl.core.forgetting_log import log_without, met_in_log
from memttl.core.mentions import mentions_of
from memttl.core.records import raw_fields
from memttl.core.selection import Choice

SECRET = json.dumps("the secret")
BEGIN = {"event": "begin", "run": "ab", "command": "prune", "file": "secret.jsonl"}
END = {"event": "end", "run": "ab", "applied": True}


def log(*events: dict[str, Any]) -> bytes:
    """A log of these events, chained."""
    before, lines = FIRST, []
    for event in events:
        lines.append(line_of({"v": 1, **event, "prev": before}) + b"\n")
        before = digest_of(lines[-1][:-1])
    return b"".join(lines)


def removed(raw: str = SECRET, *, name: str = "E", kind: str = "removed", **more: Any) -> dict[str, Any]:
    return {"event": kind, "run": "ab", "entity": name, **raw_fields(raw, with_text=True), **more}


def setting(text: str = "the secret", *, name: str = "E") -> dict[str, Any]:
    about = {"entity": name, "digest": text_digest(text), "raw": json.dumps(text)}
    return {"event": "set", "run": "cd", "time": "2026-06-01T12:00:00.000Z", **about, "settings": {"pinned": True}}


def targets(data: bytes, name: str, text: str | None = "secret") -> Targets:
    choice = Choice(name, text)
    _, met = met_in_log(data, lambda found: found == name, choice.matcher())
    whole = [name] if text is None else []
    return targets_of(met, whole, whole, mentions_of(choice, tuple(whole)))


def without(data: bytes, name: str = "E", text: str | None = "secret") -> list[dict[str, Any]]:
    """The events that are left; the chain must hold over them."""
    left = log_without(data, targets(data, name, text)).data
    assert check(data).broken is None
    assert check(left).broken is None
    assert left.count(b"\n") == data.count(b"\n")
    return [event_of(line) or {} for line in left.splitlines()]


@pytest.mark.parametrize("kind", ["removed", "restored", "removed_again"])
def test_of_what_was_removed_the_text_goes_and_the_digest_stays(kind: str) -> None:
    events = without(log(BEGIN, removed(kind=kind), removed('"kept"', kind=kind), END))
    assert [e["event"] for e in events] == ["begin", kind, kind, "end"]
    assert "raw" not in events[1]
    assert events[1]["raw_digest"] == text_digest(SECRET)
    assert events[2]["raw"] == '"kept"'


def test_what_was_set_for_it_becomes_a_stub() -> None:
    events = without(log(BEGIN, removed(), END, setting(), setting("kept")))
    assert [e["event"] for e in events[3:]] == ["erased", "set"]
    assert "secret" not in json.dumps(events[1:])


def test_a_setting_known_by_its_digest_alone_becomes_a_stub() -> None:
    bare = {key: value for key, value in setting().items() if key != "raw"}
    assert without(log(removed(), bare))[1]["event"] == "erased"


def test_of_another_entity_all_stays() -> None:
    data = log(BEGIN, removed(), removed(name="F"), setting(name="F"), END)
    events = without(data)
    assert events[2:] == [event_of(line) for line in data.splitlines()[2:]]


def test_of_a_whole_entity_every_line_that_names_it_becomes_a_stub_but_no_begin_or_end() -> None:
    lines = [
        removed(entity([], name="E").decode(), kind="removed_entity"),
        removed(relation("F", "E").decode(), name="F", kind="removed_relation"),
        {"event": "set", "run": "ef", "entity_pin": "E", "settings": {"pinned": True}},
        removed('"x"', name="F"),
    ]
    events = without(log(BEGIN, removed('"a"'), *lines, END), text=None)
    kinds = [e["event"] for e in events]
    assert kinds == ["begin", "erased", "erased", "removed_relation", "erased", "removed", "end"]
    assert "raw" not in events[3]
    assert events[5]["raw"] == '"x"'


@pytest.mark.parametrize("kind", ["removed_entity", "restored_entity", "removed_line", "quarantined"])
def test_a_whole_line_that_holds_it_goes(kind: str) -> None:
    assert "raw" not in without(log(removed(entity(["a", "the secret"]).decode(), kind=kind)))[0]


def test_bytes_that_no_parser_reads_go_where_they_hold_it() -> None:
    data = log(removed(), removed('}}"a secret\udcff', kind="quarantined"), removed("}}\x00", kind="quarantined"))
    events = without(data)
    assert ["raw" in event for event in events] == [False, False, True]


def test_a_torn_line_that_holds_it_becomes_a_stub_and_another_one_stays() -> None:
    data = log(removed())
    torn = b'{"v":1,"event":"removed","raw":"\\"the secr'
    before = digest_of(data[:-1])
    kept = b'{"torn'
    following = line_of({"v": 1, **END, "prev": digest_of(kept, digest_of(torn, before))}) + b"\n"
    data += torn + b"\n" + kept + b"\n" + following
    left = log_without(data, targets(data, "E", "secr")).data
    assert check(left).broken is None
    assert left.splitlines()[2] == kept
    assert b"secr" not in left


def test_a_torn_last_line_stays_torn() -> None:
    data = log(removed()) + b'{"v":1,"ev'
    assert log_without(data, targets(data, "E")).data.endswith(b'\n{"v":1,"ev')


def test_a_second_forget_finds_stubs_and_leaves_them() -> None:
    data = log(BEGIN, removed(), setting(), END)
    once = log_without(data, targets(data, "E"))
    assert once.changed == 2
    assert log_without(once.data, targets(data, "E")) == (once.data, 0)


def test_common_words_of_the_log_itself_are_no_reason_to_erase_a_line() -> None:
    data = log(BEGIN, removed('"a prune"'), removed('"kept"', tier="prune"), END)
    events = without(data, text="prune")
    assert [e["event"] for e in events] == ["begin", "removed", "removed", "end"]
    assert [("raw" in e) for e in events] == [False, False, True, False]


def test_an_arrival_of_it_becomes_a_stub_and_that_of_other_texts_stays() -> None:
    came = {"event": "arrived", "run": "a1", "entity": "E", "at": "2026-06-01T12:00:00Z"}
    both = {**came, "digests": [text_digest("other"), text_digest("the secret")]}
    data = log(removed(), both, {**came, "digests": [text_digest("other")]})
    assert [event["event"] for event in without(data)] == ["removed", "erased", "arrived"]
    assert check(log_without(data, targets(data, "E")).data).broken is None
