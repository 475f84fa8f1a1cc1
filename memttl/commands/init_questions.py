"""The questions of `memttl init`: which file, which rules, what is to be done. Each has an answer that Enter takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from memttl.commands.printing import choose, put, read_line, say
from memttl.core.wording import plural
from memttl.errors import UsageError
from memttl.report.text import visible

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.commands.options import Output
    from memttl.core.first_steps import Draft
    from memttl.report.text import View
    from memttl.settings import Given
    from memttl.setup.found import Found

_NOTHING = "Interrupted; nothing was written."
_YES_NO = {"y": True, "yes": True, "n": False, "no": False}


class Answers(NamedTuple):
    """What the options said; None where a question is left to be asked, or its default to be taken."""

    output: str | None
    user: bool
    timezone: str | None
    rules: bool | None
    scan: bool | None
    backfill: bool | None
    schedule: str | None
    replace: bool
    dry_run: bool
    asks: bool


def teller(answers: Answers, output: Output) -> Callable[[str], None]:
    """Give what shows a text: above questions on stderr, so that stdout holds the result; else on stdout."""
    if answers.asks:
        return say
    return (lambda _: None) if output.json or output.quiet else put


def view(answers: Answers, output: Output) -> View:
    """Give how wide what is shown may be, and whether all of it is wanted."""
    from memttl.report.text import View

    stream = sys.stderr if answers.asks else sys.stdout
    return View(output.width if stream is not None and stream.isatty() else None, output.verbose)


def all_texts(planned: Draft, answers: Answers, output: Output) -> Callable[[], None] | None:
    """Give what shows every text that would go; None where all of them have been shown."""
    from memttl.report.init_forecast import has_more, render_forecasts

    shown = view(answers, output)
    if not has_more(planned, shown):
        return None
    return lambda: say(render_forecasts(planned, shown._replace(is_whole=True)))


def agree(question: str, *, default: bool = True, show: Callable[[], None] | None = None) -> bool:
    """Ask a question of yes or no; Enter takes the default, and `s` calls `show` where there is more to see.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    answers: dict[str, bool | None] = {"": default, **_YES_NO, **({"s": None, "show": None} if show else {})}
    keys = f"{'Y/n' if default else 'y/N'}{'/s, s shows all that would go' if show else ''}"
    while True:
        again = "Answer y, n or s." if show else "Answer y or n."
        answer = choose(_folded(f"{question} [{keys}]:"), answers, again, interrupted=_NOTHING)
        if answer is not None:
            return answer
        assert show is not None
        show()


def ask_zone() -> str:
    """Ask for the time zone until there is such a one; Enter takes UTC.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    from memttl.core.zones import read_zone

    while True:
        name = read_line("Your time zone, such as Europe/Berlin [UTC]: ", _NOTHING).strip() or "UTC"
        try:
            read_zone(name)
        except ValueError as e:
            say(visible(str(e)))
        else:
            return name


def ask_schedule(kinds: Iterable[str], default: str) -> str:
    """Ask who is to run the daily prune: one of `kinds`, or "none".

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    kinds = tuple(kinds)
    words = {"": default, "y": "none" if default == "none" else default, "n": "none", "no": "none", "none": "none"}
    words |= {"yes": words["y"], **{kind: kind for kind in kinds}}
    others = "/".join((*kinds, "none"))
    question = f"Have `memttl prune` run every day, by {others} [{default}]:"
    return choose(_folded(question), words, f"Answer {', '.join(kinds)} or none.", interrupted=_NOTHING)


def _folded(question: str) -> str:
    """Fold a question at the width of the screen on which it stands."""
    from memttl.commands.options import Output
    from memttl.report.text import fold

    return "\n".join(fold(question, Output().width)) + " "


def pick_file(given: Given, *, asks: bool, writes: bool) -> str:
    """Give the memory file that is meant: the one that is named, the discovered one, or the one that is picked.

    Raises:
        UsageError: there are several, or it is in doubt whether this one is meant, and nobody can be asked.
        NoMemoryFile: there is none, with where was looked.
        Interrupted: Ctrl-C or the end of input.
    """
    from memttl.memory_files import is_named, memory_files

    if is_named(given, os.environ):
        names = memory_files(given, os.environ)
        return names[0] if len(names) == 1 else _picked([(name, "") for name in names], asks=asks)
    from memttl.setup.choice import candidates, doubts_of, short_words, the_one
    from memttl.setup.discover import discover, this_machine

    machine = this_machine(os.environ)
    discovery = discover(machine, counting=asks)
    found = candidates(discovery)
    if asks and len(found) > 1:
        return _picked([(str(f.path), _about(f)) for f in found], asks=True)
    one = the_one(discovery)
    say(visible(f"The memory file is {short_words(one, str(machine.home))}."))
    for doubt in doubts_of(one, discovery):
        if writes and not asks:
            raise doubt.refusal()
        say(f"warning: {visible(doubt.why)}")
    return str(one.path)


def _picked(files: list[tuple[str, str]], *, asks: bool) -> str:
    rows = [f"{number}. {path}{about}" for number, (path, about) in enumerate(files, 1)]
    if not asks:
        listed = "\n".join(f"  {path}{about}" for path, about in files)
        message = f"There are {len(files)} memory files; nothing was done:\n{listed}"
        raise UsageError(message, hint="Name one with --file.")
    say("There are several memory files:\n" + "\n".join(f"  {visible(row)}" for row in rows))
    answers = {"": 0, **{str(number + 1): number for number in range(len(files))}}
    chosen = choose("Which one [1]: ", answers, f"Answer 1 to {len(files)}.", interrupted=_NOTHING)
    return files[chosen][0]


def _about(found: Found) -> str:
    parts = list(dict.fromkeys(pointer.client for pointer in found.pointers))
    if not found.exists:
        parts.append("nothing lies there yet")
    elif found.entities is None:
        parts.append("no memory file of the server")
    else:
        parts.append(plural(found.entities, "entity"))
        parts += [f"{found.size_bytes:,} bytes"] if found.size_bytes is not None else []
    parts += [f"last change {found.changed:%Y-%m-%d}"] if found.changed else []
    return f" ({', '.join(parts)})" if parts else ""
