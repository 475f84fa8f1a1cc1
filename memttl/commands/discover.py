"""`memttl discover`: which memory files the MCP clients of this machine use, and what to know of each."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, words
from memttl.commands.printing import put
from memttl.errors import ExitCode, MemttlError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.settings import Given
    from memttl.setup.found import Discovery


def discover(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Find the memory files that your MCP clients use; with --file who uses that one."""
    from memttl.memory_files import is_named
    from memttl.report.discover import WIDTH, discover_document, render
    from memttl.settings import Given
    from memttl.setup.discover import discover as look_around
    from memttl.setup.discover import only_of, this_machine

    output = Output(json, quiet, verbose, color)
    given = Given(words(file), policy, now)
    moment = _now(given)
    machine = this_machine(os.environ)
    discovery = look_around(machine)
    used, because = _used(discovery)
    asked = list[str]()
    if given.file:
        whole = discovery
        discovery = only_of(whole, [Path(os.path.expanduser(name)) for name in given.file])
        asked = [name for name in given.file if not only_of(whole, [Path(os.path.expanduser(name))]).found]
    document = discover_document(discovery, used=used, because=because)
    if json:
        from memttl.report.documents import to_text

        put(to_text(document))
    elif not quiet:
        width = output.width if output.is_terminal else WIDTH
        by_variable = is_named(Given(), os.environ)
        home = str(machine.home)
        text = render(document, moment, home=home, width=width, verbose=verbose, by_variable=by_variable, asked=asked)
        put(text)
        _tell_failures(discovery, given)
    return ExitCode.OK


def _tell_failures(discovery: Discovery, given: Given) -> None:
    """Tell at a terminal of the files found whose runs that nobody watched have failed."""
    from memttl.commands.printing import can_ask
    from memttl.commands.telling import tell_failures
    from memttl.settings import resolve_anyway

    if not can_ask():
        return
    for path in (str(found.path) for found in discovery.found if found.path and found.exists):
        with contextlib.suppress(MemttlError, OSError):
            settings = resolve_anyway(path, given._replace(now=None), os.environ, datetime.now(UTC))
            tell_failures([(path, settings.state_elsewhere)])


def _now(given: Given) -> datetime:
    """Give the instant by which ages are told, in the zone of the policy that was given."""
    from memttl.core.zones import in_zone

    text = given.now if given.now is not None else os.environ.get("MEMTTL_NOW") or None
    if text is None and given.policy is None:
        return datetime.now(UTC)
    from memttl.policies import find_policy
    from memttl.settings import read_now

    policy = find_policy(None, given.policy, os.environ)
    source = "--now" if given.now is not None else "MEMTTL_NOW"
    return in_zone(datetime.now(UTC) if text is None else read_now(text, policy, source), policy.zone)


def _used(discovery: Discovery) -> tuple[str | None, str]:
    """Give the memory file that every command takes when none is named, and why; or why there is none."""
    from memttl.memory_files import is_named, memory_files
    from memttl.settings import Given
    from memttl.setup.choice import doubts_of, the_one, who_names

    try:
        if is_named(Given(), os.environ):
            variable = "MEMTTL_FILE" if os.environ.get("MEMTTL_FILE") else "MEMORY_FILE_PATH"
            return memory_files(Given(), os.environ)[0], f"{variable} names it"
        found = the_one(discovery)
        doubts = "".join(f"; to change something, name it with --file: {d.why}" for d in doubts_of(found, discovery))
        return str(found.path), f"{who_names(found)}{doubts}"
    except MemttlError as e:
        return None, e.message
