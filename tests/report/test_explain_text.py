"""An explanation as text: what is the same for many observations stands there once."""

from __future__ import annotations

from datetime import date

from support import NOW, entity, judge_of, tried_on

from memttl.core.durations import Duration
from memttl.core.evidence import read_evidence
from memttl.core.explain import ExplainOutcome, explain_file, tried_of
from memttl.core.model import Known, UserSettings
from memttl.report.explain_plain import render

POLICY = "".join(f'[[rules]]\nname = "r{n}"\nentity_type = ["never-{n}"]\ntier = "session"\n' for n in range(9))


def explained(*lines: bytes, verbose: bool = False) -> str:
    found = explain_file(b"\n".join(lines), judge_of(POLICY))
    return render(ExplainOutcome("memory.jsonl", NOW, found), verbose=verbose)


def rules_in(text: str) -> int:
    return text.count("- rule r")


def test_rules_that_pass_over_all_of_an_entity_are_shown_once() -> None:
    text = explained(entity(["a", "b", "c"]))
    assert rules_in(text) == len([t for t in tried_on("a", POLICY) if t.what.startswith("r")]) == 9
    assert text.count(" rules that do not match, as above") == 2


def test_each_entity_shows_them_anew() -> None:
    assert rules_in(explained(entity(["a", "b"], name="A"), entity(["c"], name="B"))) == 18


def test_verbose_shows_them_at_each() -> None:
    text = explained(entity(["a", "b", "c"]), verbose=True)
    assert (rules_in(text), "as above" in text) == (27, False)


def test_what_names_the_tier_is_shown_at_each() -> None:
    assert explained(entity(["a", "b", "c"])).count("+ default permanent: the default tier") == 3


def test_pin_of_an_undo_is_not_told_as_set_by_the_user() -> None:
    judge, record = judge_of(), {"name": "E", "entityType": "t", "observations": ["a"]}
    by_undo = Known(settings=UserSettings(pinned=True, pinned_by_undo=True, tier="session"))
    evidence = read_evidence("a", record, judge, lambda _entity, _text: by_undo)
    assert evidence is not None
    verdict = explain_file(entity(["a"]), judge).verdicts[0][0]
    said = [(t.what, t.note) for t in tried_of(verdict, evidence, judge) if t.kind == "set"]
    assert said == [("pin", "set by an undo, which put it back"), ("tier: session", "set")]


def test_what_was_set_is_shown_in_the_order_in_which_it_decides() -> None:
    day = date(2026, 7, 1)
    asked = UserSettings(created=day, expires=day, review_by=day, ttl=Duration(days=3), tier="session")
    shown = explain_file(entity(["a"]), judge_of(), known_of=lambda _entity, _text: Known(settings=asked))
    whats = [t.what.partition(":")[0] for t in shown.verdicts[0][1] if t.kind == "set"]
    assert whats == ["created", "expires", "review by", "ttl", "tier"]
