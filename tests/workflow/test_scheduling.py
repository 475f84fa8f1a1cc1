"""The use case schedule: what is written where and when, what is left alone, and which commands are run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import forked
from process import FIXTURES, copy_of, tree
from pruning import ACL, names_in, pruned, set_attribute, settings_of, state_folder
from scheduling import CRONTAB, calls, here, program
from without_root import needs_root

from memttl.core.schedule import Every, Kind, Wish
from memttl.core.schedule_outcome import ScheduleOutcome
from memttl.errors import CannotCreate, IsArchive, MemttlError, NoMemoryFile, NoPermission, UsageError
from memttl.files.outcomes import keep_outcome, read_outcomes
from memttl.files.state import state_of
from memttl.report.schedule import render
from memttl.setup.here import Here, checkout_of, this_installation
from memttl.workflow import schedule

SYSTEMD = Wish("systemd")
CRON = Wish("cron")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return copy_of(FIXTURES / "memory/example.jsonl", folder)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def installed(memory: Path, at: Here, wish: Wish = SYSTEMD, **how: Any) -> ScheduleOutcome:
    environ = how.pop("environ", {})
    return schedule.install(settings_of(memory, **how.pop("settings", {})), wish, here=at, environ=environ, **how)


def removed(memory: Path, at: Here, wish: Wish = SYSTEMD, **how: Any) -> ScheduleOutcome:
    return schedule.remove(settings_of(memory), wish, here=at, environ={}, **how)


def changes(outcome: ScheduleOutcome) -> list[str]:
    return [file.change for file in outcome.files]


def test_install_writes_a_service_and_a_timer(memory: Path, place: Path) -> None:
    outcome = installed(memory, here(place))
    assert outcome.installed
    assert names_in(place / "user") == [f"{outcome.name}.service", f"{outcome.name}.timer"]


def test_without_a_running_systemd_the_commands_are_left_to_be_run(memory: Path, place: Path) -> None:
    outcome = installed(memory, here(place))
    timer = f"{outcome.name}.timer"
    assert (outcome.ran, calls(place)) == ((), [])
    assert outcome.to_run == (
        ("systemctl", "--user", "daemon-reload"),
        ("systemctl", "--user", "enable", "--now", timer),
    )


def test_running_systemd_is_told(memory: Path, place: Path) -> None:
    program(place, "systemctl")
    outcome = installed(memory, here(place, is_booted=True))
    assert [call for call in calls(place) if "show-environment" not in call] == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable --now {outcome.name}.timer",
    ]
    assert (outcome.to_run, len(outcome.ran)) == ((), 2)


def test_systemd_of_a_user_that_cannot_be_reached_is_left_alone(memory: Path, place: Path) -> None:
    program(place, "systemctl", "exit 1")
    assert installed(memory, here(place, is_booted=True)).to_run


def test_command_that_fails_is_told_with_those_that_are_left(memory: Path, place: Path) -> None:
    program(place, "systemctl", '[ "$2" != enable ] || { echo "no bus" >&2; exit 1; }')
    with pytest.raises(CannotCreate, match="no bus") as failed:
        installed(memory, here(place, is_booted=True))
    assert "enable --now" in failed.value.hint


def test_install_again_changes_nothing(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    before = tree(place / "user")
    assert changes(installed(memory, here(place))) == ["same", "same"]
    assert tree(place / "user") == before


def test_install_brings_up_to_date_and_restarts_the_timer(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    outcome = installed(memory, here(place), Wish("systemd", every=Every(60)))
    assert changes(outcome) == ["changed", "changed"]
    assert "OnCalendar=0/1:00" in (place / "user" / f"{outcome.name}.timer").read_text()
    assert outcome.to_run[-1][-2:] == ("restart", f"{outcome.name}.timer")


def test_several_files_of_one_name_have_schedules_of_their_own(memory: Path, place: Path) -> None:
    other = memory.parent / "sub" / memory.name
    other.parent.mkdir()
    copy_of(memory, other.parent)
    names = {installed(path, here(place)).name for path in (memory, other)}
    assert len(names) == 2
    assert len(names_in(place / "user")) == 4


def test_name_holds_the_name_of_the_file_and_of_the_command(memory: Path, place: Path) -> None:
    odd = memory.rename(memory.with_name("My Memory (1).jsonl"))
    assert installed(odd, here(place), Wish("systemd", "scan")).name.startswith("memttl-scan-my-memory-1-")


def test_file_is_named_as_the_user_named_it_and_the_real_folder_is_writable(memory: Path, place: Path) -> None:
    link = memory.parent / "link.jsonl"
    link.symlink_to(memory)
    at = here(place)
    text = schedule.show(settings_of(link), SYSTEMD, here=at, environ={}).files[0].content
    assert f"--file {link}" in text
    assert schedule.show(settings_of(link), SYSTEMD, here=at, environ={}).name == installed(memory, at).name


def test_prune_is_approved_and_never_forced(memory: Path, place: Path) -> None:
    text = installed(memory, here(place)).files[0].content
    assert "memttl prune --yes --quiet --file" in text
    assert "--force" not in text


def test_scan_needs_no_yes(memory: Path, place: Path) -> None:
    assert "memttl scan --quiet --file" in installed(memory, here(place), Wish("systemd", "scan")).files[0].content


def test_named_policy_and_that_of_the_variable_go_along(memory: Path, place: Path) -> None:
    text = installed(memory, here(place), SYSTEMD._replace(policy="/etc/p.toml")).files[0].content
    assert "--policy /etc/p.toml" in text
    text = installed(memory, here(place), environ={"MEMTTL_POLICY": "/etc/q.toml"}).files[0].content
    assert "--policy /etc/q.toml" in text


def folders_of(outcome: ScheduleOutcome) -> list[str]:
    (line,) = [row for row in outcome.files[0].content.splitlines() if row.startswith("ReadWritePaths=")]
    return line.removeprefix("ReadWritePaths=").split()


def test_unit_may_write_in_each_folder_once(place: Path) -> None:
    from memttl.setup.job import Memory, make_job

    real = Path("/srv")  # a folder that is there, on every Linux, and not in /tmp
    folders = (Path("/srv/archive"), Path("/var/lib"), Path("/var/lib"))
    at = here(place, program=("/usr/bin/python3",), lies_in=("/usr/bin",))
    made = make_job(Memory("/srv/none.jsonl", real / "none.jsonl", folders), SYSTEMD, at)
    assert made.folders == ("/srv", "/var/lib")
    assert made.hides_tmp


def test_tmp_is_not_hidden_from_a_run_that_needs_it(place: Path) -> None:
    from memttl.setup.job import Memory, make_job

    at = here(place, program=("/usr/bin/python3",), lies_in=("/tmp/venv",))
    made = make_job(Memory("/srv/none.jsonl", Path("/srv/none.jsonl"), ()), SYSTEMD, at)
    assert not made.hides_tmp
    assert made.folders == ("/srv", "/tmp", "/var/tmp")


@needs_root
def test_file_with_another_group_gets_no_namespace_of_users(memory: Path, place: Path) -> None:
    os.chown(memory, -1, 1234)
    assert "PrivateUsers" not in installed(memory, here(place)).files[0].content


def test_list_of_rights_that_names_others_gets_no_namespace_of_users(memory: Path, place: Path) -> None:
    set_attribute(memory, "system.posix_acl_access", ACL)
    assert "PrivateUsers" not in installed(memory, here(place)).files[0].content


def test_install_makes_the_state_folder_and_records_nothing(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    assert names_in(state_folder(memory)) == ["audit.jsonl", "backups"]
    state = state_of(memory)
    keep_outcome(state, command="prune", code=65)
    assert [row["code"] for row in read_outcomes(state)] == [65]


def test_first_prune_after_an_install_is_a_first_one(memory: Path, place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = copy_of(memory, folder)
    installed(memory, here(place))
    assert [v.observation for v in pruned(memory).plan.removals] == [v.observation for v in pruned(other).plan.removals]


def test_dry_run_writes_nothing_at_all(memory: Path, place: Path) -> None:
    at = here(place)
    before = tree(memory.parent), tree(place)
    assert changes(installed(memory, at, dry_run=True)) == ["new", "new"]
    assert (tree(memory.parent), tree(place)) == before


def test_question_that_is_answered_with_no_changes_nothing(memory: Path, place: Path) -> None:
    at = here(place)
    before = tree(memory.parent), tree(place)
    assert installed(memory, at, ask=lambda _: False).declined
    assert (tree(memory.parent), tree(place)) == before


def test_unit_of_somebody_else_is_not_written_over(memory: Path, place: Path) -> None:
    name = installed(memory, here(place)).name
    unit = place / "user" / f"{name}.timer"
    unit.write_text("[Timer]\nOnCalendar=daily\n")
    with pytest.raises(CannotCreate, match="not written by memttl"):
        installed(memory, here(place))
    assert unit.read_text() == "[Timer]\nOnCalendar=daily\n"


def test_remove_takes_away_both_files_and_the_link(memory: Path, place: Path) -> None:
    name = installed(memory, here(place)).name
    wants = place / "user" / "timers.target.wants"
    wants.mkdir()
    (wants / f"{name}.timer").symlink_to(place / "user" / f"{name}.timer")
    assert changes(removed(memory, here(place))) == ["gone", "gone"]
    assert names_in(place / "user") == ["timers.target.wants"]
    assert not names_in(wants)


def test_remove_stops_the_timer_where_systemd_runs(memory: Path, place: Path) -> None:
    program(place, "systemctl")
    name = installed(memory, here(place)).name
    removed(memory, here(place, is_booted=True))
    assert calls(place)[1:] == [f"systemctl --user disable --now {name}.timer", "systemctl --user daemon-reload"]


def test_remove_of_nothing_is_done_at_once(memory: Path, place: Path) -> None:
    outcome = removed(memory, here(place), ask=lambda _: pytest.fail("asked"))
    assert changes(outcome) == ["none", "none"]


def test_remove_leaves_the_unit_of_somebody_else_and_the_schedule_of_the_other_command(
    memory: Path, place: Path
) -> None:
    name = installed(memory, here(place)).name
    scan = installed(memory, here(place), Wish("systemd", "scan")).name
    (place / "user" / f"{name}.service").write_text("[Service]\n")
    assert changes(removed(memory, here(place))) == ["foreign", "gone"]
    assert names_in(place / "user") == [f"{name}.service", f"{scan}.service", f"{scan}.timer"]


def test_remove_needs_no_memory_file(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    memory.unlink()
    assert changes(removed(memory, here(place))) == ["gone", "gone"]


def test_missing_file_is_installed_with_a_warning_if_its_folder_is_there(tmp_path: Path, place: Path) -> None:
    path = tmp_path / "none.jsonl"
    outcome = installed(path, here(place))
    assert outcome.installed
    assert any("66" in warning for warning in outcome.warnings)


def test_missing_folder_is_refused(tmp_path: Path, place: Path) -> None:
    with pytest.raises(NoMemoryFile):
        installed(tmp_path / "no" / "none.jsonl", here(place))


def test_archive_is_refused(memory: Path, place: Path) -> None:
    pruned(memory, policy='[archive]\npath = "archive.jsonl"\n')
    with pytest.raises(IsArchive):
        installed(memory.with_name("archive.jsonl"), here(place))


@pytest.mark.parametrize(("kind", "platform"), [("launchd", "linux"), ("windows", "linux"), ("systemd", "darwin")])
def test_scheduler_of_another_system_is_refused(memory: Path, place: Path, kind: Kind, platform: str) -> None:
    with pytest.raises(UsageError, match="does not run on this system"):
        installed(memory, here(place, platform=platform), Wish(kind))


def test_memttl_in_a_cache_is_refused(memory: Path, place: Path) -> None:
    with pytest.raises(UsageError, match="cache"):
        installed(memory, here(place, passing="/home/a/.cache/uv/archive-v0/x"))


def test_file_of_another_user_is_refused(memory: Path, place: Path) -> None:
    with pytest.raises(NoPermission, match="another user"):
        installed(memory, here(place, user=os.getuid() + 1))


def test_only_root_installs_for_the_whole_machine(memory: Path, place: Path) -> None:
    with pytest.raises(NoPermission, match="root"):
        installed(memory, here(place, user=1000), SYSTEMD._replace(system=True))


@needs_root
def test_machine_runs_it_as_the_owner_of_the_file(memory: Path, place: Path) -> None:
    os.chown(memory, 65534, 65534)
    text = installed(memory, here(place), SYSTEMD._replace(system=True)).files[0].content
    assert "User=nobody\n" in text
    assert names_in(place / "system")


@needs_root
def test_memttl_that_the_owner_cannot_reach_is_refused(memory: Path, place: Path, tmp_path: Path) -> None:
    os.chown(memory, 65534, 65534)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(NoPermission, match="cannot enter"):
        installed(memory, here(place, lies_in=(str(closed),)), SYSTEMD._replace(system=True))


@pytest.mark.parametrize("name", ["a\nb", "a\tb", os.fsdecode(b"a\xff")])
def test_path_that_no_unit_can_hold_is_refused(memory: Path, place: Path, name: str) -> None:
    folder = memory.parent / name
    folder.mkdir()
    with pytest.raises(UsageError, match="control character"):
        installed(copy_of(memory, folder), here(place))


def test_cron_gets_its_line_and_keeps_all_others(memory: Path, place: Path) -> None:
    program(place, "crontab", CRONTAB)
    (place / "crontab").write_text("MAILTO=anna\n@daily mine")
    outcome = installed(memory, here(place), CRON)
    text = (place / "crontab").read_text()
    assert text == f"MAILTO=anna\n@daily mine\n{outcome.files[0].content}"
    assert changes(installed(memory, here(place), CRON)) == ["same"]
    removed(memory, here(place), CRON)
    assert (place / "crontab").read_text() == "MAILTO=anna\n@daily mine\n"


@pytest.mark.parametrize("others", [b"0 1 * * * a\r\n", b"# one\rline\n", b"# \xff\n", "# ü\u2028\x0c\x85\n".encode()])
def test_other_lines_of_the_crontab_stay_byte_by_byte(memory: Path, place: Path, others: bytes) -> None:
    program(place, "crontab", CRONTAB)
    (place / "crontab").write_bytes(others)
    outcome = installed(memory, here(place), CRON)
    assert (place / "crontab").read_bytes() == others + outcome.files[0].content.encode()
    removed(memory, here(place), CRON)
    assert (place / "crontab").read_bytes() == others


def test_first_line_makes_a_crontab(memory: Path, place: Path) -> None:
    program(place, "crontab", CRONTAB)
    outcome = installed(memory, here(place), CRON)
    assert (place / "crontab").read_text() == outcome.files[0].content


def test_crontab_that_cannot_be_read_is_not_written(memory: Path, place: Path) -> None:
    program(place, "crontab", 'echo "crontabs: Permission denied" >&2; exit 1')
    with pytest.raises(CannotCreate, match="cannot be read"):
        installed(memory, here(place), CRON)
    assert calls(place) == ["crontab -l"]


def test_crontab_that_cannot_be_written_is_told(memory: Path, place: Path) -> None:
    program(place, "crontab", '[ "$1" = -l ] && exit 0; echo "bad minute" >&2; exit 1')
    with pytest.raises(CannotCreate, match="bad minute"):
        installed(memory, here(place), CRON)


def test_machine_without_cron_is_told(memory: Path, place: Path) -> None:
    with pytest.raises(CannotCreate, match="no program"):
        installed(memory, here(place, environ={"PATH": str(place / "bin")}), CRON)


@needs_root
def test_cron_of_the_machine_gets_a_file_that_it_reads(memory: Path, place: Path) -> None:
    outcome = installed(memory, here(place), CRON._replace(system=True))
    (name,) = names_in(place / "cron.d")
    assert name == outcome.name
    assert "." not in name  # cron passes such names over
    assert (place / "cron.d" / name).stat().st_mode & 0o777 == 0o644
    assert " root " in outcome.files[0].content.splitlines()[-2]


def test_macos_loads_the_job(memory: Path, place: Path) -> None:
    program(place, "launchctl")
    at = here(place, platform="darwin", user=os.getuid())
    wish = Wish("launchd")
    name = installed(memory, at, wish).name
    path = place / "agents" / f"{name}.plist"
    assert calls(place) == [f"launchctl bootstrap gui/{os.getuid()} {path}"]
    assert changes(removed(memory, at, wish)) == ["gone"]
    assert calls(place)[1:] == [f"launchctl bootout gui/{os.getuid()}/{name}"]


SCHTASKS = """
store=$(dirname "$0")/../task
case $1 in
/Query) [ -f "$store" ] || exit 1; iconv -f utf-16 -t utf-8 "$store" ;;
/Create) cp "$5" "$store" ;;
/Delete) rm "$store" ;;
esac
"""


def test_windows_registers_the_task(memory: Path, place: Path) -> None:
    program(place, "schtasks", SCHTASKS)
    at = here(place, platform="win32")
    wish = Wish("windows")
    outcome = installed(memory, at, wish)
    stored = (place / "task").read_bytes()
    assert stored.startswith((b"\xff\xfe<", b"\xfe\xff"))
    assert stored.decode("utf-16").replace("\r\n", "\n") == outcome.files[0].content
    assert changes(removed(memory, at, wish)) == ["gone"]
    assert not (place / "task").exists()


def test_windows_has_no_task_of_the_machine(memory: Path, place: Path) -> None:
    with pytest.raises(UsageError):
        installed(memory, here(place, platform="win32"), Wish("windows", system=True))


@pytest.mark.parametrize("after", [1, 2, 3])
def test_kill_leaves_whole_files_and_never_a_timer_alone(memory: Path, place: Path, after: int) -> None:
    at, wanted = here(place), schedule.show(settings_of(memory), SYSTEMD, here=here(place), environ={})
    steps: list[str] = []

    def step(name: str) -> None:
        steps.append(name)
        if len(steps) == after:
            os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(forked(lambda: installed(memory, at, step=step)), 0)
    folder = place / "user"
    names = names_in(folder) if folder.exists() else []
    assert names == [Path(file.path).name for file in wanted.files[: after - 1]]
    assert all((folder / Path(f.path).name).read_text() == f.content for f in wanted.files[: after - 1])


def test_unit_that_cannot_be_written_leaves_that_of_before(memory: Path, place: Path) -> None:
    name = installed(memory, here(place)).name
    service = place / "user" / f"{name}.service"
    service.unlink()
    service.mkdir()
    with pytest.raises(MemttlError):
        installed(memory, here(place), Wish("systemd", every=Every(60)))
    assert names_in(place / "user") == [f"{name}.service", f"{name}.timer"]


def test_unit_that_is_a_link_stays_one(memory: Path, place: Path) -> None:
    name = installed(memory, here(place)).name
    timer = place / "user" / f"{name}.timer"
    kept = place / "dotfiles.timer"
    timer.rename(kept)
    timer.symlink_to(kept)
    installed(memory, here(place), Wish("systemd", every=Every(60)))
    assert timer.is_symlink()
    assert "0/1:00" in kept.read_text()


@pytest.mark.parametrize(
    ("platform", "is_booted", "kind"),
    [("linux", True, "systemd"), ("linux", False, "cron"), ("darwin", False, "launchd"), ("win32", False, "windows")],
)
def test_machine_has_a_scheduler_of_its_own(place: Path, platform: str, is_booted: bool, kind: Kind) -> None:
    from memttl.setup.placing import own_kind

    assert own_kind(here(place, platform=platform, is_booted=is_booted)) == kind


def test_steps_are_few(memory: Path, place: Path) -> None:
    seen: list[str] = []
    note: Callable[[str], None] = seen.append
    installed(memory, here(place), step=note)
    assert seen == ["prepared", "written", "written"]


def text_of(outcome: ScheduleOutcome) -> str:
    return render(outcome)


def test_removal_without_a_command_takes_both(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    installed(memory, here(place), Wish("systemd", "scan"))
    removed(memory, here(place), commands=("prune", "scan"))
    assert names_in(place / "user") == []


def test_removal_of_one_names_what_is_left_of_every_kind(memory: Path, place: Path) -> None:
    program(place, "crontab", CRONTAB)
    for wish in (SYSTEMD, Wish("systemd", "scan"), CRON):
        installed(memory, here(place), wish)
    text = text_of(removed(memory, here(place)))
    assert f"`memttl schedule systemd scan --remove --file {memory}` takes it away" in text
    assert (
        f"Still installed: your crontab (`memttl prune`); `memttl schedule cron prune --remove --file {memory}`" in text
    )


def test_schedule_of_before_a_move_that_left_a_link_is_removed(memory: Path, place: Path) -> None:
    installed(memory, here(place))
    new = memory.rename(memory.with_name("new.jsonl"))
    memory.symlink_to(new)
    assert "gone" in changes(removed(memory, here(place)))
    assert names_in(place / "user") == []


@pytest.mark.parametrize("act", ["install", "remove"])
def test_of_a_crontab_only_the_lines_are_told(memory: Path, place: Path, act: str) -> None:
    program(place, "crontab", CRONTAB)
    outcome = installed(memory, here(place), CRON)
    outcome = outcome if act == "install" else removed(memory, here(place), CRON)
    assert "lines in your crontab (all others stay): " in text_of(outcome)


def test_install_that_changes_nothing_asks_nothing_and_enables_all_the_same(memory: Path, place: Path) -> None:
    program(place, "systemctl")
    installed(memory, here(place, is_booted=True))

    def ask(_: ScheduleOutcome) -> bool:
        raise AssertionError("asked")

    outcome = installed(memory, here(place, is_booted=True), ask=ask)
    assert outcome.ran[-1][2:4] == ("enable", "--now")
    assert "All is in place already" in text_of(outcome)


def test_where_systemd_does_not_answer_the_text_does_not_say_that_it_runs(memory: Path, place: Path) -> None:
    assert "will then run every day" in text_of(installed(memory, here(place)))


def test_install_says_how_to_see_the_runs(memory: Path, place: Path) -> None:
    outcome = installed(memory, here(place))
    assert f"`systemctl --user list-timers {outcome.name}.timer`" in text_of(outcome)
    assert f"`journalctl --user -u {outcome.name}`" in text_of(outcome)


def test_install_warns_of_another_kind_that_runs_the_same(memory: Path, place: Path) -> None:
    program(place, "crontab", CRONTAB)
    installed(memory, here(place), CRON)
    assert "Note: your crontab runs it, too" in text_of(installed(memory, here(place)))


def test_environment_of_a_source_tree_is_warned_of(memory: Path, place: Path) -> None:
    (warning,) = installed(memory, here(place, checkout="/home/anna/clone/.venv")).warnings
    assert "/home/anna/clone/.venv" in warning


@pytest.mark.parametrize(("inside", "expected"), [(True, True), (False, False)])
def test_source_tree_is_known_by_its_pyproject(tmp_path: Path, inside: bool, expected: bool) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/pyvenv.cfg").touch()
    (tmp_path / ("" if inside else ".venv") / "pyproject.toml").touch()
    assert (checkout_of(str(tmp_path / ".venv"), "/site-packages") is not None) == expected


@pytest.mark.parametrize(("name", "default"), [("XDG_STATE_HOME", ".local/state"), ("XDG_CONFIG_HOME", ".config")])
def test_variable_at_its_default_does_not_go_along(tmp_path: Path, name: str, default: str) -> None:
    def goes(value: Path) -> bool:
        return name in dict(this_installation({"HOME": str(tmp_path), name: str(value)}).environment)

    assert (goes(tmp_path / default), goes(tmp_path / "other")) == (False, True)
