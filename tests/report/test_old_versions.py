"""An age that a backfill took from an old version of the file is told as such, and as nothing that memttl saw."""

from __future__ import annotations

import pytest
from support import NOW, entity, judge_of, seen

from memttl.core.explain import explain_file
from memttl.core.model import Known
from memttl.core.report import Query, ReportOutcome
from memttl.core.survey import survey
from memttl.report.explain_plain import block
from memttl.report.html_observations import observations
from memttl.report.report_html import render
from memttl.report.report_words import summary

SEEN = seen("2026-05-30T00:00:00Z")
OLD = seen("2026-04-03T00:00:00Z")._replace(backfilled=True)
SESSION = "[session] moved the webhooks"


def outcome_of(*known: Known) -> ReportOutcome:
    """The report on one observation for each of what is known."""
    data = entity([f"{SESSION} {place}" for place in range(len(known))])
    by_text = {f"{SESSION} {place}": one for place, one in enumerate(known)}
    found = survey(data, judge_of(), Query(), known_of=lambda _entity, text: by_text[text])
    return ReportOutcome("memory.jsonl", NOW, Query(), found)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ((OLD, OLD), "2 of known age (2 of them only from old versions of the file)"),
        ((OLD, SEEN), "2 of known age (1 of them only from old versions of the file, 1 since memttl first saw them)"),
        ((SEEN,), "1 of known age (1 of them only since memttl first saw them)"),
    ],
)
def test_report_says_which_first_sightings_are_old_versions(known: tuple[Known, ...], words: str) -> None:
    assert any(sentence.startswith(words) for sentence in summary(outcome_of(*known)))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ((OLD,), "memttl knows only an old version of the file that holds them."),
        ((OLD, SEEN), "memttl knows only when it first saw them, or an old version of the file that holds them."),
        ((SEEN,), "memttl knows only when it first saw them."),
    ],
)
def test_page_says_which_first_sightings_are_old_versions(known: tuple[Known, ...], words: str) -> None:
    assert words in render([outcome_of(*known)])


def test_pages_table_says_it_of_each_observation() -> None:
    html = str(observations(outcome_of(OLD).report, NOW, id_="t"))
    assert "in an old version of the file, <time" in html
    assert "first seen" not in html


def test_reason_of_a_prune_names_the_old_version() -> None:
    (listed,) = outcome_of(OLD).report.listed
    assert listed.verdict.expired
    assert listed.verdict.reason == "session notes keep 30 days; in an old version of the file, 2026-04-03"


def test_birth_of_an_explanation_names_the_old_version() -> None:
    ((verdict, tried),) = explain_file(entity([SESSION]), judge_of(), known_of=lambda _entity, _text: OLD).verdicts
    assert "(age source: seen, in an old version of the file)" in block(verdict, tried, NOW)
