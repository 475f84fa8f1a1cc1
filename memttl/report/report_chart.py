"""The chart of what expires when: a bar a month, a colour and a character a tier, so that it reads without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from memttl.core.report import Month
from memttl.report.fitting import columns_of
from memttl.report.terminal import Screen

_BLOCKS, _ASCII = "█▒▓░▚▞◼◻", "#=+-:%*o"  # beyond eight tiers: letters
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_STYLES = ("cyan", "yellow", "magenta", "green", "blue", "red", "bright_cyan", "bright_yellow")
_LONGEST, _LONGEST_NAME = 60, 30  # columns of a bar on the widest screen; of a tier's name


def chart(months: Sequence[Month], screen: Screen) -> Iterator[Text]:
    """Give the lines of the chart and of its legend; none without months."""
    if not months:
        return
    tiers = list(dict.fromkeys(tier for month in months for tier in month.tiers))
    looks = dict(zip(tiers, _looks(len(tiers), screen), strict=True))
    names = max(len(month.month) for month in months)
    counts = max(len(f"{month.observations:,}") for month in months)
    spare = max(len(month.tiers) for month in months)  # each tier shows, however few it has
    room = max(4, min(_LONGEST, screen.width - names - counts - 6 - spare))
    most = max(month.observations for month in months)
    for month in months:
        head = f"  {month.month.ljust(names)}  {f'{month.observations:,}'.rjust(counts)}  "
        yield Text.assemble(head, *_bar(month, looks, room / most))
    yield from _legend(looks, screen)


def _legend(looks: dict[str, tuple[str, str]], screen: Screen) -> Iterator[Text]:
    """Name each tier beside its sign, in as many lines as that takes."""
    line, used = Text(), 0
    for tier, (sign, style) in looks.items():
        name = screen.fitted(screen.shown(tier), _LONGEST_NAME)
        wanted = len("  X ") + columns_of(name)
        if used and used + wanted > screen.width:
            yield line
            line, used = Text(), 0
        line.append("  ").append(sign, style).append(f" {name}")
        used += wanted
    yield line


def _looks(count: int, screen: Screen) -> list[tuple[str, str]]:
    signs = (_BLOCKS if screen.has(_BLOCKS) else _ASCII) + _LETTERS
    return [(signs[place % len(signs)], _STYLES[place % len(_STYLES)]) for place in range(count)]


def _bar(month: Month, looks: dict[str, tuple[str, str]], columns_each: float) -> Iterator[tuple[str, str]]:
    """Give the pieces of one bar; whatever is there shows at least one column, so a bar may be a bit longer."""
    ends, total = [0], 0
    for count in month.tiers.values():
        total += count
        ends.append(max(ends[-1] + 1, round(total * columns_each)))
    for tier, (start, end) in zip(month.tiers, pairwise(ends), strict=True):
        sign, style = looks[tier]
        yield sign * (end - start), style
