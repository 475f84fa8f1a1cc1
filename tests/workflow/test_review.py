"""The use case review on real files: what is recorded, what goes, and what others do meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import NO_TEXT, asked, changed, pins
from ledgers import numbered, scanned, written
from process import aged, tree
from pruning import events_of, pruned, settings_of, state_folder
from reviewing import LOOK, OLD, OLDER, SOON, led_by, reviewed, three_entities
from support import entity, instant, relation

from memttl.core.model import UserSettings
from memttl.core.review import Dialogue
from memttl.core.review_deck import Deck
from memttl.core.review_outcome import ReviewCounts, ReviewOutcome
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.errors import ClockBehind, Foreign, Malformed, NoPermission, UnknownEntity, UsageError
from memttl.files import audit
from memttl.workflow.review import Request, review

ALL = ("d", "1", "p", "t operational")  # OLDER, OLD, SOON, LOOK
EMPTIES = "[prune]\nremove_empty_entities = true\n"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return three_entities(tmp_path)


def texts(path: Path) -> list[object]:
    """All observations of a file."""
    return [o for line in path.read_bytes().splitlines() for o in json.loads(line).get("observations", [])]


def dropped(outcome: ReviewOutcome) -> list[object]:
    """What went."""
    return [v.observation for v in outcome.removals]


def test_settings_and_drops_are_done_together(memory: Path) -> None:
    outcome = reviewed(memory, *ALL)
    assert texts(memory) == [LOOK, "note", SOON, OLD]
    assert asked(memory) == {
        OLD: UserSettings(expires=instant("2026-07-01T12:00:00Z")),
        SOON: UserSettings(pinned=True),
        LOOK: UserSettings(tier="operational"),
    }
    assert outcome.counts == ReviewCounts(4, 4, renewed=1, pinned=1, tier_changed=1, dropped=1)
    assert outcome.run is not None
    assert Path(str(outcome.backup)).exists()


@pytest.mark.parametrize("policy", ["", '[review]\nwhen_due = "list"\n'])
def test_a_renewal_moves_a_review_day_on_that_was_set_and_is_over(memory: Path, policy: str) -> None:
    memory.write_bytes(entity(["note"], name="A"))
    changed(aged(memory), Wish("set", Choice("A"), review_by="2026-05-20"))
    assert reviewed(memory, "1", policy=policy).counts.renewed == 1
    assert asked(memory) == {"note": UserSettings(review_by=instant("2026-07-01T12:00:00Z"))}
    assert reviewed(memory, policy=policy, within="29d").counts.listed == 0
    assert pruned(memory, policy=policy).plan.removals == ()


def test_both_runs_are_in_the_log_as_reviews(memory: Path) -> None:
    outcome = reviewed(memory, *ALL)
    events = events_of(memory)
    assert [e["command"] for e in events if e["event"] == "set"] == ["review"] * 3
    assert {e["run"] for e in events if e["event"] == "set"} == {outcome.settings_run}
    assert [(e["event"], e.get("command")) for e in events if e.get("run") == outcome.run] == [
        ("begin", "review"),
        ("removed", None),
        ("end", None),
    ]
    (gone,) = [e for e in events if e["event"] == "removed"]
    assert (gone["raw"], gone["reason"][:19]) == (json.dumps(OLDER), "dropped in review; ")
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")


def test_the_backup_is_the_file_as_it_was(memory: Path) -> None:
    before = memory.read_bytes()
    assert Path(str(reviewed(memory, "d").backup)).read_bytes() == before


def test_what_has_not_expired_can_be_dropped_and_what_has_can_stay(memory: Path) -> None:
    assert dropped(reviewed(memory, "s", "s", "d", "d")) == [LOOK, SOON]
    assert texts(memory) == ["note", OLD, OLDER]


def test_a_limit_does_not_hold_back_what_was_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"[session] 2026-01-05: {i}" for i in range(30)]))
    outcome = reviewed(aged(path), *["d"] * 30)
    assert (len(outcome.removals), texts(path)) == (30, [])


def test_a_renewed_one_stays_at_the_next_prune(memory: Path) -> None:
    reviewed(memory, "2")
    assert [v.observation for v in pruned(memory, force=True).plan.removals] == [OLD]


def test_no_settings_leave_no_trace_of_any(memory: Path) -> None:
    assert reviewed(memory, "d").settings_run is None
    assert asked(memory) == {}


def test_no_drop_leaves_the_memory_file_alone(memory: Path) -> None:
    before = (memory.read_bytes(), memory.stat().st_mtime_ns, memory.stat().st_ino)
    outcome = reviewed(memory, "p", "1")
    assert (outcome.run, outcome.settings_run is not None) == (None, True)
    assert (memory.read_bytes(), memory.stat().st_mtime_ns, memory.stat().st_ino) == before


@pytest.mark.parametrize("lines", [("s", "s", "s", "s"), ("q",), ("s", "q")])
def test_nothing_decided_asks_nothing_and_writes_nothing(memory: Path, lines: tuple[str, ...]) -> None:
    before = tree(memory.parent)

    def ask(_: ReviewOutcome) -> str:
        raise AssertionError("there is nothing to ask about")

    assert reviewed(memory, *lines, ask=ask).does_nothing
    assert tree(memory.parent) == before


def test_a_no_leaves_nothing_behind(memory: Path) -> None:
    before = tree(memory.parent)
    outcome = reviewed(memory, *ALL, ask=lambda _: "no")
    assert (outcome.declined, outcome.run, outcome.settings_run) == (True, None, None)
    assert tree(memory.parent) == before


def test_a_dry_run_leaves_nothing_behind_and_tells_all(memory: Path) -> None:
    before = tree(memory.parent)
    outcome = reviewed(memory, *ALL, dry_run=True)
    assert (dropped(outcome), len(outcome.changes.observations)) == ([OLDER], 3)
    assert tree(memory.parent) == before


def test_back_at_the_question_opens_the_dialogue_again(memory: Path) -> None:
    answers = iter(["back", "yes"])
    outcome = reviewed(memory, *ALL[:3], "d", "s", ask=lambda _: next(answers))  # type: ignore[arg-type]
    assert dropped(outcome) == [OLDER]
    assert LOOK not in asked(memory)


def test_nothing_due_talks_to_nobody(memory: Path) -> None:
    memory.write_bytes(entity(["note"]))
    assert reviewed(aged(memory)).counts == ReviewCounts()


def test_filters_and_window_narrow_it(memory: Path) -> None:
    assert reviewed(memory, entities=("C",), dry_run=True).counts.listed == 2
    assert reviewed(memory, types=("note",), tiers=("permanent",), dry_run=True).counts.listed == 1
    assert reviewed(memory, within="1d", dry_run=True).counts.listed == 3
    assert reviewed(memory, expire_before="2026-06-20", dry_run=True).counts.listed == 4
    assert reviewed(memory, expire_before="2026-06-19", dry_run=True).counts.listed == 3


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"within": "1d", "expire_before": "2026-06-20"}, UsageError),
        ({"within": "soon"}, UsageError),
        ({"expire_before": "soon"}, UsageError),
        ({"entities": ("Z",)}, UnknownEntity),
        ({"tiers": ("nosuch",)}, UsageError),
    ],
)
def test_words_that_mean_nothing_are_refused(memory: Path, request_: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        reviewed(memory, **request_)


def test_copies_go_together_and_share_what_is_set(memory: Path) -> None:
    memory.write_bytes(entity([OLD, "x", OLD]) + b"\n" + entity([OLDER, OLDER]))
    outcome = reviewed(aged(memory), "d", "p")
    assert dropped(outcome) == [OLDER, OLDER]
    assert texts(memory) == [OLD, "x", OLD]
    assert pruned(memory, force=True).plan.removals == ()


def test_an_emptied_entity_goes_where_the_policy_says_so(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes() + b"\n" + relation("B", "A"))
    reviewed(aged(memory), "s", "s", "d", policy=EMPTIES)
    assert [json.loads(line).get("name") for line in memory.read_bytes().splitlines()] == ["A", "C"]


def test_what_is_pinned_while_somebody_thinks_stays(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        changed(memory, Wish("pin", Choice("C", "older")))
        return "yes"

    outcome = reviewed(memory, "d", "d", ask=ask)
    assert dropped(outcome) == [OLD]
    assert OLDER in texts(memory)
    assert "1 observation stays that was to be dropped: pinned, or set otherwise, meanwhile" in outcome.warnings


def test_an_entity_that_is_pinned_while_somebody_thinks_loses_nothing(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        changed(memory, Wish("pin", entity_pins=("C",)))
        return "yes"

    before = memory.read_bytes()
    outcome = reviewed(memory, "d", "d", ask=ask)
    assert (outcome.run, memory.read_bytes(), pins(memory)) == (None, before, ("C",))


def test_what_is_renewed_during_the_dialogue_stays_and_the_summary_says_so(memory: Path) -> None:
    lead = led_by("d", "d", "q")

    def talk(deck: Deck, dialogue: Dialogue) -> Dialogue:
        changed(memory, Wish("renew", Choice("C", "older")))
        return lead(deck, dialogue)

    shown: list[ReviewOutcome] = []
    outcome = review(settings_of(memory), Request(), talk=talk, ask=lambda o: shown.append(o) or "yes")
    assert dropped(shown[0]) == dropped(outcome) == [OLD]
    assert "1 observation stays" in " ".join(shown[0].warnings)
    assert OLDER in texts(memory)


def test_what_a_stranger_edits_or_adds_meanwhile_stays(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        memory.write_bytes(entity(["new", OLD, OLDER + "!"], name="C") + b"\n" + entity([OLD], name="D"))
        aged(memory)
        return "yes"

    outcome = reviewed(memory, "d", "d", ask=ask)
    assert texts(memory) == ["new", OLDER + "!", OLD]
    assert dropped(outcome) == [OLD]
    assert "1 of what was to be dropped had been edited or removed" in " ".join(outcome.warnings)


def test_where_all_is_gone_nothing_is_written(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        memory.write_bytes(entity(["new"], name="C"))
        aged(memory)
        return "yes"

    outcome = reviewed(memory, "d", ask=ask)
    assert (outcome.run, outcome.backup, texts(memory)) == (None, None, ["new"])


def test_what_another_sets_meanwhile_stays_beside_it(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        changed(memory, Wish("set", Choice("C", "older"), tier="operational"))
        return "yes"

    reviewed(memory, "p", ask=ask)
    assert asked(memory) == {OLDER: UserSettings(pinned=True, tier="operational")}


def test_a_damaged_file_and_a_foreign_one_are_refused_before_anything_is_asked(memory: Path) -> None:
    for data, error in ((b'{"type":"entity"', Malformed), (b'{"chat":1}\n{"chat":2}', Foreign)):
        memory.write_bytes(data)
        with pytest.raises(error):
            reviewed(aged(memory))


def test_a_clock_that_runs_behind_is_refused_before_anything_is_asked(memory: Path) -> None:
    reviewed(memory, "p")
    with pytest.raises(ClockBehind):
        review(settings_of(memory, now="2026-05-20"), Request(), talk=led_by("q"), ask=lambda _: "yes")


def test_a_vanished_memory_is_refused_before_anything_is_asked(memory: Path) -> None:
    names = [entity([f"note {i}"], name=f"N{i}") for i in range(40)]
    memory.write_bytes(b"\n".join([*names, entity([OLD])]))
    assert pruned(aged(memory)).applied
    memory.write_bytes(entity([OLDER]))
    outcome = reviewed(aged(memory), "d")
    assert (outcome.exit_code, outcome.counts.reviewed, texts(memory)) == (4, 0, [OLDER])


def test_a_memory_that_vanishes_during_the_dialogue_is_refused_and_nothing_is_set(memory: Path) -> None:
    lead, shown = led_by("d", "p", "q"), memory.read_bytes()

    def talk(deck: Deck, dialogue: Dialogue) -> Dialogue:
        written(memory, numbered(60, entities=30))
        scanned(memory)
        memory.write_bytes(shown)
        return lead(deck, dialogue)

    outcome = review(settings_of(memory), Request(), talk=talk, ask=lambda _: "yes")
    assert (outcome.exit_code, outcome.settings_run, asked(memory)) == (4, None, {})


@pytest.mark.parametrize("how", ["link", "read-only"])
def test_nothing_is_dropped_from_a_file_that_may_not_be_written_and_settings_are_kept(memory: Path, how: str) -> None:
    if how == "link":
        (memory.parent / "other").hardlink_to(memory)
    else:
        memory.chmod(0o400)
    outcome = reviewed(memory, "d", "p")
    assert (outcome.counts.dropped, outcome.counts.pinned, len(texts(memory))) == (0, 1, 5)


def test_a_drop_that_fails_says_that_the_settings_were_recorded(memory: Path) -> None:
    def ask(_: ReviewOutcome) -> str:
        (memory.parent / "other").hardlink_to(memory)
        return "yes"

    with pytest.raises(NoPermission) as caught:
        reviewed(memory, "d", "p", ask=ask)
    assert "nothing was dropped. What was set for 1 observation had been recorded" in caught.value.message
    assert asked(memory) == {OLD: UserSettings(pinned=True)}
    assert len(texts(memory)) == 5


def test_without_text_in_the_log_none_is_kept(memory: Path) -> None:
    reviewed(memory, *ALL, policy=NO_TEXT)
    assert "raw" not in {key for event in events_of(memory) for key in event}


def test_the_look_is_recorded_with_a_drop(memory: Path) -> None:
    reviewed(memory, "d")
    assert [e["event"] for e in events_of(memory)].count("baseline") <= 1
    assert pruned(memory, force=True).first_seen == 0
