"""Where a secret may hide from forget: archives of another policy, other encodings, lines of another shape, globs."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from archives import EXPIRED, POLICY, archive_of, laid, run
from forgetting import SECRET, forgot, holding, lived
from pruning import AT_ONCE, state_folder
from support import entity

from memttl.core.encodings import decoded, packed_parts
from memttl.core.quarantine import quarantine_text, read_quarantine
from memttl.core.repair import Piece
from memttl.settings import Given, resolve
from memttl.workflow.prune import Request, prune

GONE = f"{SECRET} {EXPIRED}"


def archived(folder: Path) -> Path:
    """A memory file whose archive holds the secret, though the policy names no archive any more."""
    path = laid(folder, entity([GONE, "kept"], name="A"), policy=POLICY)
    run(path)
    (folder / "memttl.toml").write_text("")
    return path


def test_an_archive_that_the_policy_names_no_more_is_taken_in(tmp_path: Path) -> None:
    path = archived(tmp_path)
    assert "memory-archive.jsonl" in holding(tmp_path)
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_one_that_only_its_mark_tells_of_is_taken_in(tmp_path: Path) -> None:
    path = archived(tmp_path)
    (state_folder(path) / "audit.jsonl").write_bytes(b"")
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_one_in_another_folder_is_found_by_the_log(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    archive, policy = tmp_path / "far" / "kept.jsonl", tmp_path / "policy.toml"
    policy.write_text(f'[archive]\npath = "{archive}"\n')
    path = laid(tmp_path / "near", entity([GONE, "kept"], name="A"), policy="")
    settings = resolve(str(path), Given(policy=str(policy)), {}, datetime.now(UTC))
    prune(settings, Request(pace=AT_ONCE, force=True))
    assert "far/kept.jsonl" in holding(tmp_path)
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_a_file_that_only_the_log_calls_an_archive_stays_and_is_named(tmp_path: Path) -> None:
    path = archived(tmp_path)
    (state_folder(archive_of(path)) / "archive").unlink()
    before = archive_of(path).read_bytes()
    outcome = forgot(path, None, SECRET)
    assert archive_of(path).read_bytes() == before
    assert any(str(archive_of(path)) in told for told in outcome.warnings)


ENCODINGS = {
    "UTF-16 LE with a BOM": lambda data: b"\xff\xfe" + data.decode().encode("utf-16-le"),
    "UTF-16 BE with a BOM": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "UTF-16 LE": lambda data: data.decode().encode("utf-16-le"),
    "UTF-16 BE": lambda data: data.decode().encode("utf-16-be"),
    "gzip": gzip.compress,
}
COPY = b"\n".join((entity([SECRET, "kept"], name="A"), entity(["also"], name="B"), b""))
LEFT = b"\n".join((entity(["kept"], name="A"), entity(["also"], name="B"), b""))


def left_in(folder: Path) -> list[str]:
    """The files that hold the secret in any spelling that a program of the user's would find."""
    needles = [SECRET.encode(name) for name in ("utf-8", "utf-16-le", "utf-16-be")]
    found = []
    for file in (file for file in folder.rglob("*") if file.is_file()):
        data = file.read_bytes()
        datas = [data, *packed_parts(data)]
        found += [file.name for each in datas for needle in needles if needle in each]
    return found


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("place", ["backups/20200101T000000Z-00000000.jsonl", "rescued-1", "quarantine/x"])
def test_a_copy_in_another_encoding_is_cut_and_keeps_it(tmp_path: Path, name: str, place: str) -> None:
    path, encoded = lived(tmp_path), ENCODINGS[name]
    copy = state_folder(path) / place
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(encoded(COPY))
    outcome = forgot(path, None, SECRET)
    assert left_in(tmp_path) == []
    assert outcome.remaining == ()
    found = decoded(copy.read_bytes())
    assert found is not None
    assert found.data == LEFT
    assert found.encode(LEFT) == copy.read_bytes()


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_a_piece_in_quarantine_holds_in_another_encoding_goes(tmp_path: Path, name: str) -> None:
    path, encoded = lived(tmp_path), ENCODINGS[name]
    raws = [b"torn {", encoded(COPY), encoded(entity([SECRET], name="A")[:-3]), b"also torn {"]
    file = state_folder(path) / "quarantine" / "20200101T000000Z-00000000.jsonl"
    file.parent.mkdir(exist_ok=True)
    pieces = [Piece(1, 0, raw, "why") for raw in raws]
    file.write_bytes(quarantine_text(pieces, file="memory.jsonl", run="r", time="t"))
    assert left_in(tmp_path)
    forgot(path, None, SECRET)
    assert left_in(tmp_path) == []
    assert [raw for _, raw in read_quarantine(file.read_bytes())][::2] == [b"torn {", b"also torn {"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_stays_in_another_encoding_is_found_and_told(tmp_path: Path, name: str) -> None:
    path = lived(tmp_path)
    (state_folder(path) / "notes").write_bytes(b"odd" + ENCODINGS[name](COPY))
    outcome = forgot(path, None, SECRET)
    assert [Path(place.place).name for place in outcome.remaining] == ["notes"]
