"""What was found on a machine as a JSON document, and that document as text for somebody who has never seen the file.

`commands/discover.py` prints one of them. Pure; the values of `setup/found.py` are taken as they come, since a report
imports nothing of `setup`.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from memttl.core.wording import day_words, instant_text, plural, short_path
from memttl.core.zones import in_zone
from memttl.report.backups import size_words
from memttl.report.documents import SCHEMA
from memttl.report.text import age_words, visible

WIDTH = 80  # of a mail, and of a terminal as it opens


def discover_document(discovery: Any, *, used: str | None, because: str) -> dict[str, Any]:
    """Give a `Discovery` as the document of `--json`.

    `used` is the file that every command takes when none is named, and `because` says why, or why there is none.
    """
    return {
        "schema": SCHEMA,
        "used": used,
        "because": because,
        "found": [_found(found) for found in discovery.found],
        "unread": [_texts(unread) for unread in discovery.unread],
        "looked": [{"client": p.client, "config": str(p.config), "there": p.is_there} for p in discovery.looked],
        "caches": [str(cache) for cache in discovery.caches],
    }


def _found(found: Any) -> dict[str, Any]:
    return {
        "path": str(found.path) if found.path else None,
        "text": found.text,
        "exists": found.exists,
        "entities": found.entities,
        "observations": found.observations,
        "bytes": found.size_bytes,
        "changed": instant_text(found.changed) if found.changed else None,
        "moved_to": found.moved_to or None,
        "moved_on": found.moved_on or None,
        "release": found.release,
        "clients": [
            {**_texts(pointer), "keys": list(pointer.keys), "server": pointer.server or None}
            for pointer in found.pointers
        ],
        "troubles": [trouble._asdict() for trouble in found.troubles],
    }


def _texts(value: Any) -> dict[str, Any]:
    """Give the fields of a value, its paths as text."""
    return {name: field if field is None or name == "keys" else str(field) for name, field in value._asdict().items()}


def render(
    document: dict[str, Any],
    now: datetime,
    *,
    home: str,
    width: int = WIDTH,
    verbose: bool = False,
    by_variable: bool = False,
    asked: Sequence[str] = (),
) -> str:
    """Give the document as text, ending with what to type next; `home` is shortened to ~ where a config is named.

    `by_variable`: the file that is used is named by a variable, whatever the configs say. With `verbose` it
    tells all places where configs were looked for. `asked` are the files whose users were asked for and that have none.
    """
    count = len(document["found"])
    lines = [f"{count} memory files:", ""] if count > 1 else []
    lines += [line for found in document["found"] for line in (*_block(found, now, home, width), "")]
    if document["unread"]:
        lines += ["Could not be read, and may name more:"]
        lines += [f"  {short_path(u['config'], home)} ({u['client']}): {u['problem']}" for u in document["unread"]]
        lines.append("")
    if verbose:
        lines += ["Looked for configs at:", *_places(document, home), ""]
    if asked:
        lines += [line for name in asked for line in _unused(name, document, width)]
    else:
        lines += _closing(document, home, width, by_variable=by_variable)
    return "".join(visible(line).rstrip() + "\n" for line in lines)


def _block(found: dict[str, Any], now: datetime, home: str, width: int) -> Iterator[str]:
    yield found["path"] or f"unknown place ({found['text'] or 'the config names none'})"
    yield from _wrapped(_holds(found, now), width, "  ")
    for pointer in found["clients"]:
        yield from _wrapped(_pointed(pointer, home), width, "  ")
    for trouble in found["troubles"]:
        yield from _wrapped(f"{trouble['problem']}. {trouble['remedy']}", width, "    ", first="  ! ")
        if trouble["command"]:
            yield f"      {trouble['command']}"


def _holds(found: dict[str, Any], now: datetime) -> str:
    """Say what is in a file: `14 entities, 63 observations, 5.5 kB, changed today`."""
    by = [f"read by release {found['release']} of the server"] if found["release"] else []
    if found["moved_to"]:
        return f"moved to {found['moved_to']} on {found['moved_on']}; nothing lies here any more"
    if not found["exists"]:
        return ", ".join(["nothing lies there yet" if found["path"] else "not looked into", *by])
    words = []
    if found["entities"] is not None:
        words += [plural(found["entities"], "entity"), plural(found["observations"], "observation")]
    if found["bytes"] is not None:
        words.append(size_words(found["bytes"]))
    if found["changed"]:
        changed = in_zone(datetime.fromisoformat(found["changed"]), now.tzinfo or UTC)
        age = age_words(changed, now)
        words.append(f"changed {day_words(changed.date())} ({'today' if age == '0 days' else f'{age} ago'})")
    return ", ".join([*words, *by])


def _pointed(pointer: dict[str, Any], home: str) -> str:
    asked = f", release {pointer['version']}" if pointer["version"] else ""
    only = f", in {short_path(pointer['project'], home)} only" if pointer["project"] else ""
    idle = f"; {pointer['idle']}" if pointer["idle"] else ""
    config = short_path(pointer["config"], home)
    by = " through memttl serve" if pointer["server"] == "memttl serve" else ""
    return f'used by {pointer["client"]}{by} ("{pointer["keys"][-1]}" in {config}{asked}{only}{idle})'


def _wrapped(text: str, width: int, indent: str, *, first: str = "") -> list[str]:
    """Break a text at spaces only: its paths are there to be copied."""
    return textwrap.wrap(
        visible(text),
        width,
        initial_indent=first or indent,
        subsequent_indent=indent if first else indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _places(document: dict[str, Any], home: str) -> list[str]:
    marks = {True: "there", False: "-"}
    looked = document["looked"]
    configs = [f"  {marks[p['there']]:<5}  {p['client']:<14}  {short_path(p['config'], home)}" for p in looked]
    return [*configs, *(f"  {'':<5}  {'npx cache':<14}  {short_path(cache, home)}" for cache in document["caches"])]


def _closing(document: dict[str, Any], home: str, width: int, *, by_variable: bool) -> list[str]:
    """Say what to type next."""
    used, found = document["used"], document["found"]
    if not found and not used:
        there = sum(place["there"] for place in document["looked"])
        none = "none that could be read starts" if document["unread"] else "none starts"
        words = (
            f"No memory file was found. {plural(len(document['looked']), 'place')} were looked at, where MCP clients "
            f"keep their configs ({there} of them there; {none} a memory server), and the npx cache. "
            "`memttl discover --verbose` names them all. If you know the file, name it:"
        )
        return [*_plain(words, width), "  memttl report --file PATH"]
    gone = next((one for one in found if one["path"] == used and one["moved_to"]), None)
    if gone:
        words = (
            f"{gone['path']} was moved to {gone['moved_to']} on {gone['moved_on']}. Let the config name that, restart "
            "the client, and see what is in it:"
        )
        return [*_plain(words, width), f"  memttl report --file {shlex.quote(gone['moved_to'])}"]
    lying = [one["path"] for one in found if one["path"] and one["exists"] and one["bytes"] is not None]  # no folder
    if used and any(one["path"] == used and not one["exists"] for one in found):
        return _plain(f"The server makes {used} when an assistant first keeps something there.", width)
    if used:
        is_told = any(one["path"] == used and one["clients"] for one in found)  # above, with who uses it
        why = "" if is_told and not by_variable else f" ({document['because'].replace(f'({home}/', '(~/')})"
        words = f"Every command uses {short_path(used, home)} unless you name another{why}. Next, see what is in it:"
        return [*_plain(words, width), "  memttl report"]
    if not lying:
        return _plain("None of them can be read here. If you know where the file lies, name it with --file.", width)
    return [
        *_plain("Name the one that you mean with --file. Next, see what is in it:", width),
        f"  memttl report --file {shlex.quote(lying[0])}",
    ]


def _unused(name: str, document: dict[str, Any], width: int) -> list[str]:
    unread = ", as far as the configs can be read" if document["unread"] else ""
    words = f"{name}: no MCP client here uses it{unread}. To see what is in it:"
    return [*_plain(words, width), f"  memttl report --file {shlex.quote(name)}"]


def _plain(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
