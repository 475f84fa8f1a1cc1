"""`memttl search`: what the memory server's own search would find, without what has expired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.narrowing import Tier, Type
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, tell, words
from memttl.commands.printing import put
from memttl.errors import ExitCode

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.search import Query, SearchOutcome
    from memttl.settings import Settings


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="A part of a name, a type or an observation, in any case.")
    ],
    expired: Annotated[
        str, typer.Option("--expired", metavar="exclude|include|only", help="What becomes of expired observations.")
    ] = "exclude",
    expire_before: Annotated[
        str | None, typer.Option("--expire-before", metavar="DATE", help="Only what has expired when DATE begins.")
    ] = None,
    tier: Tier = None,
    type_: Type = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="Tell tier, age and expiry of what is found.")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Search as the memory server does, without what has expired."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.core.listing import read_expire_before
    from memttl.core.search import Query, read_expired
    from memttl.report.search import search_document
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    asked = Query(query, read_expired(expired), types=words(type_), tiers=words(tier))

    def one(settings: Settings) -> SearchOutcome:
        # each file may have a policy of its own, and with it a time zone and formats
        before = read_expire_before(expire_before, settings.policy) if expire_before is not None else None
        return _one(settings, asked._replace(expire_before=before), output)

    return over_files(
        Given(words(file), policy, now),
        output,
        one,
        Faces(
            lambda _: ExitCode.OK,
            lambda outcome: search_document(outcome, verdicts=verdicts),
            lambda outcome: put(_text(outcome, output, verdicts=verdicts)),
        ),
    )


def _one(settings: Settings, query: Query, output: Output) -> SearchOutcome:
    from memttl.workflow.search import search as run_search

    outcome = run_search(settings, query)
    if not output.quiet:
        tell(outcome.warnings)  # the document of --json has no place for them
    return outcome


def _text(outcome: SearchOutcome, output: Output, *, verdicts: bool) -> str:
    if not output.uses_color:
        from memttl.report import search

        return search.render(outcome, verdicts=verdicts)
    from memttl.report import search_terminal  # rich: only where a person looks at a screen

    return search_terminal.render(outcome, verdicts=verdicts)
