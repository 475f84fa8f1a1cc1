"""What a move takes along and refuses, and what works at the new place afterwards."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from moving import OLD, WHOLE, log_of, memory_in, moved, pruned_in
from process import Terminal, aged, memttl, tree
from pruning import at, settings_of, state_folder

from memttl.errors import CannotCreate, Interrupted, Malformed, NoMemoryFile, NoPermission, UsageError
from memttl.report.move import render
from memttl.setup.moved import moved_away
from memttl.workflow.doctor import doctor
from memttl.workflow.move import Request, move
from memttl.workflow.undo import Request as UndoRequest
from memttl.workflow.undo import undo

ARCHIVE = "[archive]\npath = 'arch.jsonl'\n"


def findings(path: Path) -> list[str]:
    """All but that the clock of these tests, and so `now`, lies before the log's times."""
    return [f.name for f in doctor(settings_of(path)).findings if f.name != "clock-behind"]


def test_undo_log_and_doctor_work_at_the_new_place(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old"), tmp_path / "deep" / "er" / "new.jsonl"
    moved(path, new)
    assert [event["event"] for event in log_of(new)][-1] == "moved"
    assert findings(new) == []
    assert undo(settings_of(new), UndoRequest()).applied
    assert OLD.encode() in new.read_bytes()
    assert os.listdir(path.parent) == []
    assert os.stat(new.parent).st_mode & 0o777 == 0o700


def test_undo_takes_what_it_puts_back_out_of_an_archive_that_went_along(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old", ARCHIVE), tmp_path / "new" / "other.jsonl"
    moved(path, new)
    archive = new.parent / "arch.jsonl"
    assert OLD.encode() in archive.read_bytes()
    undo(settings_of(new), UndoRequest())
    assert OLD.encode() not in archive.read_bytes()
    assert not (path.parent / "arch.jsonl").exists()


def test_undo_takes_what_it_puts_back_out_of_an_archive_that_stayed(tmp_path: Path) -> None:
    archive = tmp_path / "far" / "arch.jsonl"
    archive.parent.mkdir()
    config = tmp_path / "policy.toml"
    config.write_text(f"[archive]\npath = '{archive}'\n")
    path, new = memory_in(tmp_path / "old"), tmp_path / "new" / "m.jsonl"
    assert memttl("prune", "--yes", "--file", path, "--policy", config).returncode == 0
    assert memttl("move", new, "--yes", "--file", path, "--policy", config).returncode == 0
    assert OLD.encode() in archive.read_bytes()
    assert memttl("undo", "--yes", "--file", new, "--policy", config).returncode == 0
    assert OLD.encode() not in archive.read_bytes()


def test_the_policy_is_copied_where_other_memory_files_stay(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old", "[prune]\n"), tmp_path / "new" / "m.jsonl"
    memory_in(path.parent, name="second.jsonl")
    assert moved(path, new).policy.kind == "copied"
    assert (path.parent / "memttl.toml").read_bytes() == (new.parent / "memttl.toml").read_bytes()


def test_a_policy_at_the_new_place_stays_and_is_told(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old", "[prune]\n"), tmp_path / "new" / "m.jsonl"
    new.parent.mkdir()
    (new.parent / "memttl.toml").write_text("default_tier = 'session'\n")
    done = moved(path, new)
    assert done.policy.differs
    assert any("holds from then on" in warning for warning in done.warnings)
    assert (path.parent / "memttl.toml").exists()


def test_state_of_the_users_folder_comes_beside_a_file_that_leaves_the_npx_cache(tmp_path: Path) -> None:
    path = memory_in(tmp_path / "_npx" / "0" / "dist")
    assert memttl("prune", "--yes", "--file", path).returncode == 0
    shown = memttl("move", tmp_path / "new.jsonl", "--yes", "--file", path)
    assert shown.returncode == 0, shown.stderr
    assert "memttl move NEW" in shown.stderr
    assert (state_folder(tmp_path / "new.jsonl") / "ledger.db").exists()
    assert memttl("undo", "--yes", "--file", tmp_path / "new.jsonl").returncode == 0


def test_state_elsewhere_goes_to_a_folder_of_the_new_name(tmp_path: Path) -> None:
    path, new, env = memory_in(tmp_path / "old"), tmp_path / "n.jsonl", {"MEMTTL_STATE_DIR": str(tmp_path / "state")}
    assert memttl("prune", "--yes", "--file", path, env=env).returncode == 0
    assert memttl("move", new, "--yes", "--file", path, env=env).returncode == 0
    assert [p.name[:8] for p in (tmp_path / "state").iterdir()] == ["n.jsonl-"]
    assert memttl("undo", "--yes", "--file", new, env=env).returncode == 0


@pytest.mark.parametrize("what", ["file", "empty", "state", "itself", "link to itself", "hard link", "npx", "in state"])
def test_what_stands_in_the_way_is_refused_and_nothing_is_touched(tmp_path: Path, what: str) -> None:
    path = pruned_in(tmp_path / "old")
    new = tmp_path / "new.jsonl"
    if what == "file":
        memory_in(tmp_path, name="new.jsonl")
    elif what == "empty":
        new.touch()
    elif what == "state":
        state_folder(new).mkdir(parents=True)
    elif what == "itself":
        new = path
    elif what == "link to itself":
        new.symlink_to(path)
    elif what == "hard link":
        new.hardlink_to(path)
    elif what == "npx":
        new = tmp_path / "_npx" / "m.jsonl"
    else:
        new = state_folder(path) / "m.jsonl"
    before = tree(tmp_path)
    with pytest.raises(UsageError):
        moved(path, new)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(("data", "error"), [(WHOLE + b'\n{"type":', Malformed), (None, NoMemoryFile)])
def test_a_damaged_or_missing_file_is_not_moved(tmp_path: Path, data: bytes | None, error: type) -> None:
    path = memory_in(tmp_path, data or b"")
    if data is None:
        path.unlink()
    with pytest.raises(error):
        moved(path, tmp_path / "new.jsonl")


def test_a_file_with_two_names_is_not_moved(tmp_path: Path) -> None:
    path = memory_in(tmp_path)
    (tmp_path / "second").hardlink_to(path)
    with pytest.raises(NoPermission):
        moved(path, tmp_path / "new.jsonl")


def test_a_dry_run_writes_nothing_and_shows_all(tmp_path: Path) -> None:
    path = pruned_in(tmp_path / "old", ARCHIVE)
    before = tree(tmp_path)
    shown = memttl("move", tmp_path / "new/", "--dry-run", "--json", "--file", path)
    assert tree(tmp_path) == before
    document = json.loads(shown.stdout)
    assert document["applied"] is False
    assert document["archive"]["from"] == str(path.parent / "arch.jsonl")


@pytest.mark.parametrize("step", ["noted at the new place", "state copied", "backup written", "new file written"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_before_the_file_is_there_leaves_nothing(tmp_path: Path, step: str, error: BaseException) -> None:
    path = pruned_in(tmp_path / "old")
    before = {name for name in tree(tmp_path) if "lock" not in name}

    def fail() -> None:
        raise error

    with pytest.raises((CannotCreate, Interrupted)):
        moved(path, tmp_path / "new" / "m.jsonl", step=at(step, fail))
    assert {name for name in tree(tmp_path) if "lock" not in name} == before


def test_several_files_need_a_folder_and_names_of_their_own(tmp_path: Path) -> None:
    one, two = memory_in(tmp_path / "a"), memory_in(tmp_path / "b")
    assert memttl("move", tmp_path / "c/", "--yes", "-f", one, "-f", two).returncode == 2
    third = memory_in(tmp_path / "b", name="third.jsonl")
    assert memttl("move", tmp_path / "n", "--yes", "-f", one, "-f", third).returncode == 2
    assert memttl("move", f"{tmp_path}/n/", "--yes", "-f", one, "-f", third).returncode == 0
    assert sorted(p.name for p in (tmp_path / "n").iterdir()) == [".memttl", "memory.jsonl", "third.jsonl"]


def test_a_clients_config_is_shown_with_the_new_path_and_left_alone(tmp_path: Path) -> None:
    path, new, config = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", tmp_path / ".cursor" / "mcp.json"
    config.parent.mkdir()
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    text = json.dumps({"mcpServers": {"memory": {**server, "env": {"MEMORY_FILE_PATH": str(path)}}}})
    config.write_text(text)
    shown = memttl("move", new, "--yes", env={"HOME": str(tmp_path), "MEMORY_FILE_PATH": str(path)}, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert str(config) in shown.stdout
    assert f'"MEMORY_FILE_PATH": "{new}"' in shown.stdout
    assert "The variable MEMORY_FILE_PATH names the old place" in shown.stdout
    assert config.read_text() == text


def test_a_clients_config_that_cannot_be_read_is_warned_of(tmp_path: Path) -> None:
    path, config = pruned_in(tmp_path / "old"), tmp_path / "home" / ".claude.json"
    config.parent.mkdir()
    config.write_text('{"mcpServers": {')
    environ = {"HOME": str(config.parent)}
    for dry_run in (True, False):
        warnings = moved(path, tmp_path / "new.jsonl", dry_run=dry_run, environ=environ).warnings
        assert [w for w in warnings if str(config) in w and "begins an empty memory" in w]


def test_at_a_terminal_it_asks_for_the_link_and_then_to_move(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    terminal = Terminal("move", new, "--file", path)
    terminal.read_until("Leave a link at the old place? [y/N]")
    terminal.type("y\n")
    terminal.read_until("[y/N]")
    terminal.type("y\n")
    assert terminal.end().code == 0
    assert path.is_symlink()


def test_a_link_that_was_left_is_removed_later(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    moved(path, new, link=True)
    assert moved(path, new, link=True).kind == "nothing"
    assert moved(path, new, link=False).kind == "remove link"
    assert not os.path.lexists(path)


def test_a_file_that_is_at_the_old_place_again_is_warned_of_by_every_run(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    moved(path, new)
    assert findings(new) == []
    memory_in(path.parent)
    assert findings(new) == ["old-place-again"]
    assert any("two memories" in warning for warning in settings_of(new).warnings)


def test_the_mode_and_a_mode_of_its_own_go_along(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    path.chmod(0o640)
    moved(aged(path), new)
    assert new.stat().st_mode & 0o777 == 0o640


def test_a_declined_move_changes_nothing(tmp_path: Path) -> None:
    path = memory_in(tmp_path / "old")
    before = tree(tmp_path)
    done = move(settings_of(path), Request(str(tmp_path / "new.jsonl")), ask=lambda _: None)
    assert done.declined
    assert tree(tmp_path) == before


def home_of(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "XDG_STATE_HOME": str(folder / ".state")}


def test_commands_for_a_scan_timer_name_scan_and_how_often(tmp_path: Path) -> None:
    path, new, home = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", home_of(tmp_path)
    wish = ("schedule", "systemd", "scan", "--install", "--every", "1h", "--yes", "--file", path)
    assert memttl(*wish, env=home).returncode == 0
    text = render(moved(path, new, environ=home))
    assert f"  memttl schedule systemd scan --remove --file {path}\n" in text
    assert f"  memttl schedule systemd scan --install --every 1h --file {new}\n" in text
    assert any("still runs `memttl scan`" in warning for warning in settings_of(new, **home).warnings)
    assert "schedule-of-old-place" in [f.name for f in doctor(settings_of(new), environ=home).findings]


def test_who_looks_at_the_old_place_is_told_of_the_new_one(tmp_path: Path) -> None:
    path, new, home = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", home_of(tmp_path)
    moved(path, new, environ=home)
    ended = memttl("report", "--file", path, env=home)
    assert ended.returncode == 66
    assert f"it was moved to {new} on 20" in ended.stderr
    (missing,) = [f for f in doctor(settings_of(path), environ=home).findings if f.name == "missing"]
    assert f"moved to {new}" in missing.message


def test_note_of_a_move_follows_further_moves_and_ends_with_one_back(tmp_path: Path) -> None:
    path, home = memory_in(tmp_path / "a"), home_of(tmp_path)
    b, c = tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    moved(path, b, environ=home)
    moved(aged(b), c, environ=home)
    told = moved_away(path, home)
    assert told is not None
    assert told.target == str(c)
    moved(aged(c), path, environ=home)
    path.unlink()
    assert moved_away(path, home) is None


def test_discover_tells_of_the_move_in_place_of_a_file_to_come(tmp_path: Path) -> None:
    path, new, home = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", home_of(tmp_path)
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    entry = {**server, "env": {"MEMORY_FILE_PATH": str(path)}}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": entry}}))
    moved(path, new, environ=home)
    text = memttl("discover", env=home, cwd=tmp_path).stdout
    assert f"memttl report --file {new}" in text
    assert "when an assistant first keeps" not in text


def with_policy(path: Path, first: str = "#:schema ./memttl.schema.json\n") -> None:
    path.with_name("memttl.toml").write_text(first)
    path.with_name("memttl.schema.json").write_text('{\n  "$schema": "x",\n  "type": "object"\n}\n')


def test_schema_that_the_policy_names_goes_along_and_is_no_memory_file(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new" / "m.jsonl"
    with_policy(path)
    assert moved(path, new).policy.kind == "taken"
    assert os.listdir(path.parent) == []
    assert new.with_name("memttl.schema.json").is_file()


def test_schema_that_the_policy_does_not_name_stays(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new" / "m.jsonl"
    with_policy(path, "\n")
    assert moved(path, new).policy.kind == "taken"
    assert os.listdir(path.parent) == ["memttl.schema.json"]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("package.json", b'{"name": "x"}', "taken"),
        ("events.jsonl", b'{"event": "begin"}\n', "taken"),
        ("other.json", WHOLE, "copied"),
        ("damaged.jsonl", b"{", "copied"),
        ("empty.jsonl", b"", "copied"),
    ],
)
def test_memory_file_that_stays_is_known_by_what_it_holds(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    path = memory_in(tmp_path / "old")
    path.with_name("memttl.toml").touch()
    path.with_name(name).write_bytes(data)
    assert moved(path, tmp_path / "new" / "m.jsonl", dry_run=True).policy.kind == kind


def test_one_value_of_a_config_with_other_servers_is_said_to_change(tmp_path: Path) -> None:
    path, new, config = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", tmp_path / ".claude.json"
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    entry = {**server, "env": {"MEMORY_FILE_PATH": str(path)}}
    config.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}, "memory": entry}}))
    text = render(moved(path, new, environ=home_of(tmp_path)))
    assert f'In it change this one value:\n  mcpServers > memory > env > MEMORY_FILE_PATH: "{new}"\n' in text
    assert "Put there" not in text


def test_a_file_is_moved_back_over_the_link_that_its_move_left(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old"), tmp_path / "new.jsonl"
    data = path.read_bytes()
    moved(path, new, link=True)
    moved(aged(new), path, link=True)
    assert (path.is_symlink(), path.read_bytes(), os.readlink(new)) == (False, data, str(path))
    assert findings(path) == []
    assert settings_of(path).warnings == ()


def test_a_file_that_replaces_the_link_at_the_last_moment_is_not_moved_over(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    moved(path, new, link=True)

    def replace() -> None:
        path.unlink()
        path.write_bytes(b"a server's")

    with pytest.raises(UsageError):
        moved(aged(new), path, link=True, step=at("new file written", replace))
    assert (path.read_bytes(), new.read_bytes()) == (b"a server's", WHOLE)


def test_a_link_of_somebody_else_at_the_new_place_is_named_and_not_the_memory(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    new.symlink_to(path)
    with pytest.raises(UsageError) as error:
        moved(path, new)
    assert f"Remove the link {new} (not the memory, {path})" in error.value.hint


def test_the_link_by_which_a_file_was_named_is_told_where_it_leads_nowhere(tmp_path: Path) -> None:
    path, new, link = memory_in(tmp_path / "old"), tmp_path / "new.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    done = moved(link, new, link=False)
    assert any(f"ln -sfn {new} {link}" in warning for warning in done.warnings)


def test_links_of_earlier_moves_are_told_where_they_lead_nowhere(tmp_path: Path) -> None:
    path, second, third = pruned_in(tmp_path / "old", ARCHIVE), tmp_path / "b" / "m.jsonl", tmp_path / "c" / "m.jsonl"
    moved(path, second, link=True)
    done = moved(aged(second), third, link=False)
    told = [warning for warning in done.warnings if "leads nowhere" in warning]
    assert [f"ln -sfn {third} {path}" in told[0], f"ln -sfn {third.with_name('arch.jsonl')} " in told[1]] == [True] * 2


def test_the_policys_own_state_folder_goes_once_it_is_empty(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new" / "m.jsonl"
    (path.parent / "memttl.toml").write_text("[state]\ndir = 'st'\n")
    assert memttl("prune", "--yes", "--file", path).returncode == 0
    assert (path.parent / "st").is_dir()
    assert memttl("move", new, "--yes", "--file", path).returncode == 0
    assert os.listdir(path.parent) == []
