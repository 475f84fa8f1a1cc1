"""What to say above and below the piece of a client's config that starts `memttl serve`.

`commands/serve_config.py` prints it on stderr, and the piece alone on stdout, so that it can be taken as it is. Pure;
the value of `setup/serve_config.py` is taken as it comes, since a report imports nothing of `setup`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memttl.core.wording import short_path
from memttl.report.text import visible


def config_words(printed: Any, *, home: str) -> tuple[list[str], list[str]]:
    """Give the lines to be read above the piece, where it goes, and below it; `home` is shortened to ~."""
    above, below = _above(printed, home), _below(printed, home)
    return [visible(line) for line in above], [visible(line) for line in below]


def _above(printed: Any, home: str) -> Iterator[str]:
    config = short_path(printed.config, home) or f"the config of {printed.client}"
    way = " > ".join(printed.keys[:-1])
    if printed.replaces:
        yield (
            f'In {config}, replace the value of "{printed.replaces}" under {way} by what stands behind it here; leave '
            "the rest of the file as it is:"
        )
        return
    project = f", or {printed.project} of one project" if printed.project else ""
    if printed.is_new_file:
        yield f"Make a file {config} of this{project}:"
    else:
        yield f"Put this into {config}{project}, beside what else stands under {way}:"


def _below(printed: Any, home: str) -> Iterator[str]:
    if printed.before:
        yield (
            f'Until now "{printed.replaces}" names {short_path(printed.before, home)}, which stays where it is; to use '
            "both, give this one another name."
        )
    for name, other in printed.others:
        yield (
            f'Take "{name}" out of {short_path(other, home)}: it starts a memory server on the same file, and the '
            "assistant would have every tool twice."
        )
    if not printed.replaces and not printed.others:
        yield (
            f"No entry of {printed.client} for the memory server (@modelcontextprotocol/server-memory) was found; if "
            "there is one elsewhere, take it out."
        )
    if printed.commands:
        where = f", in {short_path(printed.folder, home)}" if printed.folder else ""
        yield f"Or let {printed.client} write it{where}:"
        yield from (f"  {command}" for command in printed.commands)
    yield f"Then restart {printed.client}; `memttl discover` shows what it starts."
