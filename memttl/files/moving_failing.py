"""What is left of a move that fails: nothing at the new place before the file is there, the notes by it afterwards.

`moving_carry.py` works inside these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from memttl.errors import AS_IT_WAS, Interrupted, MemttlError
from memttl.files.moving import drop_under_way, move_under_way
from memttl.files.moving_state import drop_state, is_unused
from memttl.files.state import State, refusal
from memttl.files.swap import Changed
from memttl.files.writing import Session


@contextlib.contextmanager
def undone_where_it_fails(old: Session, new: State) -> Iterator[None]:
    """Take away what was begun at the new place where the file has not come there; the old place is as it was."""
    try:
        yield
    except BaseException as e:
        if not getattr(e, "keeps_the_notes", False):
            with contextlib.suppress(OSError):
                other = move_under_way(new.beside)
                if other is None or other.source == str(old.state.memory):
                    drop_state(new)
                drop_under_way(old.state.beside)
            if is_unused(old.state):
                drop_state(old.state)
        if isinstance(e, KeyboardInterrupt):
            raise Interrupted(f"Interrupted; {AS_IT_WAS}.") from None
        if isinstance(e, OSError):
            raise refusal(e, f"{new.memory} cannot be made") from None
        raise


@contextlib.contextmanager
def finished_by_a_further_move() -> Iterator[None]:
    """Let what fails from here on keep the notes: the file is at the new place, and the same move goes on by them."""
    hint = "Run the same `memttl move` again: it goes on from there."
    stop = "Stop the memory server, or the client that starts it, and then run the same `memttl move` again"
    try:
        yield
    except KeyboardInterrupt:
        raise _kept(Interrupted("Interrupted in the middle of the move.", hint=hint, applied=True)) from None
    except OSError as e:
        error = refusal(e, "The move could not be finished")
        error.hint = hint
        error.after_the_write()
        raise _kept(error) from None
    except MemttlError as e:
        e.after_the_write()
        e.hint = f"{stop}: it goes on from there." if isinstance(e, Changed) else f"{e.hint} {hint}".strip()
        raise _kept(e) from None


def _kept(error: MemttlError) -> MemttlError:
    error.keeps_the_notes = True  # type: ignore[attr-defined]
    return error
