"""The kind of command that memttl and its groups are: examples below each help, and one way to refuse a wrong name.

`cli.py`, `backups.py`, `log.py` and `policy.py` build their Typer apps with it. It is imported at every start.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """A command with subcommands."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Give the subcommand of this name, None for none; its help shows arguments and examples."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.format_epilog = _examples  # type: ignore[method-assign,assignment]
            for parameter in command.params:
                if parameter.param_type_name == "argument":
                    _tidy(parameter)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the subcommand that the words begin with.

        Raises:
            UsageError: there is none of that name; a near one is named.
        """
        if not ctx.resilient_parsing and args[0] not in self.commands:
            from memttl.commands.refusals import unknown_command

            raise unknown_command(ctx, args)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the group itself."""
        _examples(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the subcommands; a long line is wrapped, where Typer would cut it."""
        rows = [
            (name, command.get_short_help_str(limit=1000))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def shown_argument(parameter: Any) -> str:
    """Give an argument as a usage line shows it: `BACKUP`, `[ENTITY]`, `[FILE]...`."""
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def _tidy(parameter: Any) -> None:
    """Let a help text show an argument as it is meant; Typer's own way is `[[ENTITY]]` and `[ENTITY] <str>`."""
    shown = shown_argument(parameter)
    parameter.get_usage_pieces = lambda _: [shown]
    parameter.get_help_record = lambda _: (shown, parameter.help or "")


def _examples(context: Any, formatter: Any) -> None:
    from memttl.commands.examples import write_examples

    write_examples(context, formatter)
