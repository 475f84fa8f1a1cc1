"""What is set for what clients of `memttl serve` add, renew or give settings, and what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from support import NOW, entity, judge_of

from memttl.core.arrivals import Lives, Served, arrived_events, serve_edits, set_events
from memttl.core.classify import KnownOf
from memttl.core.digests import text_digest
from memttl.core.durations import parse_duration
from memttl.core.graph import Graph, read_graph
from memttl.core.graph_edits import (
    NO_PATCH,
    Addition,
    AddObservations,
    CreateEntities,
    DeleteEntities,
    DeleteObservations,
    Deletion,
    Edit,
    NewEntity,
)
from memttl.core.model import NOTHING_KNOWN, Known, UserSettings
from memttl.core.wish import Patch

SECOND = NOW.replace(microsecond=0)
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
POLICY = """default_tier = "short"
[tiers]
ephemeral = "7d"
short = "30d"
permanent = "never"
"""
FIVE_DAYS = Patch(ttl=parse_duration("5d"))
IN_FIVE_DAYS = SECOND + timedelta(days=5)
GONE = "old [expires 2020-01-01]"


def known(facts: Mapping[str, Known]) -> KnownOf:
    """Answers by text."""
    return lambda _entity, text: facts.get(text, NOTHING_KNOWN)


def graph(*texts: str) -> Graph:
    """A memory of one entity E."""
    return read_graph(entity(texts))


def add(*texts: str, patch: Patch = NO_PATCH) -> Edit:
    """Observations added to E."""
    return AddObservations((Addition("E", texts, patch),))


def delete(*texts: str) -> Edit:
    """Observations taken out of E."""
    return DeleteObservations((Deletion("E", texts),))


def served(before: Graph, *edits: Edit, facts: Mapping[str, Known] = {}, policy: str = POLICY, **lives: Any) -> Served:
    """What comes of edits."""
    return serve_edits(
        before, edits, Lives(**{"judge": judge_of(policy), "known_of": known(facts), "stamp": SECOND} | lives)
    )


def asked(before: Graph, *edits: Edit, **how: Any) -> dict[str, UserSettings]:
    """What is set after edits, by text."""
    return {text: settings for (_, text), settings in served(before, *edits, **how).settings.items()}


def notes(before: Graph, *edits: Edit, **how: Any) -> list[str]:
    """What is told of edits."""
    return [note for answer in served(before, *edits, **how).answers for note in answer.notes]


def test_plain_new_text_needs_no_settings() -> None:
    assert asked(graph(), add("new")) == {}


def test_plain_text_that_is_there_stays_as_it_is() -> None:
    assert asked(graph("there"), add("there"), facts={"there": Known(SECOND)}) == {}


def test_text_that_was_here_before_is_born_now() -> None:
    found = served(graph(), add("back"), facts={"back": Known(LONG_AGO)})
    assert (found.arrived, found.settings) == ({"E": ["back"]}, {})


def test_expiry_of_a_former_life_is_no_expiry_of_the_new_one() -> None:
    was = UserSettings(expires=LONG_AGO, ttl=parse_duration("1d"), tier="ephemeral", created=LONG_AGO)
    assert asked(graph(), add("back"), facts={"back": Known(LONG_AGO, was)}) == {"back": UserSettings()}


def test_pin_outlives_a_deletion() -> None:
    was = UserSettings(pinned=True, created=LONG_AGO)
    after = asked(graph(), add("back"), facts={"back": Known(LONG_AGO, was)})
    assert after == {"back": UserSettings(pinned=True)}


def test_what_was_set_never_to_expire_still_never_does() -> None:
    was = UserSettings(expires="never", tier="short")
    after = asked(graph(), add("back"), facts={"back": Known(LONG_AGO, was)})
    assert after == {"back": UserSettings(expires="never")}


def test_ttl_of_a_call_counts_although_the_text_was_once_set_never_to_expire() -> None:
    facts = {"back": Known(LONG_AGO, UserSettings(expires="never"))}
    after = asked(graph(), add("back", patch=FIVE_DAYS), facts=facts)
    assert after == {"back": UserSettings(ttl=FIVE_DAYS.ttl)}


def test_pin_of_an_entity_is_no_setting_of_its_texts() -> None:
    assert asked(graph(), add("new"), facts={"new": Known(settings=UserSettings(entity_pin="E*"))}) == {}


def test_options_of_a_new_text_are_set_for_it() -> None:
    patch = Patch(ttl=FIVE_DAYS.ttl, tier="ephemeral", pinned=True)
    after = asked(graph(), add("2020-01-01: dated", patch=patch))
    assert after == {"2020-01-01: dated": UserSettings(pinned=True, ttl=FIVE_DAYS.ttl, tier="ephemeral")}


def test_options_of_an_entity_are_set_for_each_of_its_texts() -> None:
    made = CreateEntities((NewEntity("F", "t", ("a", "b"), FIVE_DAYS),))
    assert set(served(graph(), made).settings) == {("F", "a"), ("F", "b")}


def test_clock_that_cannot_be_believed_gives_no_birth() -> None:
    found = served(graph(), add("new", patch=FIVE_DAYS), stamp=None)
    assert (found.arrived, found.settings) == ({}, {("E", "new"): UserSettings(ttl=FIVE_DAYS.ttl)})


def test_text_that_is_there_and_hidden_is_renewed_for_its_tier() -> None:
    after = asked(graph("there"), add("there"), facts={"there": Known(LONG_AGO)})
    assert after == {"there": UserSettings(expires=SECOND + timedelta(days=30))}


def test_text_hidden_in_a_tier_that_never_expires_is_renewed_for_good() -> None:
    after = asked(graph(GONE), add(GONE), policy=POLICY.replace('"short"', '"permanent"'))
    assert after == {GONE: UserSettings(expires="never")}


def test_ttl_of_a_renewal_counts_from_now() -> None:
    after = asked(graph("there"), add("there", patch=FIVE_DAYS), facts={"there": Known(LONG_AGO)})
    assert after == {"there": UserSettings(expires=SECOND + timedelta(days=5))}


def test_expiry_of_a_renewal_is_taken_as_it_is() -> None:
    until = datetime(2027, 1, 1, tzinfo=UTC)
    after = asked(graph("there"), add("there", patch=Patch(expires=until)), facts={"there": Known(LONG_AGO)})
    assert after == {"there": UserSettings(expires=until)}


def test_tier_of_a_renewal_says_how_long() -> None:
    after = asked(graph("there"), add("there", patch=Patch(tier="ephemeral")), facts={"there": Known(LONG_AGO)})
    assert after == {"there": UserSettings(tier="ephemeral", expires=SECOND + timedelta(days=7))}


def test_review_by_date_of_a_renewal_is_taken_as_it_is() -> None:
    day = date(2026, 8, 1)
    facts = {"there": Known(settings=UserSettings(review_by=date(2026, 5, 1)))}
    assert asked(graph("there"), add("there", patch=Patch(review_by=day)), facts=facts) == {
        "there": UserSettings(review_by=day)
    }
    after = asked(graph("there"), add("there"), facts=facts)
    assert after == {"there": UserSettings(expires=SECOND + timedelta(days=30))}


def test_later_review_by_date_or_ttl_counts_although_what_counts_more_was_set_before() -> None:
    day = date(2026, 8, 1)
    was = UserSettings(created=SECOND, expires=SECOND + timedelta(days=300))
    after = asked(graph("there"), add("there", patch=Patch(review_by=day)), facts={"there": Known(SECOND, was)})
    assert after == {"there": UserSettings(created=SECOND, review_by=day)}
    was = UserSettings(created=SECOND, review_by=day)
    after = asked(graph("there"), add("there", patch=FIVE_DAYS), facts={"there": Known(SECOND, was)})
    assert after == {"there": UserSettings(created=SECOND, expires=IN_FIVE_DAYS)}


def test_renewal_keeps_birth_and_tier_and_no_ttl_of_before() -> None:
    was = UserSettings(created=LONG_AGO, ttl=parse_duration("1d"), tier="ephemeral")
    after = asked(graph("there"), add("there"), facts={"there": Known(LONG_AGO, was)})
    assert after == {"there": UserSettings(created=LONG_AGO, tier="ephemeral", expires=SECOND + timedelta(days=7))}


def test_renewed_text_counts_as_added() -> None:
    (answer,) = served(graph("there"), add("there"), facts={"there": Known(LONG_AGO)}).answers
    assert answer.added == (("E", ("there",)),)


def test_options_for_a_text_that_is_there_leave_its_birth() -> None:
    was = UserSettings(created=SECOND - timedelta(days=1))
    after = asked(graph("there"), add("there", patch=FIVE_DAYS), facts={"there": Known(SECOND, was)})
    assert after == {"there": was._replace(expires=IN_FIVE_DAYS)}


def test_later_ttl_counts_although_an_expiry_was_set_before() -> None:
    was = UserSettings(created=SECOND, expires=SECOND + timedelta(days=300))
    after = asked(graph("there"), add("there", patch=FIVE_DAYS), facts={"there": Known(SECOND, was)})
    assert after == {"there": UserSettings(created=SECOND, expires=IN_FIVE_DAYS)}


def test_ttl_of_a_text_that_is_there_counts_from_now_however_old_it_is() -> None:
    facts = {"there": Known(SECOND - timedelta(days=20))}
    assert asked(graph("there"), add("there", patch=FIVE_DAYS), facts=facts) == {
        "there": UserSettings(expires=IN_FIVE_DAYS)
    }
    assert notes(graph("there"), add("there", patch=FIVE_DAYS), facts=facts) == []


def test_later_tier_counts_although_a_ttl_was_set_before() -> None:
    was = UserSettings(created=SECOND, ttl=FIVE_DAYS.ttl)
    after = asked(graph("there"), add("there", patch=Patch(tier="short")), facts={"there": Known(SECOND, was)})
    assert after == {"there": UserSettings(created=SECOND, tier="short")}


def test_options_that_are_set_already_are_not_set_again() -> None:
    facts = {"there": Known(SECOND, UserSettings(expires=IN_FIVE_DAYS))}
    assert asked(graph("there"), add("there", patch=FIVE_DAYS), facts=facts) == {}


def test_second_edit_of_a_batch_builds_on_what_the_first_has_set() -> None:
    after = asked(graph(), add("new", patch=FIVE_DAYS), add("new", patch=Patch(pinned=True)))
    assert after == {"new": UserSettings(pinned=True, ttl=FIVE_DAYS.ttl)}


def test_text_added_deleted_and_added_in_one_batch_has_what_the_last_edit_gave_it() -> None:
    after = asked(graph(), add("new", patch=FIVE_DAYS), delete("new"), add("new"))
    assert after == {"new": UserSettings()}


def test_text_deleted_and_added_in_one_batch_is_born_anew() -> None:
    found = served(graph("there"), delete("there"), add("there"), facts={"there": Known(LONG_AGO)})
    assert found.arrived == {"E": ["there"]}


def test_entity_deleted_and_made_again_in_one_batch_is_born_anew() -> None:
    again = CreateEntities((NewEntity("E", "note", ("there",)),))
    found = served(graph("there"), DeleteEntities(("E",)), again, facts={"there": Known(LONG_AGO)})
    assert found.arrived == {"E": ["there"]}


def test_text_renewed_by_one_edit_is_there_for_the_next() -> None:
    found = served(graph("there"), add("there"), add("there"), facts={"there": Known(LONG_AGO)})
    assert [answer.added for answer in found.answers] == [(("E", ("there",)),), (("E", ()),)]


def test_text_whose_own_mark_hides_it_is_told() -> None:
    (note,) = notes(graph(), add("fine", GONE))
    assert note == (
        "1 of the observations is hidden at once, having expired already:\n"
        "- old [expires 2020-01-01] (E): expires 2020-01-01; that day has passed"
    )


def test_tier_that_is_over_for_an_old_text_is_told() -> None:
    facts = {"there": Known(SECOND - timedelta(days=20))}
    (note,) = notes(graph("there"), add("there", patch=Patch(tier="ephemeral")), facts=facts)
    assert note.startswith("1 of the observations is hidden at once")


def test_renewal_until_a_day_that_has_passed_is_told() -> None:
    patch = Patch(expires=LONG_AGO)
    assert len(notes(graph("there"), add("there", patch=patch), facts={"there": Known(LONG_AGO)})) == 1


def test_new_text_does_not_inherit_an_old_day() -> None:
    policy = POLICY + "[age]\ninherit = true\n"
    assert notes(graph("2025-01-05: dated"), add("undated"), policy=policy) == []
    assert len(notes(graph("2025-01-05: dated"), add("undated"), policy=policy, stamp=None)) == 1


def test_old_date_in_a_new_text_does_not_hide_it() -> None:
    assert notes(graph(), add("2020-01-01: dated")) == []
    assert len(notes(graph(), add("2020-01-01: dated"), stamp=None)) == 1


def test_ttl_of_a_text_that_stays_pinned_is_told() -> None:
    (note,) = notes(graph(), add("a rule [pin]", patch=FIVE_DAYS))
    assert note == "1 observation stays pinned: 'E': pinned in its text"
    facts = {"back": Known(LONG_AGO, UserSettings(pinned=True))}
    assert len(notes(graph(), add("back", patch=Patch(tier="short")), facts=facts)) == 1
    assert notes(graph(), add("back"), facts=facts) == []


def test_unpinning_what_its_entity_pins_is_told() -> None:
    facts = {"there": Known(SECOND, UserSettings(entity_pin="E*"))}
    (note,) = notes(graph("there"), add("there", patch=Patch(pinned=False)), facts=facts)
    assert note.startswith("1 observation stays pinned: 'E': its entity was pinned (E*)")


def test_text_that_the_call_keeps_is_not_told() -> None:
    assert notes(graph(), add(GONE, patch=FIVE_DAYS)) == []


def test_each_answer_tells_of_its_own_texts() -> None:
    found = served(graph(), add(GONE), add("fine"))
    assert [len(answer.notes) for answer in found.answers] == [1, 0]


def test_log_line_holds_text_and_settings() -> None:
    found = served(graph(), add("new", patch=FIVE_DAYS))
    assert set_events(found.settings, "ab12", "T", with_text=True) == [
        {
            "event": "set",
            "run": "ab12",
            "command": "serve",
            "time": "T",
            "entity": "E",
            "digest": text_digest("new"),
            "raw": '"new"',
            "settings": {"ttl": "5 days"},
        }
    ]


def test_log_line_of_an_arrival_holds_no_text() -> None:
    found = served(graph(), add("new", "more"))
    assert arrived_events(found.arrived, SECOND, "ab12", "T") == [
        {
            "event": "arrived",
            "run": "ab12",
            "command": "serve",
            "time": "T",
            "entity": "E",
            "digests": [text_digest("new"), text_digest("more")],
            "at": "2026-06-01T12:00:00Z",
        }
    ]


def test_text_stays_out_of_the_log_where_the_policy_says_so() -> None:
    found = served(graph(), add("new", patch=FIVE_DAYS))
    (event,) = set_events(found.settings, "ab12", "T", with_text=False)
    assert "raw" not in event
