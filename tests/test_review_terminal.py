"""A review at a real terminal: each key, leaving early, odd widths and texts, a pipe for the result, several files."""

from __future__ import annotations

import fcntl
import json
import re
import struct
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from asking import asked
from process import FIXTURES, Ended, Terminal, aged, copy_of, error_of, memttl, tree
from reviewing import LOOK, OLD, OLDER, SOON, three_entities
from support import entity, instant
from test_terminal import CONTROLS, SAFE_ESCAPES, width_of

from memttl.core.model import UserSettings

NOW = ("--now", "2026-06-01T12:00:00Z")
PROMPT, APPLY = "help:", "Apply? [y]es, [n]o, [b]ack: "
EXAMPLE = FIXTURES / "memory/example.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return three_entities(tmp_path)


class Dialogue(Terminal):
    """A review at a terminal, to which each line is typed once it has asked anew."""

    def __init__(self, *args: str | Path, plain: bool = True, **how: Any) -> None:
        super().__init__("review", *args, *NOW, *(["--no-color"] if plain else []), **how)
        self._answered = 0

    def say(self, *lines: str, to: str = PROMPT) -> str:
        """Type lines, each at a prompt that ends with `to`; give what is on the screen since the last one was typed."""
        shown = ""
        for line in lines:
            shown = self.asked(to)
            self.type(line + "\n")
        return shown

    def asked(self, to: str = PROMPT) -> str:
        """Wait for the next prompt; give what was shown with it."""
        while to not in self._screen[self._answered :].decode(errors="replace"):
            self.read_more()
        shown = self._screen[self._answered :].decode()
        self._answered = len(self._screen)
        return shown.replace("\r\n", "\n")

    def read_more(self) -> None:
        """Take what comes next."""
        before = self._screen.decode(errors="replace")
        if not self._read(time.monotonic() + 30):
            raise AssertionError(f"it ended, and the screen shows: {before!r}")

    def resize(self, columns: int) -> None:
        """Make the window so wide."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


def texts(path: Path) -> list[object]:
    """All observations of a file."""
    return [o for line in path.read_bytes().splitlines() for o in json.loads(line).get("observations", [])]


def applied(path: Path, *keys: str) -> Ended:
    """How a review ends that these keys lead, and a yes at its end."""
    dialogue = Dialogue("--file", path)
    dialogue.say(*keys)
    dialogue.say("y", to=APPLY)
    return dialogue.end()


def test_each_item_names_entity_type_siblings_text_age_expiry_and_reason(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    first = dialogue.asked()
    assert "memory.jsonl: 4 observations to go through: 2 expired, 1 due, 1 due for review." in first
    for expected in (
        "C (note): expired 117 days ago\n",
        f"    {OLD}\n  > {OLDER}\n",
        "verdict  prune: session notes keep 30 days; written 2026-01-04",
        "tier     session (rule session)",
        "birth    2026-01-04, 148 days ago (age source: text)",
        "expiry   2026-02-04 (has come)",
        "(1/4) renew [1] 30d [2] 90d [3] 365d, [p]in, [t]ier, [d]rop, [s]kip, [b]ack, [m]ore, [q]uit, [?]\nhelp: ",
    ):
        assert expected in first
    dialogue.type("q\n")
    assert "Nothing to change" in dialogue.end().screen


@pytest.mark.parametrize(("key", "day"), [("1", "2026-07-01"), ("2", "2026-08-30"), ("3", "2027-06-01")])
def test_a_number_renews_for_so_many_days(memory: Path, key: str, day: str) -> None:
    ended = applied(memory, key, "q")
    assert ended.code == 0
    assert "Changed the settings of 1 observation" in ended.screen
    assert asked(memory) == {OLDER: UserSettings(expires=instant(f"{day}T12:00:00Z"))}


def test_p_pins_and_t_changes_the_tier(memory: Path) -> None:
    applied(memory, "p", "t operational", "q")
    assert asked(memory) == {OLDER: UserSettings(pinned=True), OLD: UserSettings(tier="operational")}


def test_t_alone_asks_which_of_the_tiers(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    dialogue.say("t")
    assert "Tiers: session, operational, permanent." in dialogue.say("nosuch", to="Which tier (Enter: none)? ")
    assert "has no tier 'nosuch'" in dialogue.say("perm", to="Which tier (Enter: none)? ")
    dialogue.say("q")
    dialogue.say("y", to=APPLY)
    assert dialogue.end().code == 0
    assert asked(memory) == {OLDER: UserSettings(tier="permanent")}


def test_d_drops_with_a_backup(memory: Path) -> None:
    before = memory.read_bytes()
    ended = applied(memory, "d", "s", "d", "d")
    assert "Dropped 3 observations of" in ended.screen
    assert texts(memory) == ["note", OLD]
    (backup,) = (memory.parent / ".memttl/memory.jsonl/backups").iterdir()
    assert backup.read_bytes() == before
    assert backup.name.removesuffix(".jsonl").split("-")[1] in ended.screen


def test_the_summary_stands_above_the_one_question(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    dialogue.say("d", "1", "s", "q")
    summary = " ".join(dialogue.asked(APPLY).split())
    for expected in (
        "memory.jsonl: 1 renewed, 1 dropped, 1 skipped, 1 not looked at.",
        "To be set C - nothing set -> expires 2026-07-01 12:00 UTC; expiry 2026-02-05 (has come) -> 2026-07-01 12:00",
        "To be dropped C (note) - session, age 148 days: dropped in review; session notes keep 30 days;",
    ):
        assert expected in summary
    dialogue.type("n\n")
    ended = dialogue.end()
    assert (ended.code, "Nothing was changed." in ended.screen) == (0, True)
    assert not (memory.parent / ".memttl").exists()


def test_a_renewal_that_lets_go_sooner_is_warned_of_above_the_question(memory: Path) -> None:
    memory.write_bytes(entity(["x [expires 2026-12-01]"]))
    dialogue = Dialogue("--file", aged(memory), "--within", "1y")
    dialogue.say("1")
    assert "warning: this lets 1 observation go earlier than before" in dialogue.asked(APPLY)
    dialogue.type("n\n")
    assert dialogue.end().screen.count("go earlier than before") == 1


def test_b_goes_back_and_shows_what_was_decided(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    assert "so far" not in dialogue.say("d", "b")
    shown = dialogue.say("p")
    assert "  so far   drop\n" in shown
    assert "[n]ext as decided" in " ".join(shown.split())
    dialogue.say("b", "n", "q")
    dialogue.say("y", to=APPLY)
    dialogue.end()
    assert (asked(memory), len(texts(memory))) == ({OLDER: UserSettings(pinned=True)}, 5)


def test_b_at_the_question_goes_back_to_the_last_one(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    dialogue.say("s", "s", "s", "d")
    dialogue.say("b", to=APPLY)
    assert "  so far   drop\n" in dialogue.say("p")
    dialogue.say("y", to=APPLY)
    dialogue.end()
    assert asked(memory) == {LOOK: UserSettings(pinned=True)}


def test_m_shows_all_of_the_entity_with_what_was_tried(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    dialogue.say("m")
    shown = dialogue.say("q")
    assert shown.count("C (note), line 3") == 2
    assert shown.count("tried    + rule session: names the tier session") == 2
    dialogue.end()


def test_help_and_slips_of_the_keyboard_ask_again(memory: Path) -> None:
    dialogue = Dialogue("--file", memory)
    dialogue.say("?")
    assert "q        quit: on to the summary" in dialogue.say("zzz")
    assert "That is no key here; ? explains them all." in dialogue.say("")
    assert dialogue.say("q").lstrip().startswith("(1/4) renew")
    assert dialogue.end().code == 0


def test_copies_are_shown_once(memory: Path) -> None:
    memory.write_bytes(entity([OLD, OLD]))
    dialogue = Dialogue("--file", aged(memory))
    assert "copies   2 copies in this entity: what is set holds for all, a drop takes both" in dialogue.say("d")
    dialogue.say("y", to=APPLY)
    assert "Dropped 2 observations" in dialogue.end().screen


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
@pytest.mark.parametrize("place", ["first", "tier", "question"])
def test_leaving_keeps_nothing(memory: Path, key: str, place: str) -> None:
    before = tree(memory.parent)
    dialogue = Dialogue("--file", memory)
    keys = {"first": [], "tier": ["d", "t"], "question": ["d", "p", "q"]}[place]
    dialogue.say(*keys)
    dialogue.asked({"first": PROMPT, "tier": "none)? ", "question": APPLY}[place])
    dialogue.type(key)
    ended = dialogue.end()
    assert ended.code == 130
    assert "Interrupted; nothing of this review was kept, and the memory file is as it was." in ended.screen
    assert tree(memory.parent) == before


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
@pytest.mark.parametrize("fixture", ["example", "wide-right-to-left-and-emoji", "every-mark"])
def test_every_line_of_an_item_fits_the_width(tmp_path: Path, fixture: str, columns: int) -> None:
    path = copy_of(FIXTURES / f"memory/{fixture}.jsonl", tmp_path)
    wide = entity(["[session] 2026-01-05: " + "\u65e5\u672c\u8a9e " * 40, "\U0001f600" * 60], name="\u65e5" * 50)
    path.write_bytes(path.read_bytes().rstrip() + b"\n" + wide)
    dialogue = Dialogue("--file", aged(path), columns=columns)
    dialogue.say("?")
    shown = [dialogue.asked()]
    dialogue.type("q\n")
    dialogue.end()
    second = Dialogue("--file", path, "--entity", "\u65e5" * 50, columns=columns)
    shown.append(second.asked())
    second.type("q\n")
    second.end()
    for text in shown:
        assert max(width_of(line) for line in text.split("\n") if not line.startswith("/")) <= columns


def test_a_window_that_is_resized_is_filled_anew(memory: Path) -> None:
    memory.write_bytes(entity([f"[session] 2026-01-0{i}: " + "word " * 40 for i in (1, 2)]))
    dialogue = Dialogue("--file", aged(memory), columns=120)
    wide = dialogue.asked()
    dialogue.resize(40)
    dialogue.type("s\n")
    narrow = dialogue.asked()
    dialogue.type("q\n")
    dialogue.end()
    assert max(map(len, wide.split("\n"))) > 100
    assert max(map(len, narrow.split("\n")[1:])) <= 40


def test_no_control_of_a_memory_file_or_policy_reaches_the_screen(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x9b31m\r\x08\x7f"
    path = tmp_path / "memory.jsonl"
    old = f"[session] 2026-01-05: {hostile}"
    path.write_bytes(entity([hostile, old, hostile], name=hostile, kind=hostile) + b"\n" + entity([old]))
    (tmp_path / "memttl.toml").write_text('[tiers]\n"a\\u001b[5m" = "1d"\n')
    dialogue = Dialogue("--file", aged(path), plain=False)
    dialogue.say("m", "?", "t")
    dialogue.say("a", to="none)? ")
    dialogue.say("d")
    dialogue.say("y", to=APPLY)
    ended = dialogue.end()
    assert ended.code == 0
    assert not CONTROLS.search(SAFE_ESCAPES.sub("", ended.screen).replace("\r\n", "\n"))
    assert "\x1b[5m" not in ended.screen
    assert "\\x1b]0;owned" in ended.screen


def test_colour_is_left_out_where_nobody_wants_it(memory: Path) -> None:
    for options, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        dialogue = Dialogue("--file", memory, *options, plain=False, env=env)
        dialogue.say("q")
        assert "\x1b" not in dialogue.end().screen
    colourful = Dialogue("--file", memory, plain=False)
    colourful.say("q")
    assert SAFE_ESCAPES.search(colourful.end().screen)


def test_without_a_terminal_nothing_is_done(memory: Path) -> None:
    before = tree(memory.parent)
    for options in ([], ["--dry-run"]):
        ended = memttl("review", "--file", memory, *NOW, *options)
        assert (ended.returncode, ended.stdout) == (2, "")
        for word in ("no terminal", "nothing was done", "memttl report", "memttl set", "memttl renew", "memttl prune"):
            assert word in ended.stderr
    error = error_of(memttl("review", "--json", "--file", memory, *NOW))
    assert error["name"] == "NoTerminal"
    assert tree(memory.parent) == before


def test_a_damaged_file_is_refused_before_anything_is_asked(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes() + b'\n{"type":"entity"')
    ended = Terminal("review", "--file", aged(memory), *NOW).end()
    assert (ended.code, "line 4, column 17" in ended.screen, PROMPT in ended.screen) == (65, True, False)


def test_a_file_that_may_not_be_written_says_so_at_d_and_keeps_the_rest(memory: Path) -> None:
    memory.chmod(0o400)
    dialogue = Dialogue("--file", memory)
    dialogue.say("d")
    shown = dialogue.say("p")
    assert "It cannot be dropped:" in shown
    assert "is read-only (mode 0400)" in " ".join(shown.split())
    dialogue.say("q")
    dialogue.say("y", to=APPLY)
    assert dialogue.end().code == 0
    assert asked(memory) == {OLDER: UserSettings(pinned=True)}


def test_a_dry_run_goes_through_it_all_and_writes_nothing(memory: Path) -> None:
    before = tree(memory.parent)
    dialogue = Dialogue("--dry-run", "--file", memory)
    dialogue.say("d", "p", "q")
    ended = dialogue.end()
    assert (ended.code, APPLY in ended.screen) == (0, False)
    assert "To be dropped" in ended.screen
    assert "Dry run: nothing was written." in ended.screen
    assert tree(memory.parent) == before


def test_the_document_alone_stands_on_stdout(memory: Path) -> None:
    dialogue = Dialogue("--json", "--file", memory, piped=True)
    dialogue.say("d", "1", "p", "s")
    dialogue.say("y", to=APPLY)
    document = json.loads(dialogue.end().stdout)
    assert list(document) == [
        "schema", "file", "now", "dry_run", "recorded", "applied", "settings_run", "run", "backup", "archive", "counts",
        "changes", "removed", "refusals", "warnings",
    ]  # fmt: skip
    assert (document["applied"], document["recorded"]) == (True, True)
    assert document["counts"] == {
        "listed": 4, "reviewed": 4, "renewed": 1, "pinned": 1, "tier_changed": 0, "dropped": 1, "skipped": 1,
    }  # fmt: skip
    assert [(v["observation"], v["action"]) for v in document["removed"]] == [(OLDER, "prune")]
    assert [(c["observation"], c["after"]) for c in document["changes"]] == [
        (OLD, {"expires_at": "2026-07-01T12:00:00Z"}),
        (SOON, {"pinned": True}),
    ]


def test_the_result_alone_stands_on_stdout(memory: Path) -> None:
    dialogue = Dialogue("--file", memory, piped=True)
    dialogue.say("p", "q")
    dialogue.say("y", to=APPLY)
    assert dialogue.end().stdout == f"Changed the settings of 1 observation of {memory}.\n"


def test_nothing_due_asks_nothing(memory: Path) -> None:
    memory.write_bytes(entity(["note"]))
    ended = Terminal("review", "--file", aged(memory), *NOW).end()
    assert (ended.code, "Nothing to review" in ended.screen) == (0, True)


def test_several_files_are_gone_through_in_turn(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    dialogue = Dialogue("--file", first, "--file", second)
    assert "1.jsonl: 9 observations to go through: 7 expired, 2 due." in dialogue.say("d")
    dialogue.say("q")
    dialogue.say("n", to=APPLY)
    assert "2.jsonl: 9 observations to go through: 7 expired, 2 due." in dialogue.say("d")
    dialogue.say("q")
    dialogue.say("y", to=APPLY)
    assert dialogue.end().code == 0
    assert first.read_bytes() == EXAMPLE.read_bytes() != second.read_bytes()


def test_ctrl_c_at_the_second_file_still_reports_the_first(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    dialogue = Dialogue("--json", "--file", first, "--file", second, piped=True)
    dialogue.say("d", "q")
    dialogue.say("y", to=APPLY)
    dialogue.asked()
    dialogue.type("\x03")
    ended = dialogue.end()
    documents = json.loads(ended.stdout)["files"]
    assert (ended.code, documents[0]["applied"], documents[1]["error"]["code"]) == (130, True, 130)
    assert second.read_bytes() == EXAMPLE.read_bytes()


def test_an_instant_to_come_is_only_looked_at(memory: Path) -> None:
    later = ("--now", "2999-01-01")
    ended = Terminal("review", "--file", memory, *later).end()
    assert (ended.code, "--now lies after the clock" in ended.screen) == (2, True)


def test_the_screen_of_the_readme_is_what_is_shown(tmp_path: Path) -> None:
    readme = (FIXTURES.parent / "docs/settings.md").read_text(encoding="utf-8")
    block = re.search(r"^```text\n(Payments.*?)```", readme, re.DOTALL | re.MULTILINE)
    assert block
    dialogue = Dialogue("--file", copy_of(EXAMPLE, tmp_path), columns=80)
    dialogue.say("s")
    assert dialogue.say("q").split("\n", 1)[1].strip() == block[1].strip()
    dialogue.end()
