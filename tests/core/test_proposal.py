"""What init proposes is right: nothing that people would keep ever goes by it, and its text is a valid policy."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support import FIXTURES, NOW, entity, json_line

from memttl.core.classify import judge_entity
from memttl.core.habits import Habits, habits_of
from memttl.core.judge import make_judge
from memttl.core.memory import read_lines
from memttl.core.model import Known, Verdict
from memttl.core.policy import Policy
from memttl.core.policy_load import load_policy
from memttl.core.proposal import NOTHING_PROPOSED, Proposal, propose
from memttl.core.proposal_text import Places, policy_text
from memttl.core.proposal_words import WORDS

PERSONAL = FIXTURES / "init/personal"
# one file of all observations that worked cases judge by the built-in policy
CASES = [json.loads(line) for line in (FIXTURES / "cases/classify.jsonl").read_text(encoding="utf-8").splitlines()]
FILES = [
    *sorted((FIXTURES / "memory").glob("*.jsonl")),
    *sorted((FIXTURES / "from-servers").glob("*.jsonl")),
    PERSONAL / "memory.jsonl",
]
# what goes by the proposal for the README's example and stays by the built-in policy: of two sprints what is done
OF_SPRINTS = {"Completed: refunds, webhook retries"}


def habits(*lines: bytes) -> Habits:
    return habits_of(b"\n".join(lines), WORDS, NOW)


def proposed(*lines: bytes) -> Proposal:
    return propose(habits(*lines))


def policy_for(data: bytes) -> Policy:
    return load_policy(policy_text(propose(habits_of(data, WORDS, NOW)), "Europe/Berlin"))


def ever_gone(data: bytes, policy: Policy) -> list[Verdict]:
    """What has expired ten years after memttl first saw it all."""
    judge = make_judge(policy, NOW + timedelta(days=3652), baseline=NOW)
    verdicts = [
        verdict
        for line in read_lines(data)
        if line.is_judged
        for verdict in judge_entity(line, judge, lambda _entity, _text: Known(first_seen=NOW))
    ]
    return [verdict for verdict in verdicts if verdict.expired]


def texts_gone(data: bytes, policy: Policy) -> set[str]:
    return {str(verdict.observation) for verdict in ever_gone(data, policy)}


def test_of_a_personal_file_exactly_the_listed_passing_notes_can_ever_go() -> None:
    data = (PERSONAL / "memory.jsonl").read_bytes()
    may_go = (PERSONAL / "may-go.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(str(v.observation) for v in ever_gone(data, policy_for(data))) == sorted(may_go)


def test_policy_for_a_personal_file_is_this(request: pytest.FixtureRequest) -> None:
    text = policy_text(propose(habits_of((PERSONAL / "memory.jsonl").read_bytes(), WORDS, NOW)), "Europe/Brussels")
    golden = PERSONAL / "policy.toml"
    if request.config.getoption("--update-golden"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_proposed_policy_is_valid_warns_of_nothing_and_is_the_same_each_time(path: Path) -> None:
    data = path.read_bytes()
    text = policy_text(propose(habits_of(data, WORDS, NOW)), "Europe/Berlin")
    assert load_policy(text).warnings == ()
    assert policy_text(propose(habits_of(data, WORDS, NOW)), "Europe/Berlin") == text


@pytest.mark.parametrize("path", [p for p in FILES if p.parent != PERSONAL], ids=lambda path: path.stem)
def test_proposal_lets_nothing_go_that_the_built_in_policy_keeps_but_notes_of_sprints(path: Path) -> None:
    data = path.read_bytes()
    more = texts_gone(data, policy_for(data)) - texts_gone(data, Policy())
    assert more == (OF_SPRINTS if path.stem == "example" else set())


def test_proposal_lets_go_no_more_of_the_worked_cases_than_the_built_in_policy() -> None:
    lines = [entity([c["observation"]], name=c["entity"], kind=c["entityType"]) for c in CASES]
    data = b"\n".join(lines)
    assert len(lines) > 80
    assert texts_gone(data, policy_for(data)) <= texts_gone(data, Policy())


KEPT = [
    ("Mira", "person", "Session: works with her every Tuesday"),
    ("auth", "component", "Session: signed cookie, 30 days"),
    ("auth", "component", "Session management: cookies are rotated"),
    ("thermostat", "device", "Temp: 19 degrees at night"),
    ("health", "log", "Temp: 2026-01-18 38.9"),
    ("Sprint planning", "sprint", "Two weeks, on Monday evening"),
    ("Sprint 3 goals", "goal", "Ship the calendar"),
    ("Sprint 4", "sprint", "TODO: rotate the key"),
    ("Sprint 4", "sprint", "Open: the price list is missing"),
    ("Sprint 4", "sprint", "Mira prefers small pull requests"),
    ("Sprint 4", "sprint", "[permanent] Never deploy on Fridays"),
    ("Sprint 4", "sprint", "Decided against push messages"),
    ("Sprint 4", "sprint", "Wiki is at https://wiki.example/"),
    ("Sprint 4", "sprint", "Bug in the importer: drops the last line"),
    ("Sprint 4", "sprint", "Fix is on branch fix/hub-leak, not merged yet"),
    ("Sprint 4", "sprint", "test_geofence_border is flaky"),
    ("Sprint 4", "sprint", "2026-05-02T10:00:00Z: test_geofence_border is flaky"),
    ("Sprint 4", "sprint", "Done: the fix, on branch fix/hub-leak, not merged yet"),
    ("Sprint 4", "sprint", "Next: ask Tomasz for the polygon data"),
    ("Sprint 4", "sprint", "Carry over: mail templates"),
    ("Sprint 4", "sprint", "2026-05-02T10:00:00Z: carry over: mail templates"),
    ("Sprint 4", "sprint", "Cause: unbounded dict in the websocket hub"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: cause: unbounded dict in the websocket hub"),
    ("Sprint 4", "sprint", "2026-12-24: demo for the board"),
    ("Sprint 4", "sprint", "2026-12-24 15:00: demo for the board"),
    ("Session 2026-03-14", "session", "The hub drops every third message"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: bleibt bis Mai noch offen"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: il reste la page de paiement"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: todavía falta la factura"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: aguardando o fornecedor"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: manca ancora la fattura"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: wacht op de leverancier"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: trzeba naprawić import"),
    ("Session 2026-03-14", "session", "2026-03-14T10:00:00Z: нужно починить импорт"),
    ("Session 2026-03-14", "bug", "The importer drops the last line"),
    ("Session 2026-03-14", "preference", "Short answers"),
    ("Session 2026-03-14", "decision", "Cookies, no store"),
    ("Session 12", "dnd_session", "The miller is free"),
    ("Session 12", "session", "The miller is free"),
    ("session-buddy", "project", "Session management"),
    ("Exam 2026-05-07", "event", "Room 4"),
    ("2026-05-07 birth of Nora", "family", "3,400 grams"),
    ("status", "status_report", "Three users"),
    ("work log", "log", "Moved the table"),
]


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: f"{kept[0]} {kept[1]}: {kept[2]}")
def test_what_people_keep_stays_for_ever_also_among_passing_notes(kept: tuple[str, str, str]) -> None:
    name, kind, text = kept
    passing = [
        entity(["[session] 2026-03-02: moved the table", "[temp] branch is rebased"], name="worklog", kind="notes"),
        entity(["Completed: touch"], name="Sprint 3", kind="sprint"),
        entity(["Worked on warnings"], name="Session 2026-03-02", kind="session"),
    ]
    data = b"\n".join([*passing, entity([text], name=name, kind=kind)])
    gone = texts_gone(data, policy_for(data))
    assert text not in gone
    assert "Completed: touch" in gone  # the proposal does let something go
    assert "Worked on warnings" in gone


def test_what_is_written_after_the_policy_is_kept_as_carefully() -> None:
    data = entity(["Session: signed cookie"], name="auth", kind="component")
    policy = policy_for(data)
    later = entity(["Session: in the header instead", "[session] tried headers"], name="auth 2", kind="component")
    assert texts_gone(later, policy) == {"[session] tried headers"}


def test_file_with_nothing_passing_gets_the_built_in_tiers_and_is_told_so() -> None:
    data = entity(["Likes tea", "Status: open"], name="Anna", kind="person")
    proposal = proposed(data)
    assert proposal.is_built_in
    text = policy_text(proposal, "UTC")
    assert "Nothing in the file says of itself that it is passing" in text
    policy, built_in = load_policy(text), Policy()
    assert policy._replace(given={}, rules=()) == built_in._replace(rules=())
    assert [(r.prefixes, r.tier) for r in policy.rules] == [(r.prefixes, r.tier) for r in built_in.rules]


def test_entity_type_that_would_be_a_glob_is_in_no_rule() -> None:
    lines = [entity(["x"], name="Sprint 11", kind=kind) for kind in ("*", "spr?nt", "sprint")]
    assert [family.entity_type for family in proposed(*lines).families] == [("sprint",)]


def test_rule_by_entity_type_alone_is_only_a_comment_with_keep_last() -> None:
    proposal = proposed(entity(["Three users"], name="q1", kind="status_report"))
    text = policy_text(proposal, "UTC")
    assert '# entity_type = ["status_report"]' in text
    assert '# notes = { ttl = "90d", keep_last = 5 }' in text
    assert all(not rule.is_by_type_alone for rule in load_policy(text).rules)
    head, _, tail = text.replace("# notes = {", "notes = {").partition("# By entity type alone")
    rest = tail.partition("# [[rules]]")[2]
    rule, _, end = f"[[rules]]{rest}".partition("\n\n")
    uncommented = load_policy(f"{head}{rule.replace('# ', '')}\n\n{end}")
    assert [rule.tier for rule in uncommented.rules if rule.is_by_type_alone] == ["notes"]
    assert uncommented.tiers["notes"].keep_last == 5


@pytest.mark.parametrize(
    "kind", ["person", "user preference", "bug", "todo_list", "session bugs", "guideline", "decision log"]
)
def test_no_rule_is_named_for_types_of_what_stays(kind: str) -> None:
    assert proposed(entity(["x"], kind=kind)).types == ()


def taken(*texts: str) -> tuple[list[str], list[str]]:
    proposal = proposed(entity(list(texts)))
    return [c.text for c in proposal.labels if not c.why_not], [c.text for c in proposal.formats if not c.why_not]


def test_label_that_says_when_its_text_was_written_is_proposed() -> None:
    assert taken("Knowledge captured: 2026-01-05") == (["Knowledge captured"], [])


@pytest.mark.parametrize(
    "text",
    [
        "Target date: 2026-01-15",
        "Next review recommended: 2025-07-31",
        "Account opened: 2025-05-20",
        "Fecha: 2026-05-07",
        "Created: 2026-02-26",
        "Completed: 2026-01-14",
        "Knowledge captured: 2026-12-01",
        "Knowledge captured: 2022-05-20",
        "Knowledge captured: 7/5/26",
        "Song recorded: 2026-01-05 and recorded: 2026-01-06",
        "Released in version, recorded: 2026-01-05",
    ],
)
def test_label_before_another_date_is_not_proposed(text: str) -> None:
    assert taken(text)[0] == []


def test_format_is_proposed_where_it_is_plain_and_stands_where_a_birth_is_read() -> None:
    assert taken("March 5, 2026: moved the table", "Moved it back (March 6, 2026)") == ([], ["%B %d, %Y"])


def test_format_that_a_proposed_label_needs_is_proposed() -> None:
    assert taken("Knowledge captured: 5 March 2026") == (["Knowledge captured"], ["%d %B %Y"])


@pytest.mark.parametrize(
    "text",
    ["7/5/2026: x", "13/05/2026: x", "05.03.2026: x", "March 2026: x", "moved on March 5, 2026", "May 5, 2031: x"],
)
def test_format_that_can_be_read_in_two_ways_or_tells_of_something_else_is_not_proposed(text: str) -> None:
    assert taken(text)[1] == []


@pytest.mark.parametrize("text", ["see docs/2025-07-24-upgrade.md", "https://x.example/2012-09-14-post", "v2025.4.25"])
def test_date_in_a_path_an_address_or_a_version_is_none(text: str) -> None:
    assert habits(entity([text])).dated == 0


def test_places_of_state_and_archive_are_taken_over() -> None:
    policy = load_policy(policy_text(NOTHING_PROPOSED, "UTC", places=Places("state", "old.jsonl")))
    assert (policy.state_dir, policy.archive_path) == ("state", "old.jsonl")


AWKWARD = ['a"b', "a\\b", "a'b", "*", "?", "a\nb", "a\x00b", "\ud800", "\u202e", "é", "", " ", "[x]", "# x", "'''"]
BEGINNINGS = ["Sprint", "sprint 1*", "Session 2026-03-14", "temp_20260314", "[session]", "Session:"]
NAMES = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(max_size=12),
    st.builds("{} {}".format, st.sampled_from(BEGINNINGS), st.text(max_size=6)),
)


@settings(phases=[Phase.explicit, Phase.generate])
@given(st.lists(st.tuples(NAMES, NAMES, st.lists(NAMES, max_size=3)), max_size=5))
def test_whatever_names_and_texts_a_file_holds_the_policy_is_valid(rows: list[tuple[str, str, list[str]]]) -> None:
    data = b"\n".join(json_line({"type": "entity", "name": n, "entityType": k, "observations": o}) for n, k, o in rows)
    text = policy_text(propose(habits_of(data, WORDS, NOW)), "UTC")
    text.encode()
    assert load_policy(text).warnings == ()
