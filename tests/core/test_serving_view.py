"""What reads of `memttl serve` show of a judged graph: nothing that has expired, as the stock server writes it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from support import NOW, entity, instant, judge_of, relation
from viewing import DUE, EXPIRED, LASTING, graph_of, metadata_of, nothing_known, shown, view

from memttl.core.graph import read_graph
from memttl.core.serving_view import Reading, view_of

ALL = Reading(exclude_expired=False)
DEFAULT = Reading()
LINES = (
    entity([LASTING, EXPIRED, DUE], name="A"),
    relation("A", "B"),
    entity([EXPIRED], name="B", kind="Store"),
    entity([], name="C"),
    relation("C", "Nowhere"),
)


def test_expired_observation_is_left_out_and_its_entity_stays() -> None:
    assert shown(view(*LINES).read(DEFAULT, NOW)) == {"A": [LASTING, DUE], "B": [], "C": []}


def test_expired_observation_is_shown_where_it_is_asked_for() -> None:
    assert shown(view(*LINES).read(ALL, NOW))["B"] == [EXPIRED]


def test_hidden_or_not_is_told_by_the_instant_of_each_read() -> None:
    found = view(*LINES)
    end = instant("2026-07-02T00:00:00Z")
    times = (end - timedelta(seconds=1), end, NOW)
    assert [DUE in shown(found.read(DEFAULT, now))["A"] for now in times] == [True, False, True]


def test_nothing_is_hidden_where_nothing_can_be_known() -> None:
    assert shown(view(*LINES, known_of=None).read(DEFAULT, NOW))["B"] == [EXPIRED]


def test_search_does_not_match_what_is_hidden() -> None:
    found = view(*LINES)
    assert shown(found.search("OLD", DEFAULT, NOW)) == {}
    assert shown(found.search("OLD", ALL, NOW)) == {"A": [LASTING, EXPIRED, DUE], "B": [EXPIRED]}


@pytest.mark.parametrize(
    ("query", "names"),
    [("", "ABC"), ("STORE", "B"), ("plain", "A"), ("a", "A"), ("\0", ""), ("A\0note", ""), ("note", "AC")],
)
def test_search_looks_at_each_of_name_type_and_texts(query: str, names: str) -> None:
    assert "".join(shown(view(*LINES).search(query, DEFAULT, NOW))) == names


# in what text, which query, and whether it is found
CASES = [
    ("İ", "i", True), ("İ", "i\u0307", True), ("İ", "İ", True), ("I", "ı", False), ("ı", "I", False),
    ("ß", "SS", False), ("ẞ", "ß", True), ("STRASSE", "straße", False), ("ΟΔΟΣ", "ς", True), ("ΟΔΟΣ", "σ", False),
    ("Σ", "σ", True), ("ΑΣ Β", "ας", True), ("\u212a", "K", True), ("ﬁ", "fi", False), ("caf\u00e9", "e\u0301", False),
    ("🙂", "\ud83d", True), ("🙂 a", "\ude42 A", True), ("🙂", "\ude41", False), ("\ud83d", "\ud83d", True),
    ("a\nb", "A\nB", True), ("a\x00b", "\x00", True), ("a\u2028B", "\u2028b", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "query", "is_found"), CASES)
def test_search_folds_case_as_javascript_does(text: str, query: str, is_found: bool) -> None:
    found = view(entity(["x", text, "y"], name="N", kind="n")).search(query, DEFAULT, NOW)
    assert bool(shown(found)) == is_found


@pytest.mark.parametrize(
    ("names", "ends"),
    [(["A"], ["AB"]), (["B"], ["AB"]), (["C", "B"], ["AB", "CNowhere"]), (["Nowhere"], []), ([], [])],
)
def test_relation_is_shown_where_an_entity_at_either_end_is(names: list[str], ends: list[str]) -> None:
    found = graph_of(view(*LINES).open(names, DEFAULT, NOW))["relations"]
    assert [relation["from"] + relation["to"] for relation in found] == ends


def test_text_of_an_object_is_searched_and_what_has_none_finds_nothing() -> None:
    found = view(entity([7, {"text": "seven"}, None]), entity(None, name="F"))
    queries = {query: [*shown(found.search(query, DEFAULT, NOW))] for query in ("seven", "null", "7", "f")}
    assert queries == {"seven": ["E"], "null": [], "7": [], "f": ["F"]}


def test_relations_come_with_either_of_their_ends() -> None:
    found = view(*LINES)
    ends = [[(r["from"], r["to"]) for r in graph_of(answer)["relations"]] for answer in (
        found.open(["B"], DEFAULT, NOW), found.search("store", DEFAULT, NOW), found.read(DEFAULT, NOW),
    )]  # fmt: skip
    assert ends == [[("A", "B")], [("A", "B")], [("A", "B"), ("C", "Nowhere")]]


def test_date_gives_only_entities_with_something_that_expires_by_then_and_their_relations() -> None:
    answer = view(*LINES).read(Reading(before=instant("2026-07-02T00:00:00Z")), NOW)
    assert shown(answer) == {"A": [DUE]}
    assert [r["to"] for r in graph_of(answer)["relations"]] == ["B"]
    assert not shown(view(*LINES).read(Reading(before=instant("2026-07-01T23:59:59Z")), NOW))


def test_date_with_what_has_expired() -> None:
    reading = Reading(exclude_expired=False, before=NOW)
    assert shown(view(*LINES).read(reading, NOW)) == {"A": [EXPIRED], "B": [EXPIRED]}


def test_metadata_is_parallel_to_what_is_shown() -> None:
    found = view(*LINES, entity([{"content": LASTING}, 7, "[session] 2026-05-30: new"], name="D"))
    for reading in (DEFAULT, ALL, Reading(before=instant("2027-01-01T00:00:00Z"))):
        answer = found.read(reading, NOW, metadata=True)
        told = {e["name"]: len(e["observations"]) for e in metadata_of(answer)}
        assert told == {name: len(texts) for name, texts in shown(answer).items()}
    life = metadata_of(found.open(["D"], DEFAULT, NOW, metadata=True))[0]["observations"][1]
    assert life == {
        "created_at": "2026-05-30", "expires_at": "2026-06-30T00:00:00Z", "tier": "session", "age_source": "text",
        "pinned": False, "review_due": False,
    }  # fmt: skip


def test_text_is_written_as_the_stock_server_writes_it() -> None:
    awkward = ["", "é\u2028", 'quote " \\ \n\t\x01\x7f', "😀"]
    answer = view(entity(awkward), entity([], name="F"), relation("E", "F")).read(DEFAULT, NOW)
    graph = graph_of(answer)
    assert json.loads(answer.pieces.text) == json.dumps(graph, indent=2, ensure_ascii=False)
    assert shown(answer)["E"] == awkward
    empty = view().read(DEFAULT, NOW)
    assert json.loads(empty.pieces.text) == '{\n  "entities": [],\n  "relations": []\n}'


def test_lone_surrogate_survives() -> None:
    answer = view(entity(["\ud800 half"], name="\udc00")).read(DEFAULT, NOW, metadata=True)
    assert shown(answer) == {"\udc00": ["\ud800 half"]}
    assert metadata_of(answer)[0]["name"] == "\udc00"
    assert "\\ud800 half" in json.loads(answer.pieces.text)


def test_only_what_changed_is_judged_again() -> None:
    asked = list[tuple[str, str]]()

    def known_of(name: str, text: str):
        asked.append((name, text))
        return nothing_known(name, text)

    judge, lines = judge_of(), [entity(["a", "b"], name=name) for name in "EF"]
    before = read_graph(b"\n".join(lines))
    old = view_of(before, judge, known_of)
    asked.clear()
    after = read_graph(b"\n".join([entity(["a", "b", "c"]), lines[1]]), before)
    new = view_of(after, judge, known_of, before=old)
    assert asked == [("E", "c")]
    assert shown(new.read(DEFAULT, NOW)) == {"E": ["a", "b", "c"], "F": ["a", "b"]}
    assert shown(old.read(DEFAULT, NOW))["E"] == ["a", "b"]


def test_what_more_is_known_of_is_judged_again() -> None:
    from memttl.core.digests import text_key
    from memttl.core.model import Known, UserSettings

    graph, judge = read_graph(b"\n".join(LINES)), judge_of()
    old = view_of(graph, judge, nothing_known)

    def pinned(_entity: str, _text: str) -> Known:
        return Known(settings=UserSettings(pinned=True))

    new = view_of(graph, judge, pinned, before=old, changed={"B": {text_key(EXPIRED)}})
    assert shown(new.read(DEFAULT, NOW)) == {"A": [LASTING, DUE], "B": [EXPIRED], "C": []}


def test_answer_is_made_once_for_the_same_graph() -> None:
    found = view(*LINES)
    assert found.read(DEFAULT, NOW) is found.read(DEFAULT, NOW + timedelta(minutes=1))
    assert found.read(DEFAULT, NOW) is not found.read(ALL, NOW)
