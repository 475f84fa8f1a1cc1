"""Good files damaged at random, as crashes, overlapping writes and hooks damage them: no whole record is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_files, styled

from memttl.core.memory import BOM, read_lines
from memttl.core.repair import apply_mendings, plan_repair

SPACE = b" \t\r"
RUBBISH = [b"}", b"]}", b"}}", b'"]}', b'x"]}', b'"', b'","b"]}', b"\0\0\0", BOM, b",", b"{", b"[", b'{"', b"\\"]
RUBBISH += [b"\xff", b"\n", b"NaN", b"//", b'["', b'{"type":"entity","name":"x","entityType":"t","observations":["q"']


def records(data: bytes) -> list[bytes]:
    """The lines of a good file that hold the server's records or other objects that say their type."""
    lines = [line for line in read_lines(data) if line.kind in ("entity", "relation")]
    return [line.raw.strip(SPACE) for line in lines]


def kept_in_order(wanted: list[bytes], data: bytes, damage: bytes) -> bool:
    """Every record has its line, or stands in a line that is whole in the damage too, as one of its observations."""
    rows = [line.strip(SPACE) for line in data.split(b"\n")]
    around = [row for row in rows if row in damage and row not in wanted]
    wanted = [record for record in wanted if not any(record in row for row in around)]
    found = iter(rows)
    return all(any(line == record for line in found) for record in wanted)


@st.composite
def looking_like_records(draw: st.DrawFn) -> bytes:
    """A whole entity with observations that are objects, of which some look like the server's records."""
    inner = {"type": "relation", "from": "a", "to": "b", "relationType": "r"}
    deep = {"type": "entity", "name": "I", "entityType": "t", "observations": [inner, "deep"]}
    observation = st.sampled_from([inner, deep, {"text": "t", "of": inner}, "keep me", '"]}', {"type": "entity"}])
    record = {"type": "entity", "name": "O", "entityType": "t"}
    return styled(draw, {**record, "observations": draw(st.lists(observation, min_size=1, max_size=4))})


@st.composite
def rubbish(draw: st.DrawFn, whole: list[bytes]) -> bytes:
    """What an overlapping write, a torn write or a power cut leaves: a tail or a head of a record, brackets, NULs."""
    record = draw(st.sampled_from(whole))
    tail = record[draw(st.integers(1, len(record))) :]
    head = record[: draw(st.integers(0, len(record) - 1))]
    return draw(st.sampled_from([tail, head, draw(st.sampled_from(RUBBISH)), b"".join([tail, head])]))


@st.composite
def damaged(draw: st.DrawFn) -> tuple[list[bytes], bytes]:
    """Whole records and a file that holds them with damage between them."""
    whole = records(draw(memory_files(later=False)))
    whole += draw(st.lists(looking_like_records(), max_size=2))
    if not whole:
        return [], b""
    whole = list(draw(st.permutations(whole)))
    parts: list[bytes] = []
    for record in whole:
        parts.append(record)
        between = draw(st.sampled_from(["end", "end", "joined", "rubbish", "rubbish behind", "rubbish between"]))
        junk = draw(rubbish(whole))
        around = {"end": b"\n", "joined": b"", "rubbish": junk, "rubbish behind": junk + b"\n"}
        parts.append(around.get(between, b"\n" + junk + b"\n"))
    torn_or_blank = st.sampled_from([b"", b"", b'{"type":"ent', b"]}", b'{"t'])
    parts += [b"\n" + line for line in draw(st.lists(torn_or_blank, max_size=6))]
    return whole, b"".join(parts)


@given(damaged())
def test_no_whole_record_is_lost_whatever_stands_between_them(found: tuple[list[bytes], bytes]) -> None:
    whole, data = found
    assert kept_in_order(whole, plan_repair(data).data, data)


@given(damaged())
def test_a_repaired_file_has_no_malformed_line_and_needs_no_repair(found: tuple[list[bytes], bytes]) -> None:
    plan = plan_repair(found[1])
    assert [line for line in read_lines(plan.data) if line.kind == "malformed"] == []
    assert not plan_repair(plan.data).is_needed


@given(damaged())
def test_what_stays_and_what_is_taken_out_are_every_byte(found: tuple[list[bytes], bytes]) -> None:
    plan = plan_repair(found[1])
    assert apply_mendings(plan.text, plan.mendings) == plan.data
    stayed = apply_mendings(plan.text, [m._replace(new=b"") for m in plan.mendings])
    assert len(stayed) + sum(len(piece.raw) for piece in plan.pieces) == len(found[1])
    assert all(found[1][p.offset : p.offset + len(p.raw)] == p.raw for p in plan.pieces)


@given(damaged())
def test_the_last_newline_stays_as_it_was(found: tuple[list[bytes], bytes]) -> None:
    data = found[1]
    new = plan_repair(data).data
    assert not new or new.endswith(b"\n") == data.endswith(b"\n")


@given(memory_files(later=False))
def test_a_good_file_needs_no_repair_but_for_its_byte_order_mark(data: bytes) -> None:
    plan = plan_repair(data)
    assert plan.data == data.removeprefix(BOM)
    assert plan.is_needed is data.startswith(BOM)


@given(memory_files(later=False), memory_files(later=False))
def test_a_longer_version_under_a_shorter_one_loses_no_line_of_either(old: bytes, new: bytes) -> None:
    """As two writers in place leave a file: the shorter version, and behind it the tail of the longer."""
    data = new.removeprefix(BOM) + old[len(new) :]
    tail_lines = old[len(new) :].partition(b"\n")[2] if len(old) > len(new) else b""
    assert kept_in_order(records(new.removeprefix(BOM)) + records(tail_lines), plan_repair(data).data, data)


@given(memory_files(later=False), st.sampled_from(["utf-16-le", "utf-16-be", "utf-16"]))
def test_a_file_in_utf_16_is_the_same_file_in_utf_8(data: bytes, encoding: str) -> None:
    text = data.removeprefix(BOM)
    plan = plan_repair(text.decode().encode(encoding))
    assert plan.data == text or not text.lstrip().startswith(b"{")


@given(memory_files(later=False), st.data())
def test_a_file_cut_anywhere_keeps_every_line_before_the_cut(data: bytes, chance: st.DataObject) -> None:
    text = data.removeprefix(BOM)
    cut = text[: chance.draw(st.integers(0, len(text)))]
    before = cut.rpartition(b"\n")[0]
    assert kept_in_order(records(before), plan_repair(cut).data, cut)


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\\n\0 ae/', max_size=60).map(str.encode))
def test_any_bytes_can_be_repaired_for_good(data: bytes) -> None:
    from memttl.errors import Foreign

    try:
        plan = plan_repair(data)
    except Foreign:
        return
    assert [line for line in read_lines(plan.data) if line.kind == "malformed"] == []
    assert not plan_repair(plan.data).is_needed
