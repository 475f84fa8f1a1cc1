"""Where a secret may hide from forget: archives of another policy, other encodings, lines of another shape, globs."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from archives import EXPIRED, POLICY, archive_of, laid, run
from forgetting import SECRET, forgot, holding, lived
from ledgers import opened
from process import aged
from pruning import AT_ONCE, settings_of, state_folder
from support import entity

from memttl.core.encodings import decoded, packed_parts
from memttl.core.forgetting import targets_of
from memttl.core.forgetting_log import log_without
from memttl.core.mentions import mentions_of
from memttl.core.quarantine import quarantine_text, quarantined_events, read_quarantine
from memttl.core.repair import Piece
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.files import audit
from memttl.settings import Given, resolve
from memttl.workflow.change_settings import change_settings
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


ONE_LINE = [
    b"[" + entity([SECRET], name="A") + b"]",
    b'{"entities":[' + entity([SECRET], name="A") + b"]}",
    json.dumps(SECRET).encode(),
    json.dumps([[SECRET]]).encode(),
]


@pytest.mark.parametrize("line", ONE_LINE)
def test_a_line_of_another_shape_goes_whole_from_a_copy(tmp_path: Path, line: bytes) -> None:
    path = lived(tmp_path)
    copy = state_folder(path) / "backups" / "20200101T000000Z-00000000.jsonl"
    copy.write_bytes(b'["stays"]\n' + line + b"\n")
    forgot(path, None, SECRET)
    assert copy.read_bytes() == b'["stays"]\n'
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("line", ONE_LINE)
def test_a_line_of_another_shape_goes_from_quarantine_and_log(tmp_path: Path, line: bytes) -> None:
    path = lived(tmp_path)
    file = state_folder(path) / "quarantine" / "20200101T000000Z-00000000.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(quarantine_text([Piece(1, 0, line, "why")], file="memory.jsonl", run="r", time="t"))
    log = state_folder(path) / "audit.jsonl"
    audit.append(log, quarantined_events([Piece(1, 0, line, "why")], "ab", with_text=True), log.lstat())
    forgot(path, None, SECRET)
    assert left_in(tmp_path) == []
    assert audit.is_whole(log)


@pytest.mark.parametrize("line", ONE_LINE)
def test_a_line_of_the_log_of_another_shape_becomes_a_stub(line: bytes) -> None:
    targets = targets_of([], (), (), mentions_of(Choice(None, SECRET), ()))
    assert json.loads(log_without(line + b"\n", targets).data)["event"] == "erased"


def test_a_memory_file_keeps_its_line_of_another_shape_and_it_is_told(tmp_path: Path) -> None:
    path = lived(tmp_path)
    path.write_bytes(path.read_bytes() + b"\n" + ONE_LINE[0])
    aged(path)
    outcome = forgot(path, None, SECRET)
    assert path.read_bytes().endswith(ONE_LINE[0])
    assert [(place.place, place.words) for place in outcome.remaining] == [("memory.jsonl", "1 other line")]


def pinned_by_glob(folder: Path, *glob: str) -> Path:
    """A memory file with an entity VaultHunter2, and pins by glob."""
    path = folder / "memory.jsonl"
    path.write_bytes(b"\n".join((entity(["a"], name="VaultHunter2"), entity(["b"], name="Other"))))
    aged(path)
    change_settings(settings_of(path), Wish("pin", entity_pins=glob))
    return path


def test_a_pin_by_glob_that_matches_only_what_goes_goes_with_it(tmp_path: Path) -> None:
    path = pinned_by_glob(tmp_path, "VaultHunter*", "*")
    assert holding(tmp_path)
    forgot(path, "VaultHunter2")
    assert holding(tmp_path) == []
    with opened(path) as ledger:
        assert ledger.entity_pins() == ["*"]


def test_a_pin_by_glob_that_matches_another_entity_stays(tmp_path: Path) -> None:
    path = pinned_by_glob(tmp_path, "*t*")
    forgot(path, "VaultHunter2")
    with opened(path) as ledger:
        assert ledger.entity_pins() == ["*t*"]
