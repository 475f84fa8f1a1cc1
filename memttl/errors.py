"""Everything that memttl says no with: one class a kind, each with its name, exit code and hint.

`cli.py` is the one place that prints them. Exit codes are those of SPEC section 6 (sysexits where it has one).
"""

from __future__ import annotations

import enum

AS_IT_WAS = "the memory file is as it was"


class ExitCode(enum.IntEnum):
    """What the process returns. Every one but 0 and 3 means: the memory file is as it was (unless `applied`)."""

    OK = 0
    BUG = 1
    USAGE = 2
    FOUND_WORK = 3
    LIMIT = 4
    MALFORMED = 65
    NO_INPUT = 66
    CANNOT_CREATE = 73
    TRY_AGAIN = 75
    NO_PERMISSION = 77
    BAD_POLICY = 78
    INTERRUPTED = 130


class MemttlError(Exception):
    """The root: `message` says what was found, where, and what was not done; `hint` what to do next.

    `applied` is true when the memory file had been written before this failed.
    """

    exit_code = ExitCode.BUG
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None, applied: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.applied = applied
        if hint is not None:
            self.hint = hint

    def after_the_write(self) -> None:
        """Make it the error of a run that had written the memory file: it must not say the contrary."""
        self.applied = True
        self.message = self.message.replace(f"; {AS_IT_WAS}", "")

    @property
    def name(self) -> str:
        """The class's own name, as it stands in the JSON error."""
        return type(self).__name__


class Bug(MemttlError):
    """Something that memttl did not reckon with; the traceback stands before it."""

    hint = "Please report this with `memttl --version --verbose`."


class UsageError(MemttlError):
    """The call's words are off: an option, an entity that is not there, an unreadable `--now`."""

    exit_code = ExitCode.USAGE


class NeedsYes(UsageError):
    """A command that changes something was run where nobody can answer its question."""

    hint = "Give --yes to apply, or --dry-run to see what would be done."

    def __init__(self) -> None:
        super().__init__("Standard input is no terminal, so nobody can be asked; nothing was done.")


class NoTerminal(UsageError):
    """A command that is a dialogue was run where nobody can answer."""

    hint = (
        "`memttl report` shows the same; `memttl set`, `memttl pin`, `memttl renew` and `memttl prune` do it without a "
        "terminal."
    )

    def __init__(self) -> None:
        super().__init__("Standard input is no terminal, so nothing can be gone through; nothing was done.")


class UnknownEntity(UsageError):
    """No entity or observation of the memory file matches what was named."""


class UnknownRun(UsageError):
    """The audit log knows no run of that name, or several that begin so."""

    hint = "`memttl log` lists all runs."


class RunThinned(UsageError):
    """The run is too old: the audit log holds a summary of it only."""

    hint = "`memttl backups list` shows whether a backup of that time is left."


class UnknownBackup(UsageError):
    """There is no backup of that name."""

    hint = "`memttl backups list` lists all of them."


class NoHistory(UsageError):
    """Git knows no history of the memory file, or none that it could or would read."""

    hint = "Give old copies of the file with --from instead."


class Malformed(MemttlError):
    """The memory file holds lines that the memory server could not read."""

    exit_code = ExitCode.MALFORMED
    hint = (
        "`memttl doctor --repair` mends these lines and keeps a backup; `memttl doctor` tells what the server does "
        "with each. `memttl prune --keep-malformed` prunes the good lines and leaves these byte for byte as they are."
    )


class Foreign(MemttlError):
    """The file is no memory file of the MCP memory server, whatever its name says."""

    exit_code = ExitCode.MALFORMED
    hint = "Point --file at the memory file that your MCP client's MEMORY_FILE_PATH names."


class NoMemoryFile(MemttlError):
    """There is no memory file where memttl looked."""

    exit_code = ExitCode.NO_INPUT


class CannotCreate(MemttlError):
    """A backup, the audit log, the archive or the new version of the memory file could not be written."""

    exit_code = ExitCode.CANNOT_CREATE


def of_system(e: OSError) -> CannotCreate:
    """Give the error for a fault of the system: a disk that fails, a network folder that went away."""
    return CannotCreate(f"{e.filename or 'The operating system'}: {e.strerror or e}.")


class CannotPrint(CannotCreate):
    """The result could not be written on standard output."""


class LedgerDamaged(CannotCreate):
    """The ledger cannot be read; the workflow rebuilds what can be rebuilt from the audit log."""

    hint = "Run the same command again: the ledger is then rebuilt from the audit log."


class LedgerLost(CannotCreate):
    """The ledger is lost and what the user set cannot be rebuilt, so that nothing may be removed."""


class TryAgain(MemttlError):
    """The file would not stay still; a later try will do."""

    exit_code = ExitCode.TRY_AGAIN
    hint = "Run the same command again in a moment."


class Locked(TryAgain):
    """Another memttl holds the lock."""


class ClockBehind(TryAgain):
    """The machine's clock, or `--now`, lies more than a day before what the ledger holds."""

    hint = "Set the clock, or give a later --now."


class NoPermission(MemttlError):
    """The operating system forbids it, or the write path refuses this file."""

    exit_code = ExitCode.NO_PERMISSION


class IsArchive(NoPermission):
    """The file is an archive, which keeps what was removed from another one."""


class BadPolicy(MemttlError):
    """The policy has problems; all of them are in the message, one a line."""

    exit_code = ExitCode.BAD_POLICY

    def __init__(self, where: str, problems: tuple[str, ...], *, hint: str | None = None) -> None:
        count = f"{len(problems)} problem" + ("s" if len(problems) != 1 else "")
        lines = "\n".join(f"  {p}" for p in problems)
        super().__init__(f"The policy {where} has {count}; nothing was done:\n{lines}", hint=hint)
        self.where, self.problems = where, problems

    hint = "Correct the policy, then run `memttl policy check` on it."


class Interrupted(MemttlError):
    """Ctrl-C."""

    exit_code = ExitCode.INTERRUPTED
