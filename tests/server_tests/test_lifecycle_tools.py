"""The tools that the stock memory server lacks: prune, report_stale, set_lifecycle, undo_prune."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called import Called, served
from process import memttl, tree
from pruning import events_of, state_folder
from support import entity, relation

from memttl.errors import BadPolicy
from memttl.server.tools import TOOLS

OLD, NEW, SOON = "old [expires 2026-01-01]", "new", "soon [expires 2026-06-10]"
TIERS = '[tiers]\nwork = "10d"\n'
ANNOTATIONS = {tool.name: tool.listed()["annotations"] for tool in TOOLS}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD, NEW], name="A") + b"\n" + entity([SOON, OLD], name="B", kind="task") + b"\n")
    return path


@pytest.fixture
def call(path: Path) -> Iterator[Called]:
    with served(path, policy=TIERS) as called:
        yield called


def texts(path: Path) -> list[str]:
    """All observations of the file, whatever a read shows."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('{"type"')]
    return [text for line in lines for text in line.get("observations", ())]


def item(**words: object) -> list[dict[str, object]]:
    return [{"entityName": "A", **words}]


def test_prune_without_confirm_lists_what_would_go_and_why_and_writes_nothing(call: Called, path: Path) -> None:
    before = tree(path.parent)
    found = call("prune")
    assert [(row["entityName"], row["observation"], row["reason"]) for row in found["removed"]] == [
        ("A", OLD, "expires 2026-01-01; that day has passed"),
        ("B", OLD, "expires 2026-01-01; that day has passed"),
    ]
    assert (found["applied"], found["run"], found["counts"]["removed"]) == (False, None, 2)
    assert "confirm" in found["message"]
    assert (tree(path.parent), call.changed) == (before, 0)


def test_prune_with_confirm_removes_it_and_tells_the_client_of_the_change(call: Called, path: Path) -> None:
    found = call("prune", confirm=True)
    assert (texts(path), found["applied"], call.changed) == ([NEW, SOON], True, 1)
    assert events_of(path)[-1]["run"] == found["run"]
    assert found["run"] in found["message"]


def test_prune_is_narrowed_by_entities_types_and_tiers(call: Called) -> None:
    assert call("prune", entities=["B"])["counts"]["removed"] == 1
    assert call("prune", types=["task"])["removed"][0]["entityName"] == "B"
    assert call("prune", tiers=["work"])["counts"]["removed"] == 0
    assert "Its tiers are: " in call.error("prune", tiers=["wrk"], confirm=True)


def test_prune_beyond_a_limit_is_an_answer_that_says_the_limit_and_what_to_do(call: Called, path: Path) -> None:
    path.write_bytes(entity([f"{n} [expires 2026-01-01]" for n in range(30)]))
    found = call("prune", confirm=True)
    assert "max_prune_fraction" in found["refusals"][0]
    assert "memttl prune --force" in found["message"]
    assert (found["applied"], len(texts(path)), call.changed) == (False, 30, 0)


def test_no_argument_lifts_a_limit(call: Called, path: Path) -> None:
    path.write_bytes(entity([f"{n} [expires 2026-01-01]" for n in range(30)]))
    assert call("prune", confirm=True, force=True)["applied"] is False


def test_long_list_is_cut_and_counts_tell_of_all(call: Called, path: Path) -> None:
    (path.parent / "memttl.toml").write_text("[limits]\nmax_prune_fraction = 1.0\n", encoding="utf-8")
    path.write_bytes(entity([f"{n} [expires 2026-01-01]" for n in range(130)]))
    found = call("prune")
    assert (len(found["removed"]), found["left_out"], found["counts"]["removed"]) == (100, 30, 130)


def test_long_texts_end_the_list_earlier(call: Called, path: Path) -> None:
    path.write_bytes(entity([f"{n} {'x' * 25_000} [expires 2026-01-01]" for n in range(10)]))
    found = call("prune")
    assert (len(found["removed"]), found["left_out"]) == (2, 8)


def test_damaged_line_stays_byte_for_byte_and_is_told(call: Called, path: Path) -> None:
    path.write_bytes(b'{"type":"entity"\n' + path.read_bytes())
    found = call("prune", confirm=True)
    assert path.read_bytes().startswith(b'{"type":"entity"\n')
    assert found["counts"]["removed"] == 2
    assert "line 1, column" in found["warnings"][0]


def test_nothing_is_pruned_while_the_policy_cannot_be_used(call: Called, path: Path) -> None:
    call.bad_policy = BadPolicy("memttl.toml", ("no TOML",))
    assert "memttl.toml has 1 problem" in call.error("prune", confirm=True)
    assert len(texts(path)) == 4


def test_missing_file_is_an_empty_memory(tmp_path: Path) -> None:
    with served(tmp_path / "memory.jsonl") as call:
        assert call("prune", confirm=True)["counts"]["observations"] == 0
        assert call("report_stale")["stale"] == []
        assert call("undo_prune")["applied"] is False
        assert "No entity is named 'A'" in call.error("set_lifecycle", items=item(pin=True))
    assert list(tmp_path.iterdir()) == []


def test_report_tells_what_expired_what_will_and_what_is_to_be_reviewed(call: Called, path: Path) -> None:
    path.write_bytes(path.read_bytes() + entity(["[permanent] look (review by 2026-05-01)"], name="C") + b"\n")
    before = tree(path.parent)
    found = call("report_stale", within=30)
    assert {(row["entityName"], row["status"]) for row in found["stale"]} == {
        ("A", "expired"), ("B", "expired"), ("B", "due"), ("C", "review")
    }  # fmt: skip
    assert found["counts"] == {"observations": 5, "expired": 2, "due": 1, "review": 1}
    assert (tree(path.parent), call.changed) == (before, 0)


def test_report_is_narrowed_and_its_window_moved(call: Called) -> None:
    assert call("report_stale", within="2d")["counts"]["due"] == 0
    assert call("report_stale", expire_before="2026-06-20", entities=["B"])["counts"]["due"] == 1
    assert call("report_stale", within="never")["until"] is None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"within": 3, "expire_before": "2026-07-01"}, "both say"),
        ({"within": "soon"}, "within 'soon' cannot be read"),
        ({"expire_before": "soon"}, "expire_before 'soon' cannot be read"),
        ({"tiers": ["wrk"]}, "no tier 'wrk'"),
    ],
)
def test_report_says_what_it_cannot_read(call: Called, words: dict[str, object], why: str) -> None:
    assert why in call.error("report_stale", **words)


def test_lifecycle_of_one_text_is_set_and_the_file_is_not_touched(call: Called, path: Path) -> None:
    before = path.read_bytes()
    found = call("set_lifecycle", items=item(observation=NEW, ttl=5))
    (row,) = found["changed"]
    assert (row["observation"], row["expires_at_before"], row["expires_at"]) == (NEW, None, "2026-06-06T12:00:00Z")
    assert (found["matched"], path.read_bytes(), call.changed) == ([1], before, 1)
    assert call("report_stale")["counts"]["due"] == 2


def test_part_of_a_text_means_all_that_hold_it_and_their_number_is_told(call: Called, path: Path) -> None:
    path.write_bytes(entity(["one Thing", "two things", "other"], name="A"))
    found = call("set_lifecycle", items=item(contains="thing", decay="work"))
    assert (found["matched"], [row["tier"] for row in found["changed"]]) == ([2], ["work", "work"])


def test_renewal_lasts_from_now_on_for_the_ttl_of_the_tier_or_as_long_as_is_said(call: Called) -> None:
    call("set_lifecycle", items=item(observation=NEW, decay="work"))
    call.now = "2026-06-08T12:00:00Z"
    (row,) = call("set_lifecycle", items=item(observation=NEW, renew=True))["changed"]
    assert (row["expires_at_before"], row["expires_at"]) == ("2026-06-11T12:00:00Z", "2026-06-18T12:00:00Z")
    (row,) = call("set_lifecycle", items=item(observation=NEW, renew="3d"))["changed"]
    assert row["expires_at"] == "2026-06-11T12:00:00Z"


def test_expired_text_that_is_renewed_is_shown_again(call: Called) -> None:
    shown = call("open_nodes", names=["A"])["entities"][0]["observations"]
    call("set_lifecycle", items=item(observation=OLD, renew=7))
    assert shown == [NEW]
    assert call("open_nodes", names=["A"])["entities"][0]["observations"] == [OLD, NEW]


def test_pin_alone_pins_the_entity_with_all_that_comes_later(call: Called) -> None:
    found = call("set_lifecycle", items=item(pin=True))
    assert found["entities"] == [{"entityName": "A", "pinned": True}]
    assert [row["entityName"] for row in call("prune")["removed"]] == ["B"]
    assert call("set_lifecycle", items=item(pin=False))["entities"] == [{"entityName": "A", "pinned": False}]
    assert len(call("prune")["removed"]) == 2


def test_pin_that_goes_is_reckoned_with_in_the_same_call(call: Called) -> None:
    call("set_lifecycle", items=item(pin=True))
    found = call("set_lifecycle", items=[*item(pin=False), *item(observation=NEW, ttl=5)])
    assert [(row["pinned"], row["expires_at"]) for row in found["changed"]] == [(False, "2026-06-06T12:00:00Z")]


def test_clear_takes_away_what_was_set_before(call: Called) -> None:
    call("set_lifecycle", items=item(observation=NEW, expires="2026-07-01", pin=True))
    (row,) = call("set_lifecycle", items=item(observation=NEW, clear=True, pin=False))["changed"]
    assert (row["expires_at"], row["pinned"]) == (None, False)


def test_later_item_counts_more_for_the_same_text(call: Called) -> None:
    items = [*item(observation=NEW, ttl=5, pin=True), *item(contains="new", ttl=6)]
    (row,) = call("set_lifecycle", items=items)["changed"]
    assert row["pinned"] is True
    (row,) = call("set_lifecycle", items=item(observation=NEW, pin=False))["changed"]
    assert row["expires_at"] == "2026-06-07T12:00:00Z"


def test_dry_run_of_a_change_records_nothing(call: Called, path: Path) -> None:
    before = tree(path.parent)
    found = call("set_lifecycle", items=item(observation=NEW, ttl=5), dry_run=True)
    assert (len(found["changed"]), found["applied"], call.changed) == (1, False, 0)
    assert tree(path.parent) == before


def test_lifecycle_is_set_beside_a_damaged_line(call: Called, path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"{")
    found = call("set_lifecycle", items=item(observation=NEW, ttl=5))
    assert found["applied"]
    assert "the memory server cannot read" in found["warnings"][0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"entityName": "*", "contains": "n", "ttl": 5}, "A glob is not taken here"),
        ({"entityName": "C", "contains": "n", "ttl": 5}, "No entity is named 'C'"),
        ({"observation": "ne", "ttl": 5}, "'A' has no observation with the text 'ne'"),
        ({"contains": "zzz", "ttl": 5}, "that holds 'zzz'"),
        ({"contains": "", "ttl": 5}, "every text contains"),
        ({"observation": NEW, "contains": "n", "ttl": 5}, "items[1] names one observation and a part"),
        ({"observation": NEW}, "items[1] sets nothing"),
        ({"ttl": 5}, "an entity can only be pinned"),
        ({"renew": True}, "an entity can only be pinned"),
        ({"observation": NEW, "decay": "wrk"}, "items[1].decay knows no tier 'wrk' (did you mean \"work\"?)"),
        ({"observation": NEW, "tier": "wrk"}, "items[1].tier knows no tier"),
        ({"observation": NEW, "tier": "work", "decay": "session"}, "tier and decay are one thing"),
        ({"observation": NEW, "ttl": "long"}, "items[1].ttl 'long' cannot be read"),
        ({"observation": NEW, "renew": "long"}, "items[1].renew 'long' cannot be read"),
        ({"observation": NEW, "renew": True, "expires": "2026-07-01"}, "renew and expires both say"),
        ({"observation": NEW, "renew": True}, "in a tier that never expires"),
    ],
)
def test_item_that_cannot_be_done_is_an_error_and_the_others_are_not_done(
    call: Called, path: Path, words: dict[str, object], why: str
) -> None:
    before = tree(path.parent)
    items = [{"entityName": "B", "contains": "soon", "ttl": 9}, {"entityName": "A", **words}]
    assert why in call.error("set_lifecycle", items=items)
    assert (tree(path.parent), call.changed) == (before, 0)


def test_entity_whose_name_would_mean_others_is_not_pinned(call: Called, path: Path) -> None:
    path.write_bytes(entity([NEW], name="A*") + b"\n" + entity([NEW], name="AB"))
    items = [{"entityName": "A*", "pin": True}]
    assert "by which a pin would mean other entities" in call.error("set_lifecycle", items=items)


def test_undo_puts_back_what_the_last_prune_removed_and_pins_it(call: Called, path: Path) -> None:
    run = call("prune", confirm=True)["run"]
    found = call("undo_prune")
    assert (found["undoes"], found["applied"], found["pinned"], call.changed) == (run, True, 2, 2)
    assert sorted(row["observation"] for row in found["restored"]) == [OLD, OLD]
    assert (len(texts(path)), call("prune")["removed"]) == (4, [])


def test_undo_puts_back_what_a_client_deleted_with_entity_and_relations(call: Called, path: Path) -> None:
    path.write_bytes(path.read_bytes() + relation("A", "B") + b"\n")
    before = call("read_graph", exclude_expired=False)
    call("delete_entities", entityNames=["A"])
    found = call("undo_prune")
    assert sorted(found["lines"]) == ["a relation of A", "the entity A"]
    after = call("read_graph", exclude_expired=False)
    assert sorted(map(str, after["entities"])) == sorted(map(str, before["entities"]))
    assert after["relations"] == before["relations"]


def test_dry_run_of_an_undo_lists_what_would_come_back(call: Called, path: Path) -> None:
    call("prune", confirm=True)
    before = path.read_bytes()
    found = call("undo_prune", dry_run=True)
    assert (found["applied"], len(found["restored"]), path.read_bytes(), call.changed) == (False, 2, before, 1)


def test_undo_without_a_run_leaves_alone_what_a_person_removed(call: Called, path: Path) -> None:
    run = call("prune", confirm=True)["run"]
    log = state_folder(path) / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"command":"prune"', b'"command":"review"'))
    assert call("undo_prune", dry_run=True)["undoes"] is None
    assert call("undo_prune", run=run, dry_run=True)["undoes"] == run


def test_undo_that_would_take_something_out_is_a_persons(call: Called, path: Path) -> None:
    call("prune", confirm=True)
    undone = call("undo_prune")["run"]
    for dry_run in (True, False):
        assert f"`memttl undo {undone}`" in call.error("undo_prune", run=undone, dry_run=dry_run)
    assert len(texts(path)) == 4


def test_command_undoes_what_the_tool_pruned(call: Called, path: Path) -> None:
    run = call("prune", confirm=True)["run"]
    assert memttl("undo", run, "--yes", "--file", path).returncode == 0
    assert len(texts(path)) == 4


def test_what_was_just_added_is_known_to_all_of_them(call: Called) -> None:
    call("add_observations", observations=[{"entityName": "A", "contents": ["fresh"], "ttl": 3}])
    (row,) = call("set_lifecycle", items=item(observation="fresh", pin=True))["changed"]
    assert row["expires_at_before"] == "2026-06-04T12:00:00Z"


@pytest.mark.parametrize(
    ("tool", "reads", "destroys", "repeats"),
    [
        ("prune", False, True, True),
        ("report_stale", True, False, True),
        ("set_lifecycle", False, True, False),
        ("undo_prune", False, False, False),
    ],
)
def test_hints_are_true(tool: str, reads: bool, destroys: bool, repeats: bool) -> None:
    assert ANNOTATIONS[tool] == {
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": repeats,
        "openWorldHint": False,
    }


def test_what_is_said_last_counts(call: Called) -> None:
    call("set_lifecycle", items=item(observation=NEW, ttl="300d"))
    (row,) = call("set_lifecycle", items=item(observation=NEW, decay="work"))["changed"]
    assert (row["tier"], row["reason"].partition(";")[0]) == ("work", "set to work notes keep 10 days")


def test_ttl_counts_from_now_and_not_from_the_birth(call: Called) -> None:
    (row,) = call("set_lifecycle", items=item(observation=OLD, ttl=2))["changed"]
    assert row["expires_at"] == "2026-06-03T12:00:00Z"


def test_answer_says_what_is_hidden_at_once(call: Called) -> None:
    found = call("set_lifecycle", items=item(observation=NEW, expires="2026-05-01"))
    assert any("hidden at once" in warning for warning in found["warnings"])


def test_renewal_in_a_tier_that_never_expires_lasts_as_long_as_was_set(call: Called) -> None:
    call("add_observations", observations=[{"entityName": "A", "contents": ["brief"], "ttl": 3}])
    for day in (2, 4):
        call.now = f"2026-06-0{day}T12:00:00Z"
        (row,) = call("set_lifecycle", items=item(observation="brief", renew=True))["changed"]
        assert row["expires_at"] == f"2026-06-0{day + 3}T12:00:00Z"


def test_renewal_of_an_expiry_lasts_as_long_as_from_birth_to_it(call: Called) -> None:
    brief = {"entityName": "A", "contents": ["brief"], "expires": "2026-06-05T12:00:00Z"}
    call("add_observations", observations=[brief])
    call.now = "2026-06-02T12:00:00Z"
    (row,) = call("set_lifecycle", items=item(observation="brief", renew=True))["changed"]
    assert row["expires_at"] == "2026-06-06T12:00:00Z"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("prune", {"confirm": True}),
        ("set_lifecycle", {"items": item(observation=NEW, expires="2026-05-01")}),
        ("delete_observations", {"deletions": [{"entityName": "A", "observations": [NEW]}]}),
        ("delete_entities", {"entityNames": ["A"]}),
        ("report_stale", {}),
        ("undo_prune", {}),
    ],
)
def test_tool_that_can_hide_or_remove_something_says_so(call: Called, tool: str, arguments: dict[str, Any]) -> None:
    before, shown = texts(call.path), call("read_graph")
    call(tool, **arguments)
    lets_go = len(texts(call.path)) < len(before) or call("read_graph") != shown
    destroys = {t.name: t.hints.destructive for t in TOOLS}
    assert destroys[tool] is lets_go


def test_run_that_is_not_there_is_answered_with_those_that_are(call: Called) -> None:
    assert "There is no run that undo_prune could undo." in call.error("undo_prune", run="0badcafe")
    run = call("prune", confirm=True)["run"]
    told = call.error("undo_prune", run="0badcafe")
    assert "The audit log knows no run '0badcafe'" in told
    assert f"Runs that undo_prune can undo: {run} (prune, " in told
    assert told.endswith(" UTC, removed 2 observations).")


def test_run_that_is_undone_is_not_offered_and_says_by_which(call: Called) -> None:
    run = call("prune", confirm=True)["run"]
    undone = call("undo_prune", run=run)["run"]
    for dry_run in (True, False):
        message = call("undo_prune", run=run[:6], dry_run=dry_run)["message"]
        assert message.endswith(f"is there again; the run {undone} has undone it already.")
    assert run not in call.error("undo_prune", run="0badcafe")


def test_read_that_fails_says_that_nothing_was_read(call: Called, path: Path) -> None:
    path.write_bytes(b'{"role":"user","content":"hi"}\n' * 3)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    told = call.error("read_graph")
    assert "nothing was done" not in told
    assert "nothing was read" in told
