"""A question below the plan that it is about, and what need not be shown again once it was answered.

`prune` and the commands that set share it. `shown` gathers (file, "plan" or a warning): what stands above the question.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from memttl.commands.options import Output, warn
from memttl.commands.printing import ask, say
from memttl.errors import UsageError

if TYPE_CHECKING:
    from memttl.settings import Settings

Shown = set[tuple[str, str]]
_LATER = "Give --dry-run to look, or --yes to apply all the same."


class Planned(Protocol):
    """An outcome as planned: the path of its memory file as named, and its warnings."""

    @property
    def file(self) -> str:
        """The path as named."""

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences."""


def ask_below(
    planned: Planned, output: Output, shown: Shown, plan: Callable[[bool], str], question: str | None
) -> bool:
    """Show the plan and ask on stderr, so that stdout holds nothing but the result.

    `plan` gives the plan's text, for a screen or for a pipe; `question` None is one that was answered with yes.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    on_screen = sys.stderr is not None and sys.stderr.isatty()
    if on_screen and output.is_terminal:
        shown.add((planned.file, "plan"))
    shown.update((planned.file, warning) for warning in planned.warnings)
    warn(planned.warnings, output)
    say(plan(on_screen))
    return question is None or ask(question)


def warn_of_the_rest(outcome: Planned, output: Output, shown: Shown) -> bool:
    """Print the warnings that were not shown with a question; say whether the plan is still to be shown, too."""
    warn((warning for warning in outcome.warnings if (outcome.file, warning) not in shown), output)
    return (outcome.file, "plan") not in shown


def refuse_later_now(settings: Settings, would: str, *, hint: str = _LATER) -> None:
    """Refuse to apply as of an instant after the clock where nobody has said yes beforehand.

    Raises:
        UsageError: `would` says what that would do.
    """
    if settings.now_is_later:
        raise UsageError(f"--now lies after the clock, so this would {would}; nothing was done.", hint=hint)
