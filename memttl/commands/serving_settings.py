"""The settings of a memory file while it is served: a policy that changes on disk is used from the next call on.

`commands/serve.py` makes one. Where the policy can be used no longer, the last good one stays; `bad_policy` says so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime

from memttl.errors import BadPolicy, NoMemoryFile
from memttl.files.state import state_of
from memttl.policies import policy_places
from memttl.settings import Given, Settings, resolve

Stamps = tuple[str, list[tuple[int, ...] | None]]


class ServingSettings:
    """Call it for the settings as they are now; any thread may."""

    def __init__(self, named: str, given: Given, environ: Mapping[str, str]) -> None:
        """Resolve them once.

        Raises:
            BadPolicy: the policy cannot be used, and there is none of before.
        """
        self._named, self._given, self._environ = named, given, environ
        self._places = policy_places(named, given.policy, environ)
        self._kept = self._stamps(), resolve(named, given, environ, datetime.now(UTC))

    def __call__(self) -> Settings:
        """Give the settings, with the clock's instant.

        Raises:
            NoMemoryFile: `memttl move` has taken the file to another place.
        """
        clock, (stamps, settings) = datetime.now(UTC), self._kept
        now_stamps = self._stamps()
        if now_stamps != stamps:
            self._places = policy_places(self._named, self._given.policy, self._environ)  # perhaps beside another file
            now_stamps = self._stamps()
            settings = self._resolved(settings, clock)
            self._kept = now_stamps, settings
        if not os.path.lexists(settings.memory):
            _refuse_moved(settings, self._environ)
        return settings._replace(clock=clock, now=clock)

    def _resolved(self, before: Settings, clock: datetime) -> Settings:
        try:
            found = resolve(self._named, self._given, self._environ, clock)
        except BadPolicy as e:
            if os.path.realpath(self._named) != str(before.memory):
                raise  # another file by now, of which there is no policy of before
            return before._replace(bad_policy=e)
        if found.memory != before.memory:  # the link that was named leads to another file by now
            return found
        # another folder would begin without pins and settings, so that the one of the start stays
        return found._replace(state_elsewhere=before.state_elsewhere, put_off=_put_off(found, before))

    def _stamps(self) -> Stamps:
        """Give what changes when a policy is written, made or removed, or the file's own link."""
        return os.path.realpath(self._named), [_stamp(place) for place in self._places]


def _refuse_moved(settings: Settings, environ: Mapping[str, str]) -> None:
    """Refuse to begin a second memory at the place from which the first was moved."""
    from memttl.core.moving import away_words  # here: a file is seldom missing
    from memttl.setup.moved import moved_away

    move = moved_away(settings.memory, environ)
    if move is not None:
        raise NoMemoryFile(
            f"There is no file {settings.memory}: {away_words(move)}. Nothing was read or written.",
            hint=f"Let the client's config start `memttl serve` with {move.target}, and restart it.",
        )


def _put_off(found: Settings, before: Settings) -> tuple[str, ...]:
    if found.state_elsewhere == before.state_elsewhere:
        return ()
    new, old = (state_of(s.memory, s.state_elsewhere).kept for s in (found, before))
    return (
        f"The policy {found.policy.where} names another state folder by now ({new}). Until memttl serve is started "
        f"again, it uses the one of before ({old}), and memttl's commands another than it: restart the client.",
    )


def _stamp(place: str) -> tuple[int, ...] | None:
    try:
        about = os.stat(place)
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):  # a pipe is read once
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
