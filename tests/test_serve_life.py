"""The life of `memttl serve` as a process: how it starts, where it speaks, and how it ends."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from process import environ, memttl
from serving import Client, added, done, serve
from support import entity

from memttl.commands.serve_log import log_to
from memttl.errors import MemttlError
from memttl.settings import Given

OLD = "old [expires 2026-01-01]"
STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d+ ")
pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD, "new"], name="A") + b"\n")
    return path


@pytest.fixture
def held(path: Path) -> Iterator[Client]:
    """A server that has written once, and whose lock another program then holds."""
    with serve(path) as client:
        client.result("create_entities", entities=[{"name": "B", "entityType": "t", "observations": []}])
        with (path.parent / ".memttl/memory.jsonl/lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield client


def test_log_gets_all_that_is_said_and_the_end_of_input_ends_it_when_all_is_answered(path: Path) -> None:
    log = path.parent / "serve.log"
    with serve(path, "--log", log, "--prune-every", "6") as client:
        while OLD in path.read_text(encoding="utf-8"):
            client.result("read_graph")
        calls = [client.post("tools/call", _call(str(n))) for n in range(20)]
        assert client.close() == 0
        assert all(done(reply) for reply in client.gather(calls))
        assert client.errors() == ""
    lines = log.read_text(encoding="utf-8").splitlines()
    assert all(STAMPED.match(line) for line in lines)
    said = [STAMPED.sub("", line) for line in lines]
    assert said[0].startswith("memttl ")
    assert said[1] == f"memttl serve: {path}, policy built-in"
    assert "memttl serve: 1 of 2 observations has expired and is not shown; `memttl report` lists them" in said[2:]
    assert any(line.startswith("memttl serve: clean-up: removed 1 of ") for line in said[2:])
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_it_when_all_that_came_is_done_and_answered(path: Path, number: signal.Signals) -> None:
    with serve(path) as client:
        calls = [client.post("tools/call", _call(str(n))) for n in range(20)]
        client.gather(calls[:1])
        client.process.send_signal(number)
        assert client.process.wait(30) == 0
        done_ones = [n for n in range(1, 20) if _is_done(client, calls[n])]
        assert client.errors() == f"memttl serve: {path}, policy built-in\n"
    text = path.read_text(encoding="utf-8")
    assert all(f'"{n}"' in text for n in done_ones)


def test_second_signal_ends_it_at_once(held: Client) -> None:
    held.post("tools/call", _call("x"))
    held.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)  # two signals at once are one
    held.process.send_signal(signal.SIGTERM)
    assert held.process.wait(4) == 128 + signal.SIGTERM


def test_end_of_input_is_not_put_off_for_ever_by_a_lock_that_somebody_holds(held: Client) -> None:
    call = held.post("tools/call", _call("x"))
    assert held.close() == 0
    assert "error" in held.gather([call])[0]
    assert "Traceback" not in held.errors()


def test_call_that_its_client_takes_back_stops_no_other(path: Path) -> None:
    with serve(path) as client:
        number = client.post("tools/call", _call("x"))
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert done(client.call(*added("A", "y")))
        assert client.close() == 0
        assert "Traceback" not in client.errors()
    assert '"y"' in path.read_text(encoding="utf-8")


def test_client_that_reads_no_more_ends_it(path: Path) -> None:
    ours, its = os.pipe()
    command = [sys.executable, "-m", "memttl", "serve", "--file", str(path)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=its, stderr=subprocess.PIPE, env=environ())
    os.close(its)
    os.close(ours)
    assert server.stdin is not None
    assert server.stderr is not None
    with server:
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()
        assert server.wait(30) == 0
        assert b"Traceback" not in server.stderr.read()


def test_what_cannot_start_says_so_on_stderr_alone(path: Path) -> None:
    (path.parent / "memttl.toml").write_text("x =", encoding="utf-8")
    ended = memttl("serve", "--file", path, "--log", path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--log" in ended.stderr
    ended = memttl("serve", "--file", path)
    assert (ended.returncode, ended.stdout) == (78, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_stream_is_told_where_other_files_would_take_its_place(path: Path, closed: str) -> None:
    command = f'exec "$0" -m memttl serve --file "$1" {closed}'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, path], env=environ(), stdin=subprocess.DEVNULL, capture_output=True
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"speaks over standard input and output, and one of them is closed" in ended.stderr


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("", 2, "empty path"),
        ("memory.jsonl", 2, "is what memttl reads here"),
        ("memttl.toml", 2, "is what memttl reads here"),
        (".memttl/x.log", 2, "--log"),
        ("no/x.log", 73, "cannot be written"),
        ("other.txt", 73, "holds something else than a log"),
    ],
)
def test_log_that_cannot_be_one_is_refused(path: Path, name: str, code: int, why: str) -> None:
    (path.parent / "memttl.toml").write_text("", encoding="utf-8")
    (path.parent / "other.txt").write_text("mine\n", encoding="utf-8")
    (path.parent / ".memttl").mkdir()
    with pytest.raises(MemttlError) as caught:
        log_to(str(path.parent / name) if name else "", str(path), Given())
    assert why in caught.value.message
    assert caught.value.exit_code == code
    assert (path.parent / "other.txt").read_text(encoding="utf-8") == "mine\n"


def _call(text: str) -> dict[str, object]:
    name, arguments = added("A", text)
    return {"name": name, "arguments": arguments}


def _is_done(client: Client, number: int) -> bool:
    return "result" in client.gather([number])[0]
