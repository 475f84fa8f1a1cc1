"""What a prune by the policy of `memttl init` would remove today and in 90 days, as lines for people. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from memttl.core.first_steps import Draft, Forecast
from memttl.core.model import Verdict
from memttl.core.plan import Texts, texts_of
from memttl.core.wording import day_words, noun_of
from memttl.report.prune_closing import VANISHED_HINT
from memttl.report.text import View, cut, fold, observation_text, visible

MOST_TEXTS = 20  # up to so many are all shown unasked
_LONGEST = 300  # characters of one text


def lines_of(lines: Iterable[str], view: View) -> str:
    """Give lines made visible and folded, each with its end."""
    return "".join(f"{part}\n" for line in lines for part in fold(visible(line), view.width))


def render_forecasts(draft: Draft, view: View) -> str:
    """Give what would go; of more texts than `MOST_TEXTS` at one instant the first, unless all are wanted."""
    return lines_of(_lines(draft, view), view)


def has_more(draft: Draft, view: View) -> bool:
    """Say whether some texts that would go are not shown."""
    told: Texts = Counter()
    for forecast in draft.forecasts:
        if not view.is_whole and len(_fresh(forecast, told)) > MOST_TEXTS:
            return True
        told += texts_of(forecast.plan.removals)
    return False


def first_run_words(draft: Draft) -> str:
    """Say what the first run of a schedule would remove."""
    if not draft.forecasts:
        return "there is no memory file yet"
    counts = draft.forecasts[0].plan.counts
    if not counts.removed:
        return "its first run would remove nothing as of today"
    noun = noun_of(counts.observations, "observation")
    return f'its first run would remove {counts.removed} of {counts.observations} {noun}, those under "Today" above'


def _lines(draft: Draft, view: View) -> Iterator[str]:
    told: Texts = Counter()
    for forecast in draft.forecasts:
        yield from _one(draft, forecast, told, view)
        told += texts_of(forecast.plan.removals)
    if draft.forecasts and draft.commits and not draft.with_history and draft.begun is None:
        yield "This does not count the ages that its git history can tell: with those, more may go, and sooner."
    if draft.report and draft.report.damaged:
        yield "But a prune refuses a damaged file: `memttl doctor --repair` mends it first, and keeps a backup."


def _one(draft: Draft, forecast: Forecast, told: Texts, view: View) -> Iterator[str]:
    """Say what would go, with the texts that are not told yet."""
    plan, counts = forecast.plan, forecast.plan.counts
    ages = ", if ages begin now," if forecast.days and draft.ages_begin and draft.begun is None else ""
    when = f"In {forecast.days} days ({day_words(forecast.now.date())}){ages}" if forecast.days else "Today"
    by = f"a prune by the policy {draft.judged_by}" if draft.judged_by else "a prune by this policy"
    by += ", with the ages from git," if draft.with_history else ""
    if not counts.removed:
        yield f"{when} {by} would remove nothing."
        return
    noun = noun_of(counts.observations, "observation")
    fresh = _fresh(forecast, told)
    colon = ":" if fresh else "."
    also = ", the same" if not fresh else ", these among them" if told else ""
    yield f"{when} {by} would remove {counts.removed} of {counts.observations} {noun}{also}{colon}"
    shown = fresh if view.is_whole else fresh[:MOST_TEXTS]
    for verdict in shown:
        yield cut(f"  {verdict.entity}: {observation_text(verdict.observation)}", _LONGEST)
    if len(fresh) > len(shown):
        yield f"  … and {len(fresh) - len(shown)} more: `memttl init --dry-run --verbose` shows all of them"
    for reason in plan.refusals:
        yield f"  That is past a limit, so a prune would be refused: {reason}."
    if plan.has_vanished:
        yield f"  {VANISHED_HINT}"


def _fresh(forecast: Forecast, told: Texts) -> list[Verdict]:
    return [v for v in forecast.plan.removals if not texts_of([v]).keys() <= told.keys()]
