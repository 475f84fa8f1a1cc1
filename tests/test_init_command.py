"""memttl init: a whole dialogue at a terminal, every answer as an option, and nothing written before the last one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, ROOT, Ended, Terminal, copy_of, error_of, memttl, tree
from repositories import MONDAY, commit, needs_git, new_repository

from memttl.core.policy_load import load_policy

PERSONAL = FIXTURES / "init/personal/memory.jsonl"
EXAMPLE = FIXTURES / "memory/example.jsonl"
NOW = "2026-06-01T12:00:00Z"
# without a zone of its own the machine would decide what is printed
ZONE = {"TZ": "Europe/Brussels"}


def init(path: Path, *options: str | Path, now: str = NOW, **how: Any) -> Any:
    return memttl("init", "--file", path, "--now", now, *options, env=ZONE, **how)


def document(path: Path, *options: str | Path) -> dict[str, Any]:
    ended = init(path, "--json", *options)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def dialogue(path: Path, *answers: tuple[str, str], options: tuple[str, ...] = (), **env: str) -> Ended:
    """Answer questions in order: each a piece of the question, and what is typed."""
    terminal = Terminal("init", "--file", path, "--now", NOW, *options, env={**ZONE, **env})
    for question, answer in answers:
        terminal.read_until(question)
        terminal.type(answer)
    return terminal.end()


# without a terminal


def test_without_a_terminal_and_without_yes_nothing_is_done(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    before = tree(tmp_path)
    ended = init(path)
    assert ended.returncode == 2
    assert "--yes" in ended.stderr
    assert "--dry-run" in ended.stderr
    assert tree(tmp_path) == before


def test_dry_run_prints_the_policy_and_writes_nothing(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    before = tree(tmp_path)
    ended = init(path, "--dry-run", "--schedule", "none")
    assert ended.returncode == 0
    golden = (FIXTURES / "init/personal/policy.toml").read_text(encoding="utf-8")
    assert golden in ended.stdout
    assert "Dry run: nothing was written." in ended.stdout
    assert tree(tmp_path) == before


def test_yes_writes_the_policy_and_begins_the_ages(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    before = path.stat()
    ended = init(path, "--yes", "--schedule", "none")
    assert (ended.returncode, ended.stderr) == (0, "")
    golden = (FIXTURES / "init/personal/policy.toml").read_text(encoding="utf-8")
    assert (tmp_path / "memttl.toml").read_text(encoding="utf-8") == golden
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    scanned = json.loads(memttl("scan", "--json", "--file", path, "--now", "2026-06-02").stdout)
    assert (scanned["baseline"], scanned["new"]) == (NOW, 0)


def test_second_init_finds_all_in_place_and_gives_the_same_text(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    init(path, "--yes", "--schedule", "none")
    before = tree(tmp_path)
    again = document(path, "--yes", "--schedule", "none")
    assert (again["policy"]["before"], again["steps"]) == ("same", [])
    assert tree(tmp_path) == before


def test_what_it_says_of_today_is_what_prune_then_plans(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    told = document(path, "--yes", "--schedule", "none")["forecasts"]
    planned = [
        json.loads(memttl("prune", "-n", "--json", "--file", path, "--now", now).stdout)["removed"]
        for now in (NOW, "2026-08-30T12:00:00Z")
    ]
    of = [[(v["entity"], v["observation"], v["expires_at"]) for v in removed] for removed in planned]
    assert [[(v["entity"], v["observation"], v["expires_at"]) for v in f["removed"]] for f in told] == of
    assert [len(removed) for removed in planned] == [5, 10]


def test_plan_past_a_limit_is_said_and_no_schedule_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    notes = [f"[session] 2026-01-{day:02}: looked at it" for day in range(1, 26)]
    path.write_text(json.dumps({"type": "entity", "name": "E", "entityType": "notes", "observations": notes}))
    os.utime(path, (1, 1))
    ended = init(path, "--yes")
    assert ended.returncode == 0
    assert "past a limit" in ended.stdout
    assert "max_prune_fraction" in ended.stdout
    assert "every day" not in ended.stdout


def test_policy_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text('timezone = "Asia/Tokyo"\n')
    before = tree(tmp_path)
    for options in (["--yes"], ["--dry-run"], ["--yes", "--scan"]):
        ended = init(path, *options, "--schedule", "none")
        assert ended.returncode == 2
        assert "--replace-policy" in ended.stderr
        assert '-timezone = "Asia/Tokyo"' in ended.stdout
        assert tree(tmp_path) == before


def test_replaced_policy_stays_beside_the_new_one(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text("rules = []\n")
    found = document(path, "--yes", "--replace-policy", "--no-scan", "--schedule", "none")
    assert found["policy"]["kept"] == str(tmp_path / "memttl.toml.old")
    assert (tmp_path / "memttl.toml.old").read_text() == "rules = []\n"
    assert load_policy((tmp_path / "memttl.toml").read_text()).rules


def test_policy_of_a_newer_memttl_is_not_replaced(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text("version = 9\n")
    before = tree(tmp_path)
    ended = init(path, "--yes", "--replace-policy", "--schedule", "none")
    assert (ended.returncode, tree(tmp_path)) == (78, before)
    assert "a newer memttl wrote it" in ended.stderr


def test_last_day_of_the_calendar_has_no_later_forecast(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    ended = init(path, "--json", "-n", "--schedule", "none", now="9999-12-31")
    assert [forecast["days"] for forecast in json.loads(ended.stdout)["forecasts"]] == [0]


def test_policy_that_cannot_be_read_is_said_and_can_be_replaced(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text("no toml [")
    ended = init(path, "--yes", "--replace-policy", "--schedule", "none")
    assert ended.returncode == 0
    assert "cannot be used" in ended.stderr
    assert memttl("policy", "check", "--file", path).returncode == 0


def test_state_and_archive_stay_where_the_policy_of_before_put_them(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text('[state]\ndir = "kept"\n[archive]\npath = "old.jsonl"\n')
    memttl("scan", "--file", path, "--now", "2026-05-01")
    found = document(path, "--yes", "--replace-policy", "--schedule", "none")
    assert found["found"]["ages_begun"] == "2026-05-01T00:00:00Z"
    policy = load_policy((tmp_path / "memttl.toml").read_text())
    assert (policy.state_dir, policy.archive_path) == ("kept", "old.jsonl")
    assert memttl("scan", "--file", path, "--now", "2026-06-02").returncode == 0


@pytest.mark.parametrize("name", ["memory.jsonl", ".memttl/policy.toml", "folder.toml", "policy.txt"])
def test_place_that_is_none_for_a_policy_is_refused(tmp_path: Path, name: str) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "folder.toml").mkdir()
    before = tree(tmp_path)
    ended = init(path, "--yes", "--replace-policy", "-o", tmp_path / name)
    assert ended.returncode == 2
    assert tree(tmp_path) == before


def test_policy_may_go_elsewhere_and_the_rest_is_done_by_it(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    ended = init(path, "--yes", "--schedule", "none", "-o", tmp_path / "elsewhere/mine.toml")
    assert ended.returncode == 0
    assert "--policy" in ended.stdout
    assert (tmp_path / "elsewhere/mine.toml").is_file()
    assert not (tmp_path / "memttl.toml").exists()


def test_user_policy_goes_into_the_config_folder_and_needs_no_memory_file(tmp_path: Path) -> None:
    env = {**ZONE, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    ended = memttl("init", "--user", "--yes", "--json", env=env, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["file"] is None
    policy = load_policy((tmp_path / "config/memttl/policy.toml").read_text())
    assert str(policy.zone) == "Europe/Brussels"


def test_policy_that_goes_before_the_users_is_said(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text("version = 1\n")
    env = {**ZONE, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    ended = memttl("init", "--user", "-n", "--schedule", "none", "--file", path, "--now", NOW, env=env)
    assert ended.returncode == 0
    assert f"The policy {tmp_path / 'memttl.toml'} goes before this one" in ended.stdout


def test_file_in_an_npx_cache_gets_its_policy_where_no_update_deletes_it(tmp_path: Path) -> None:
    folder = tmp_path / "_npx/15b07286cbcc3329/node_modules/@modelcontextprotocol/server-memory/dist"
    folder.mkdir(parents=True)
    path = copy_of(PERSONAL, folder)
    env = {**ZONE, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    ended = memttl("init", "-n", "--schedule", "none", "--file", path, "--now", NOW, env=env)
    assert ended.returncode == 0
    assert "memttl move" in ended.stdout
    assert str(tmp_path / "config/memttl/policy.toml") in ended.stdout


def test_memory_file_that_the_server_has_yet_to_make_gets_a_policy(tmp_path: Path) -> None:
    found = document(tmp_path / "memory.jsonl", "--yes")
    assert (found["found"]["exists"], [s["name"] for s in found["steps"]]) == (False, ["policy"])
    assert (tmp_path / "memttl.toml").is_file()


def test_damaged_file_is_looked_at_and_no_age_is_begun(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/truncated-tail.jsonl", tmp_path)
    ended = init(path, "--yes")
    assert ended.returncode == 0
    assert "cannot read" in ended.stderr
    assert not (tmp_path / ".memttl").exists()


def test_damaged_file_says_that_a_prune_would_refuse_it(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/truncated-tail.jsonl", tmp_path)
    assert "a prune refuses a damaged file: `memttl doctor --repair`" in init(path, "--yes", "--dry-run").stdout


@pytest.mark.parametrize("option", ["--scan", "--backfill"])
def test_ages_of_a_damaged_file_are_refused_before_the_policy_is_written(tmp_path: Path, option: str) -> None:
    path = copy_of(FIXTURES / "memory/truncated-tail.jsonl", tmp_path)
    before = tree(tmp_path)
    for more in ((), ("--dry-run",)):
        error = error_of(init(path, "--yes", option, *more, "--json"))
        assert error["code"] == 65
        assert "no ages can be taken" in error["message"]
        assert tree(tmp_path) == before


def test_folder_that_is_made_for_the_policy_is_named(tmp_path: Path) -> None:
    ended = init(tmp_path / "typo/memory.jsonl", "--yes", "--schedule", "none")
    assert f"and make its folder {tmp_path / 'typo'}" in ended.stdout


@pytest.mark.parametrize("name", ["chat-log", "one-line-graph-object", "gzip"])
def test_file_of_another_tool_is_refused(tmp_path: Path, name: str) -> None:
    path = copy_of(FIXTURES / f"memory/{name}.jsonl", tmp_path)
    before = tree(tmp_path)
    assert error_of(init(path, "--yes", "--json"))["code"] == 65
    assert tree(tmp_path) == before


def test_step_that_fails_says_what_was_done_and_what_was_not(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / ".memttl").write_text("in the way")
    ended = init(path, "--yes", "--backfill", "--schedule", "none")
    assert ended.returncode == 73
    done, rest = ended.stderr.partition("\nNot done: ")[::2]
    assert "Done: write the policy" in done
    assert "begin the ages" in rest
    assert "git history" in rest
    assert (tmp_path / "memttl.toml").is_file()


def test_zone_and_scheduler_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    assert "Europe/Berlin" in init(path, "-n", "--timezone", "Europe/Berln").stderr
    assert "systemd" in init(path, "-n", "--schedule", "systemt").stderr
    assert init(path, "-n", "--user", "-o", "x.toml").returncode == 2
    assert "--timezone ''" in init(path, "-n", "--timezone", "").stderr


def test_system_without_a_zone_gets_utc_with_a_comment(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    ended = memttl("init", "-n", "--schedule", "none", "--file", path, env={"TZ": "CET-1CEST"})
    assert "# The system does not tell its own time zone by name" in ended.stdout
    assert 'timezone = "UTC"' in ended.stdout


def test_escapes_in_names_reach_no_terminal(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/ansi-escapes-html-and-markup.jsonl", tmp_path)
    ended = init(path, "-n", "--schedule", "none")
    assert ended.returncode == 0
    assert "\x1b" not in ended.stdout + ended.stderr


def test_schedule_that_is_named_is_installed_last_and_how_to_take_it_away_is_said(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    env = {**ZONE, "XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": str(tmp_path / "no-systemctl")}
    ended = memttl("init", "--yes", "--json", "--schedule", "systemd", "--file", path, "--now", NOW, env=env)
    assert ended.returncode == 0, ended.stderr
    steps = json.loads(ended.stdout)["steps"]
    assert [step["name"] for step in steps] == ["policy", "scan", "schedule"]
    assert any("--remove" in line for line in steps[-1]["detail"])
    units = list((tmp_path / "config/systemd/user").glob("*"))
    assert sorted(unit.suffix for unit in units) == [".service", ".timer"]
    assert any(" prune --yes" in unit.read_text() for unit in units)


def test_every_key_of_the_document_is_documented(tmp_path: Path) -> None:
    found = document(copy_of(PERSONAL, tmp_path), "--dry-run", "--schedule", "none")
    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    told = page[page.index("`memttl init --json`") :].partition("\n`memttl")[0]
    told += page[: page.index("`memttl discover --json`")]  # verdicts and counts, which are as of a prune
    assert {key for key in keys_at_all_levels(found) if f"`{key}`" not in told and f'"{key}"' not in told} == set()


def keys_at_all_levels(value: Any) -> set[str]:
    if isinstance(value, list):
        return {key for one in value for key in keys_at_all_levels(one)}
    if isinstance(value, dict):
        return {*value, *keys_at_all_levels([*value.values()])}
    return set()


@needs_git
def test_births_are_taken_from_the_history_of_the_file(tmp_path: Path) -> None:
    new_repository(tmp_path)
    commit(tmp_path, {"memory.jsonl": PERSONAL.read_bytes()}, MONDAY)
    path = tmp_path / "memory.jsonl"
    os.utime(path, (1, 1))
    found = document(path, "--yes", "--schedule", "none")
    assert (found["found"]["commits"], [s["name"] for s in found["steps"]]) == (1, ["policy", "scan", "backfill"])
    assert all(step["done"] for step in found["steps"])
    removed = json.loads(memttl("prune", "-n", "--json", "--file", path, "--now", NOW).stdout)["removed"]
    assert any(v["age_source"] == "seen" for v in removed)  # months old by its commit


# at a terminal


def test_whole_dialogue_with_a_discovered_file_does_what_was_agreed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    config = home / "config/Claude/claude_desktop_config.json"
    config.parent.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    path = copy_of(PERSONAL, tmp_path / "data")
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    server["env"] = {"MEMORY_FILE_PATH": str(path)}
    config.write_text(json.dumps({"mcpServers": {"memory": server}}))
    env = {**ZONE, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    terminal = Terminal("init", "--now", NOW, "--schedule", "none", env=env, cwd=home)
    terminal.read_until("Take these rules? [Y/n]: ")
    terminal.type("\n")
    terminal.read_until("Begin the ages now?")
    terminal.type("\n")
    shown = terminal.read_until("Do it? [y/N]: ")
    assert "Claude Desktop" in shown
    assert not (tmp_path / "data/memttl.toml").exists()
    assert not (tmp_path / "data/.memttl").exists()
    terminal.type("y\n")
    ended = terminal.end()
    assert ended.code == 0
    assert "Done: write the policy" in ended.screen
    assert (tmp_path / "data/memttl.toml").is_file()
    assert (tmp_path / "data/.memttl").is_dir()


def test_several_discovered_files_are_a_list_to_pick_from(tmp_path: Path) -> None:
    home = tmp_path / "home"
    config = home / "config/Claude/claude_desktop_config.json"
    config.parent.mkdir(parents=True)
    servers = {}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path = copy_of(PERSONAL if name == "one" else EXAMPLE, tmp_path / name)
        servers[name] = {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-memory"],
            "env": {"MEMORY_FILE_PATH": str(path)},
        }
    config.write_text(json.dumps({"mcpServers": servers}))
    env = {**ZONE, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    terminal = Terminal("init", "--now", NOW, "--schedule", "none", "--no-scan", "--no-rules", env=env, cwd=home)
    shown = terminal.read_until("Which one [1]: ")
    number = 1 if shown.index(str(tmp_path / "two")) < shown.index(str(tmp_path / "one")) else 2
    terminal.type(f"{number}\n")
    terminal.read_until("Do it? [y/N]: ")
    terminal.type("y\n")
    assert terminal.end().code == 0
    assert (tmp_path / "two/memttl.toml").is_file()
    assert not (tmp_path / "one/memttl.toml").exists()
    refused = memttl("init", "--yes", env=env, cwd=home)
    assert refused.returncode == 2
    assert str(tmp_path / "one") in refused.stderr


QUESTIONS = ("Take these rules?", "Begin the ages now?", "Take earlier ages", "Have `memttl prune` run", "Do it?")


@needs_git
def test_every_question_answered_no_writes_nothing(tmp_path: Path) -> None:
    path = _in_git(tmp_path)
    before = tree(tmp_path / "r")
    ended = dialogue(path, *((question, "n\n") for question in QUESTIONS))
    assert ended.code == 0
    assert "Nothing was written." in ended.screen
    assert tree(tmp_path / "r") == before


@needs_git
@pytest.mark.parametrize(
    ("question", "key"), [*((q, "\x03") for q in QUESTIONS), (QUESTIONS[0], "\x04"), (QUESTIONS[-1], "\x04")]
)
def test_interrupt_at_any_question_writes_nothing(tmp_path: Path, question: str, key: str) -> None:
    path = _in_git(tmp_path)
    before = tree(tmp_path / "r")
    earlier = QUESTIONS[: QUESTIONS.index(question)]
    ended = dialogue(path, *((q, "\n") for q in earlier), (question, key))
    assert ended.code == 130
    assert "nothing was written" in ended.screen or "as it was" in ended.screen
    assert tree(tmp_path / "r") == before


def test_enter_at_the_last_question_is_a_no(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    ended = dialogue(path, ("Do it?", "\n"), options=("--rules", "--scan", "--schedule", "none"))
    assert "Nothing was written." in ended.screen
    assert not (tmp_path / "memttl.toml").exists()


def test_policy_that_is_there_stays_unless_somebody_says_yes(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    (tmp_path / "memttl.toml").write_text("version = 1\n")
    options = ("--rules", "--scan", "--schedule", "none")
    ended = dialogue(path, ("Replace it?", "\n"), ("Do it?", "y\n"), options=options)
    assert ended.code == 0
    assert (tmp_path / "memttl.toml").read_text() == "version = 1\n"
    assert (tmp_path / ".memttl").is_dir()
    ended = dialogue(path, ("Replace it?", "y\n"), ("Do it?", "y\n"), options=options)
    assert "memttl.toml.old" in ended.screen
    assert "[[rules]]" in (tmp_path / "memttl.toml").read_text()


def test_policy_that_appears_while_the_question_waits_is_left_alone(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    terminal = Terminal("init", "--file", path, "--rules", "--scan", "--schedule", "none", env=ZONE)
    terminal.read_until("Do it?")
    (tmp_path / "memttl.toml").write_text("theirs = 1\n")
    terminal.type("y\n")
    ended = terminal.end()
    assert ended.code == 75
    assert "Not done: write the policy" in ended.screen
    assert (tmp_path / "memttl.toml").read_text() == "theirs = 1\n"
    assert not (tmp_path / ".memttl").exists()


def test_zone_is_asked_for_where_the_system_does_not_tell_it(tmp_path: Path) -> None:
    path = copy_of(PERSONAL, tmp_path)
    terminal = Terminal("init", "--file", path, "--rules", "--scan", "--schedule", "none", env={"TZ": "XYZ9"})
    terminal.read_until("time zone")
    terminal.type("Europe/Brusels\n")
    terminal.read_until("Europe/Brussels")
    terminal.type("Europe/Brussels\n")
    terminal.read_until("Do it?")
    terminal.type("y\n")
    assert terminal.end().code == 0
    assert str(load_policy((tmp_path / "memttl.toml").read_text()).zone) == "Europe/Brussels"


def _in_git(tmp_path: Path) -> Path:
    folder = new_repository(tmp_path / "r")
    commit(folder, {"memory.jsonl": PERSONAL.read_bytes()}, MONDAY)
    os.utime(folder / "memory.jsonl", (1, 1))
    return folder / "memory.jsonl"
