"""What `memttl init` found, proposes and did: as lines for people, and as a JSON document. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memttl.core.first_steps import Draft, InitOutcome, Step
from memttl.core.habits import Habits
from memttl.core.proposal import PrefixRule, Proposal
from memttl.core.wording import plural, some_of
from memttl.report.init_forecast import lines_of, render_forecasts
from memttl.report.report_words import sighted_words
from memttl.report.text import View, visible

_DIFFERENCE_SHOWN = 60


def render_look(draft: Draft, view: View, *, dry_run: bool = False) -> str:
    """Give what the file holds, what is proposed for it, and what that would do; in a dry run the end says that."""
    parts = [_file_lines(draft), _habit_lines(draft), _proposal_lines(draft.proposal)]
    texts = [lines_of(lines, view) for lines in map(list, parts) if lines]
    forecasts = "" if dry_run else render_forecasts(draft, view)
    notes = lines_of(draft.notes, view)
    return "\n".join([*texts, *(text for text in (forecasts, notes) if text)])


def render_difference(draft: Draft) -> str:
    """Give how the proposal differs from the policy that lies there."""
    lines = draft.difference
    rest = len(lines) - _DIFFERENCE_SHOWN
    shown = [*lines[:_DIFFERENCE_SHOWN], *([f"… {plural(rest, 'more line')}"] if rest > 0 else [])]
    head = f"There is a policy already: {draft.target}. The proposal differs from it (+ is proposed, - is there):"
    return "".join(visible(line) + "\n" for line in (head, *shown))


def render_steps(steps: Iterable[Step], head: str, view: View) -> str:
    """Give what is to be done, or was, one line each."""
    return lines_of([head, *(f"  {number}. {step.words}" for number, step in enumerate(steps, 1))], view)


def render_end(outcome: InitOutcome, view: View) -> str:
    """Give what was done, and what to do next; of a dry run the policy's text, and below it what it would do."""
    draft = outcome.draft
    if outcome.dry_run:
        text = "".join(visible(line) + "\n" for line in draft.text.splitlines())
        nothing = "Would do nothing: all is in place.\n"
        would = render_steps(outcome.steps, "Would do:", view) if outcome.steps else nothing
        forecasts = render_forecasts(draft, view)
        head = f"\nThe policy, {visible(draft.target)}:\n\n{text}"
        return "\n".join([head, *([forecasts] if forecasts else []), f"{would}Dry run: nothing was written.\n"])
    if outcome.declined:
        return "Nothing was written.\n"
    lines = [line for step in outcome.steps for line in (_done_words(step), *(f"   {d}" for d in step.detail))]
    if outcome.kept:
        lines.append(f"The policy of before lies in {outcome.kept}.")
    return lines_of([*(lines or ["All is in place already."]), *_next_lines(outcome)], view)


def short(outcome: InitOutcome) -> str:
    """Give one line for whoever asked for quiet: the file, and why a prune or a first look at it is refused."""
    refused = next((step.detail for step in outcome.steps if step.detail and not step.done), ())
    first = next(iter(outcome.draft.forecasts), None)
    reasons = refused or (first.plan.refusals if first else ())
    return visible(f"{outcome.draft.file}: {'; '.join(reasons)}")


def _done_words(step: Step) -> str:
    done = "Written, not started yet" if step.waits else "Done" if step.done else "Not done"
    return f"{done}: {step.words}."


def _next_lines(outcome: InitOutcome) -> Iterator[str]:
    draft = outcome.draft
    named = f" --file {draft.file}" if draft.file else ""
    yield ""
    yield f"Next: `memttl prune --dry-run{named}` shows what would go, `memttl explain{named}` why each stays or goes."
    yield "`memttl policy prompt --append CLAUDE.md` teaches your assistant to write what can expire."
    if draft.file and not draft.is_scheduled and "schedule" not in {step.name for step in outcome.steps}:
        yield f"`memttl schedule --install{named}` prunes it every night."


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
        ("entity types", some_of(f"{t.name or 'no type'} {t.observations}" for t in habits.types)),
        ("texts begin with", some_of(f"{head} {count}" for head, count in habits.heads if count > 1)),
        ("dates", _dates_words(habits)),
        ("labels of dates", some_of(f"{use.label}: {use.uses}" for use in habits.labels)),
    ]
    return ["What is in it (observations of each):", *(f"  {name:<17} {words or 'none'}" for name, words in rows)]


def _dates_words(habits: Habits) -> str:
    forms = some_of(f"{form.name} {form.uses}" for form in habits.forms)
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
        yield f"  {_days('operational'):<8} in {family.title} what is done (“Completed: …”, lines of a log);"
        yield f"           open work, faults, decisions and lessons stay: {some_of(family.names)}"
    for key, choices in (("dates behind the label", proposal.labels), ("dates written as", proposal.formats)):
        taken = [c.text for c in choices if not c.why_not]
        if taken:
            yield f"  {key} {', '.join(taken)} are read as the day of writing"
    if proposal.types:
        yield f"  as comments only: rules for the types {some_of(name for name, _ in proposal.types)}"


def _days(tier: str) -> str:
    return {"session": "30 days", "operational": "90 days"}[tier]


def _prefix_words(rule: PrefixRule) -> str:
    words = ", ".join(f"[{p}]" if rule.marked_only else f"[{p}] or {p}:" for p in rule.prefixes)
    met = f" ({rule.uses} so far)" if rule.uses else ""
    only = ", only in brackets or with a date" if rule.marked_only else ""
    return f"texts that begin with {words}{only}{met}"
