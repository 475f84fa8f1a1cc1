"""The use case serve: one memory file, changed and shown for the clients of `memttl serve`.

`server/writer.py` calls `apply` and `rest` from its one writing thread, `server/calls.py` `view` from a reading one.
The file stays what the stock memory server reads and writes; what a client says besides (a TTL, a tier) goes into audit
log and ledger.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memttl.core.graph_edits import Answer, Edit
from memttl.core.serving_notes import serving_notes
from memttl.core.serving_view import View
from memttl.core.wording import plural
from memttl.errors import AS_IT_WAS, Bug, CannotCreate, MemttlError, TryAgain
from memttl.files.archive_mark import refuse_archive
from memttl.files.looking import Moment
from memttl.files.served import PACE, Ruling, ServedFile
from memttl.files.state import State, refusal, state_of
from memttl.files.viewing import Viewing
from memttl.files.writing import Options
from memttl.settings import Settings

_SERVED = Options(pace=PACE)


class Seen(NamedTuple):
    """What a read is answered from. `notes` is what a client should be told besides, each a sentence."""

    view: View
    settings: Settings
    notes: tuple[str, ...]


class Serving:
    """One memory file while it is served. `resolve` gives its settings as they are now; `tell` is told of warnings."""

    def __init__(
        self,
        resolve: Callable[[], Settings],
        *,
        tell: Callable[[str], None] = lambda _: None,
        options: Options = _SERVED,
    ) -> None:
        self.resolve, self._tell, self._options = resolve, tell, options
        self._served = self._file_of(resolve())
        self._told_gone = self._told_at_rest = ""
        self._ahead: tuple[State, Viewing] | None = None
        self._told_once = set[str]()
        self._has_viewed = False

    @property
    def state(self) -> State:
        """The places of the memory file and its state."""
        return self._served.state

    def _file_of(self, settings: Settings) -> ServedFile:
        state = state_of(settings.memory, settings.state_elsewhere)
        refuse_archive(state)
        return ServedFile(state, self._tell, self._options)

    def _ruling(self, settings: Settings) -> Ruling:
        """Give what is judged by now; the link that was named may lead to another file by now, or be one."""
        ruling = Ruling(settings.policy, Moment(settings.now, settings.clock))
        if state_of(settings.memory, settings.state_elsewhere) != self.state:
            new = self._file_of(settings)  # which may be refused: then the old one goes on as it was
            self._served.rest(ruling, is_over=True)
            self._served = new
        return ruling

    def apply(self, edits: Sequence[Edit]) -> Sequence[Answer | MemttlError]:
        """Write edits, durable once this returns; give an answer for each, or why nothing was done of it.

        One that fails, such as by a setting that cannot be kept, does not take the others down.
        """
        try:
            settings = self._settings_now()
            ruling = self._ruling(settings)  # first of all: it may be another file that is served from now on
            gone = self._gone(settings)
            answers = self._served.write(edits, ruling)
            return [a._replace(notes=(*a.notes, gone)) for a in answers] if gone else answers
        except MemttlError as e:
            if len(edits) == 1 or e.applied or isinstance(e, TryAgain):  # that would fail again, and takes its time
                return [e] * len(edits)
            return [self.apply([edit])[0] for edit in edits]
        except OSError as e:  # before or after the write, which makes refusals of its own
            return [_refused(e, self.state)] * len(edits)
        except Exception as e:
            if len(edits) > 1:
                return [self.apply([edit])[0] for edit in edits]
            told = f"memttl met something that it did not reckon with ({type(e).__name__}: {e})"
            self._tell(told)
            return [Bug(f"{told}.")]

    def _gone(self, settings: Settings) -> str:
        """Say that the file is gone which was there before, and tell it once."""
        gone = self._served.gone_words(settings.named, settings.state_elsewhere)
        if gone and gone != self._told_gone:
            self._tell(gone)
        self._told_gone = gone
        return gone

    def record(self) -> None:
        """Keep in the ledger what the audit log tells since: when what was added came, and what was set for it.

        Raises:
            MemttlError: it cannot be written; the next call tries again.
        """
        self._served.record()

    def look(self) -> None:
        """Record a look at the file as it is, as `memttl scan` does; where there is none, nothing.

        Raises:
            MemttlError: it cannot be recorded.
        """
        ruling = self._ruling(self._settings_now())
        self._served.look(ruling)

    def rest(self, *, is_over: bool = False) -> float:
        """Do what could wait, such as a look; give after how many seconds this is to be called again.

        `is_over`: it is the last time. What cannot be done is told.
        """
        try:
            ruling = self._ruling(self._settings_now())
            return self._served.rest(ruling, is_over=is_over)
        except MemttlError as e:  # the policy cannot be read at the moment, or the file was moved
            if e.message != self._told_at_rest:
                self._tell(e.message)
            self._told_at_rest = e.message
            return 60.0

    def view(self) -> Seen:
        """Give the memory as it is now, judged, and what is to be said about it.

        Raises:
            MemttlError: it cannot be read, or is none of the memory server's files.
        """
        settings, served = self._settings_now(), self._served
        state = state_of(settings.memory, settings.state_elsewhere)
        viewing = served.viewing if served.state == state else self._viewing_ahead(state)
        view = viewing.view(settings.policy, settings.now)
        notes = [*serving_notes(view.graph, viewing.known.problem, settings.bad_policy, settings.put_off)]
        self._tell_of_first(view, settings)
        gone = self._gone(settings) if viewing is served.viewing else ""
        return Seen(view, settings, (*notes, gone) if gone else tuple(notes))

    def _tell_of_first(self, view: View, settings: Settings) -> None:
        """Tell, once, how much a reader does not see: whoever has just switched to memttl might look for it."""
        if self._has_viewed:
            return
        self._has_viewed = True
        expired, of = view.expired(settings.now)
        if expired:
            have = "has" if expired == 1 else "have"
            self._tell(
                f"{expired} of {plural(of, 'observation')} {have} expired and {'is' if expired == 1 else 'are'} not "
                "shown; `memttl report` lists them"
            )

    def _settings_now(self) -> Settings:
        settings = self.resolve()
        for sentence in settings.put_off:
            if sentence not in self._told_once:
                self._told_once.add(sentence)
                self._tell(sentence)
        return settings

    def _viewing_ahead(self, state: State) -> Viewing:
        """Give the view of another file to which the link leads by now; the writing thread follows at its next turn."""
        if self._ahead is None or self._ahead[0] != state:
            refuse_archive(state)
            self._ahead = state, Viewing(state)
        return self._ahead[1]


def _refused(e: OSError, state: State) -> MemttlError:
    what = f"{e.filename or state.memory} cannot be read or written"
    if e.errno == errno.ELOOP:
        return CannotCreate(f"{what} ({e.strerror}); {AS_IT_WAS}.", hint="Look where its links lead.")
    return refusal(e, what)
