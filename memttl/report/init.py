"""What `memttl init` found, proposes and did: as lines for people, and as a JSON document. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from memttl.core.first_steps import Draft, Forecast, InitOutcome, Step
from memttl.core.habits import Habits
from memttl.core.plan import Texts, texts_of
from memttl.core.proposal import PrefixRule, Proposal
from memttl.core.wording import day_words, noun_of, plural
from memttl.report.prune_closing import VANISHED_HINT
from memttl.report.report_words import sighted_words
from memttl.report.text import cut, observation_text, visible

_SHOWN = 8
_TEXTS_SHOWN = 3
_TEXT_WIDTH = 100
_DIFFERENCE_SHOWN = 60


def render_look(draft: Draft) -> str:
    """Give what the file holds, what is proposed for it, and what that would do."""
    parts = [
        _file_lines(draft),
        _habit_lines(draft),
        _proposal_lines(draft.proposal),
        _forecast_lines(draft),
        draft.notes,
    ]
    return "\n\n".join("\n".join(map(visible, lines)) for lines in map(list, parts) if lines) + "\n"


def render_difference(draft: Draft) -> str:
    """Give how the proposal differs from the policy that lies there."""
    lines = draft.difference
    rest = len(lines) - _DIFFERENCE_SHOWN
    shown = [*lines[:_DIFFERENCE_SHOWN], *([f"… {plural(rest, 'more line')}"] if rest > 0 else [])]
    head = f"There is a policy already: {draft.target}. The proposal differs from it (+ is proposed, - is there):"
    return "".join(visible(line) + "\n" for line in (head, *shown))


def render_steps(steps: Iterable[Step], head: str) -> str:
    """Give what is to be done, or was, one line each."""
    lines = [f"  {number}. {step.words}" for number, step in enumerate(steps, 1)]
    return "".join(visible(line) + "\n" for line in (head, *lines))


def render_end(outcome: InitOutcome) -> str:
    """Give what was done, and what to do next; of a dry run the policy's text."""
    draft = outcome.draft
    if outcome.dry_run:
        text = "".join(visible(line) + "\n" for line in draft.text.splitlines())
        would = render_steps(outcome.steps, "Would do:") if outcome.steps else "Would do nothing: all is in place.\n"
        return f"\nThe policy, {visible(draft.target)}:\n\n{text}\n{would}Dry run: nothing was written.\n"
    if outcome.declined:
        return "Nothing was written.\n"
    lines = [line for step in outcome.steps for line in (_done_words(step), *(f"   {d}" for d in step.detail))]
    if outcome.kept:
        lines.append(f"The policy of before lies in {outcome.kept}.")
    return "".join(visible(line) + "\n" for line in (*(lines or ["All is in place already."]), *_next_lines(outcome)))


def _done_words(step: Step) -> str:
    return f"Done: {step.words}." if step.done else f"Not done: {step.words}."


def _next_lines(outcome: InitOutcome) -> Iterator[str]:
    draft = outcome.draft
    named = f" --file {draft.file}" if draft.file else ""
    yield ""
    yield f"Next: `memttl prune --dry-run{named}` shows what would go, `memttl explain{named}` why each stays or goes."
    yield "`memttl policy prompt --append CLAUDE.md` teaches your assistant to write what can expire."
    if draft.file and "schedule" not in {step.name for step in outcome.steps}:
        yield f"`memttl schedule systemd --install{named}` prunes it every night (or cron, launchd, windows)."


def _file_lines(draft: Draft) -> Iterator[str]:
    report = draft.report
    if draft.file is None:
        yield "No memory file: this policy will hold for every memory file that has none beside it."
    elif report is None:
        yield f"{draft.file}: nothing lies there yet. The memory server makes the file at its first write."
    else:
        counts, weights = report.counts, report.weights
        holds = f"{plural(counts.entities, 'entity')}, {plural(counts.relations, 'relation')} and "
        holds += plural(counts.observations, "observation")
        yield f"{draft.file}: {holds}; reading it costs an assistant about {weights.tokens_estimated:,} tokens."
        unknown = counts.observations - report.known_age
        ages = f"Age known of {report.known_age} of {counts.observations}"
        sighted = sighted_words(report)
        ages += f" ({sighted})" if sighted else ""
        yield f"{ages}; what is of unknown age never expires." if unknown else f"{ages}."
        if draft.commits:
            yield f"Git knows the file: {plural(draft.commits, 'commit')} changed it, so it can tell earlier ages."


def _habit_lines(draft: Draft) -> list[str]:
    habits = draft.habits
    if not habits.observations:
        return []
    rows = [
        ("entity types", _some(f"{t.name or 'no type'} {t.observations}" for t in habits.types)),
        ("texts begin with", _some(f"{head} {count}" for head, count in habits.heads if count > 1)),
        ("dates", _dates_words(habits)),
        ("labels of dates", _some(f"{use.label}: {use.uses}" for use in habits.labels)),
    ]
    return ["What is in it (observations of each):", *(f"  {name:<17} {words or 'none'}" for name, words in rows)]


def _dates_words(habits: Habits) -> str:
    forms = _some(f"{form.name} {form.uses}" for form in habits.forms)
    return f"in {habits.dated} of {habits.observations}, written as: {forms}" if forms else ""


def _proposal_lines(proposal: Proposal) -> Iterator[str]:
    if proposal.is_built_in:
        yield "What can expire: nothing in it says of itself that it is passing, as in nearly all files."
        yield "The policy will have the built-in tiers: what begins with [session] goes after 30 days, [operational]"
        yield "after 90 days, everything else stays. `memttl policy prompt` teaches your assistant to write so."
        return
    yield "What can expire, by the rules that are proposed (everything else stays):"
    for rule in proposal.prefixes:
        yield f"  {_days(rule.tier):<8} {_prefix_words(rule)}"
    for family in proposal.families:
        yield f"  {_days('operational'):<8} {family.title}, but for open work, faults, decisions and lessons in them:"
        yield f"           {_some(family.names)}"
    for key, choices in (("dates behind the label", proposal.labels), ("dates written as", proposal.formats)):
        taken = [c.text for c in choices if not c.why_not]
        if taken:
            yield f"  {key} {', '.join(taken)} are read as the day of writing"
    if proposal.types:
        yield f"  as comments only: rules for the types {_some(name for name, _ in proposal.types)}"


def _days(tier: str) -> str:
    return {"session": "30 days", "operational": "90 days"}[tier]


def _prefix_words(rule: PrefixRule) -> str:
    words = ", ".join(f"[{p}]" if rule.marked_only else f"[{p}] or {p}:" for p in rule.prefixes)
    met = f" ({rule.uses} so far)" if rule.uses else ""
    only = ", only in brackets or with a date" if rule.marked_only else ""
    return f"texts that begin with {words}{only}{met}"


def _forecast_lines(draft: Draft) -> Iterator[str]:
    told: Texts = Counter()
    for forecast in draft.forecasts:
        yield from _one_forecast(draft, forecast, told)
        told += texts_of(forecast.plan.removals)


def _one_forecast(draft: Draft, forecast: Forecast, told: Texts) -> Iterator[str]:
    """Say what would go, and the first few texts that are not told yet."""
    plan, counts = forecast.plan, forecast.plan.counts
    ages = ", if ages begin now," if forecast.days and draft.ages_begin and draft.begun is None else ""
    when = f"In {forecast.days} days ({day_words(forecast.now.date())}){ages}" if forecast.days else "Today"
    if not counts.removed:
        yield f"{when} a prune by this policy would remove nothing."
        return
    noun = noun_of(counts.observations, "observation")
    fresh = [v for v in plan.removals if not texts_of([v]) <= told]
    colon = ":" if fresh else "."
    also = ", the same" if not fresh else ", these among them" if told else ""
    yield f"{when} a prune by this policy would remove {counts.removed} of {counts.observations} {noun}{also}{colon}"
    for verdict in fresh[:_TEXTS_SHOWN]:
        yield cut(f"  {verdict.entity}: {observation_text(verdict.observation)}", _TEXT_WIDTH)
    if len(fresh) > _TEXTS_SHOWN:
        yield f"  … and {len(fresh) - _TEXTS_SHOWN} more"
    for reason in plan.refusals:
        yield f"  That is past a limit, so a prune would be refused: {reason}."
    if plan.has_vanished:
        yield f"  {VANISHED_HINT}"


def _some(names: Iterable[str]) -> str:
    found = list(names)
    rest = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
