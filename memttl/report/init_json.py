"""The document of `memttl init --json`."""

from __future__ import annotations

from typing import Any

from memttl.core.first_steps import Draft, Forecast, InitOutcome
from memttl.core.proposal import DateChoice
from memttl.core.wording import instant_text
from memttl.report.documents import SCHEMA, verdict_document


def init_document(outcome: InitOutcome) -> dict[str, Any]:
    """Give what was found, is proposed, and was done."""
    draft = outcome.draft
    return {
        "schema": SCHEMA,
        "file": draft.file,
        "now": instant_text(draft.now),
        "dry_run": outcome.dry_run,
        "found": _found(draft),
        "proposed": _proposed(draft),
        "policy": {
            "path": draft.target,
            "text": draft.text,
            "before": draft.before or None,
            "kept": outcome.kept,
            "in_force_before": draft.in_force,
        },
        "forecasts": [_forecast(f) for f in draft.forecasts],
        "declined": outcome.declined,
        "steps": [{"name": s.name, "words": s.words, "done": s.done, "detail": list(s.detail)} for s in outcome.steps],
        "notes": list(draft.notes),
        "warnings": list(draft.warnings),
    }


def _found(draft: Draft) -> dict[str, Any]:
    habits, report = draft.habits, draft.report
    return {
        "exists": draft.exists,
        "entities": len(habits.names) if report is None else report.counts.entities,
        "observations": habits.observations,
        "tokens_estimated": report.weights.tokens_estimated if report else 0,
        "known_age": report.known_age if report else 0,
        "ages_begun": instant_text(draft.begun) if draft.begun else None,
        "commits": draft.commits,
        "entity_types": [
            {"entity_type": t.name, "entities": t.entities, "observations": t.observations} for t in habits.types
        ],
        "prefixes": [{"prefix": head, "observations": count} for head, count in habits.heads],
        "dated": habits.dated,
        "date_forms": [{"form": f.name, "dates": f.uses} for f in habits.forms],
        "date_labels": [{"label": use.label, "dates": use.uses} for use in habits.labels],
    }


def _proposed(draft: Draft) -> dict[str, Any]:
    proposal = draft.proposal
    return {
        "timezone": draft.timezone,
        "prefixes": [
            {"prefix": list(r.prefixes), "tier": r.tier, "marked_only": r.marked_only} for r in proposal.prefixes
        ],
        "entities": [
            {"name": f.title, "entity": list(f.entity), "entity_type": list(f.entity_type), "names": list(f.names)}
            for f in proposal.families
        ],
        "labels": [_choice(c) for c in proposal.labels],
        "formats": [_choice(c) for c in proposal.formats],
    }


def _choice(choice: DateChoice) -> dict[str, Any]:
    return {"text": choice.text, "dates": choice.uses, "taken": not choice.why_not, "reason": choice.why_not or None}


def _forecast(forecast: Forecast) -> dict[str, Any]:
    return {
        "days": forecast.days,
        "now": instant_text(forecast.now),
        "counts": forecast.plan.counts._asdict(),
        "removed": [verdict_document(v) for v in forecast.plan.removals],
        "refusals": list(forecast.plan.refusals),
    }
