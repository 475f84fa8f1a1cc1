"""The options that say which observations are meant, one annotated type each: for prune, report, review and search."""

from __future__ import annotations

from typing import Annotated

import typer

Entity = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME", help="Only this entity (or glob); repeatable.")
]
Type = Annotated[
    list[str] | None, typer.Option("--type", metavar="TYPE", help="Only entities of this type (or glob); repeatable.")
]
Tier = Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="Only this tier; repeatable.")]
Within = Annotated[
    str | None, typer.Option("--within", metavar="DURATION", help="What expires within this is due (default: 30d).")
]
ExpireBefore = Annotated[
    str | None, typer.Option("--expire-before", metavar="DATE", help="What expires before this day is due, instead.")
]
