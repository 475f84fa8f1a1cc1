"""What a query finds: which entities, which of their observations, and which relations."""

from __future__ import annotations

from typing import Any

import pytest
from support import entity, instant, json_line, judge_of, relation, seen

from memttl.core.listing import read_expire_before
from memttl.core.policy_load import load_policy
from memttl.core.search import Found, Query, read_expired, search_file
from memttl.errors import Foreign, UnknownEntity, UsageError

# as of 2026-06-01: gone, to come, never
GONE = "[session] 2026-04-01: redis was slow"
LATER = "[session] 2026-05-20: redis is fast"
NEVER = "redis holds the queue"
OTHER = "postgres holds the rest"


def found(*lines: bytes, text: str = "redis", policy: str = "", **query: Any) -> Found:
    return search_file(b"\n".join(lines), Query(text, **query), judge_of(policy))


def shown(*lines: bytes, **query: Any) -> dict[str | None, list[Any]]:
    """The observations that are shown, by their entity's name."""
    return {e.name: list(e.observations) for e in found(*lines, **query).entities}


def ends(result: Found) -> list[tuple[Any, Any]]:
    return [(relation.start, relation.end) for relation in result.relations]


def test_entity_that_matches_is_shown_with_all_that_has_not_expired() -> None:
    assert shown(entity([OTHER, GONE, LATER]), entity([OTHER], name="F")) == {"E": [OTHER, LATER]}


@pytest.mark.parametrize("text", ["e", "NOTE", ""])
def test_entity_that_matches_by_name_or_type_stays_though_nothing_of_it_is_left(text: str) -> None:
    assert shown(entity([GONE]), text=text) == {"E": []}


def test_expired_observation_does_not_match() -> None:
    result = found(entity([OTHER, GONE]), relation("E", "F"))
    assert (result.entities, result.relations, result.left_out) == ((), (), 1)


@pytest.mark.parametrize(
    ("text", "left_out"),
    [("redis", 1), ("postgres", 0), ("E", 2), ("slow", 1)],
)
def test_expired_observations_that_match_are_counted(text: str, left_out: int) -> None:
    assert found(entity([GONE, LATER, "2026 [expires 2026-01-05]"]), text=text).left_out == left_out


@pytest.mark.parametrize(
    ("expired", "result"),
    [
        ("exclude", {"E": [LATER, NEVER]}),
        ("include", {"E": [GONE, LATER, NEVER], "F": [GONE]}),
        ("only", {"E": [GONE], "F": [GONE]}),
    ],
)
def test_expired_ones_are_left_out_let_in_or_all_there_is(expired: Any, result: dict[str, list[str]]) -> None:
    lines = entity([GONE, LATER, NEVER]), entity([GONE], name="F"), entity([OTHER], name="G")
    assert shown(*lines, expired=expired) == result
    assert found(*lines, expired=expired).left_out == (2 if expired == "exclude" else 0)


@pytest.mark.parametrize(
    "query", [{"expired": "only"}, {"tiers": ("session",)}, {"expire_before": instant("2030-01-01")}]
)
def test_entity_without_an_observation_that_is_meant_is_not_in_the_result(query: dict[str, Any]) -> None:
    lines = entity([NEVER], name="redis"), entity([], name="redis 2"), entity([7], name="redis 3")
    no_list = json_line({"type": "entity", "name": "redis 4"})
    assert shown(*lines, no_list, **query) == {}


def test_narrowed_by_tier_only_such_observations_match() -> None:
    assert shown(entity([GONE, LATER, NEVER]), entity(["[session] x", NEVER], name="F"), tiers=("session",)) == {
        "E": [LATER]
    }


def test_entity_that_matches_by_name_is_shown_with_what_is_of_the_tier() -> None:
    assert shown(entity(["[session] x", NEVER], name="redis"), tiers=("session",)) == {"redis": ["[session] x"]}


@pytest.mark.parametrize(
    ("before", "is_found"), [("2026-06-19", False), ("2026-06-20", True), ("2026-06-19T23:59:59Z", False)]
)
def test_expire_before_finds_what_will_have_expired_when_it_begins(before: str, is_found: bool) -> None:
    instant_before = read_expire_before(before, load_policy(""))  # LATER has its last day on 2026-06-19
    assert (shown(entity([LATER, NEVER]), expire_before=instant_before) == {"E": [LATER]}) is is_found


def test_expire_before_leaves_out_what_has_expired_unless_it_is_asked_for() -> None:
    before = instant("2026-07-01")
    assert shown(entity([GONE, LATER]), expire_before=before) == {"E": [LATER]}
    assert shown(entity([GONE, LATER]), expire_before=before, expired="include") == {"E": [GONE, LATER]}


def test_expire_before_is_a_day_of_the_policys_zone() -> None:
    berlin = load_policy('timezone = "Europe/Berlin"\n[dates]\nformats = ["%d/%m/%Y"]\n')
    assert read_expire_before("2026-06-01", berlin) == instant("2026-05-31T22:00:00Z")
    assert read_expire_before("01/06/2026", berlin) == instant("2026-05-31T22:00:00Z")
    assert read_expire_before("2026-06-01T12:00", berlin) == instant("2026-06-01T10:00:00Z")


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "01/06/2026", "never"])
def test_expire_before_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"--expire-before .* cannot be read"):
        read_expire_before(text, load_policy(""))


def test_expired_is_one_of_three_words() -> None:
    assert read_expired("only") == "only"
    with pytest.raises(UsageError, match="knows no 'onyl'"):
        read_expired("onyl")


@pytest.mark.parametrize("kind", ["service", "SERVICE", "serv*", "*ice"])
def test_type_is_a_name_or_a_glob(kind: str) -> None:
    lines = entity([NEVER], kind="service"), entity([NEVER], name="F"), entity([NEVER], name="G", kind=None)
    assert shown(*lines, types=(kind,)) == {"E": [NEVER]}


def test_unknown_type_is_an_error_with_a_near_name() -> None:
    with pytest.raises(UnknownEntity, match=r"did you mean .service"):
        found(entity([NEVER], kind="service"), types=("servise",))


def test_unknown_tier_is_an_error_with_a_near_name() -> None:
    with pytest.raises(UsageError, match=r"did you mean .session"):
        found(entity([NEVER]), tiers=("sesion",))


def test_relations_with_either_end_in_the_result_are_given_in_order() -> None:
    lines = [relation("F", "E"), entity([NEVER]), entity([OTHER], name="F"), relation("E", "nowhere")]
    assert ends(found(*lines, relation("F", "G"), relation("E", "E"))) == [("F", "E"), ("E", "nowhere"), ("E", "E")]


def test_query_is_not_looked_for_in_relations() -> None:
    assert ends(found(entity([OTHER]), relation("redis", "E"))) == []


def test_duplicated_names_are_each_looked_at_and_share_their_relations() -> None:
    result = found(entity([NEVER]), entity([OTHER]), entity([LATER]), relation("E", "F"))
    assert [list(e.observations) for e in result.entities] == [[NEVER], [LATER]]
    assert ends(result) == [("E", "F")]


def test_same_text_twice_is_given_twice() -> None:
    assert shown(entity([NEVER, NEVER])) == {"E": [NEVER, NEVER]}


def test_object_is_found_by_its_text_and_given_as_it_is() -> None:
    note = {"text": "redis", "tags": ["postgres"]}
    assert shown(entity([note, 7, None, ["redis"]])) == {"E": [note, 7, None, ["redis"]]}
    assert shown(entity([note]), text="postgres") == {}
    assert shown(entity([["redis"], 7, None])) == {}


@pytest.mark.parametrize(
    "record",
    [
        {"name": "redis", "entityType": "t"},
        {"name": "redis", "entityType": "t", "observations": None},
        {"name": "redis", "observations": []},
        {"entityType": "redis", "observations": []},
        {"name": 7, "entityType": [], "observations": [NEVER]},
        {"name": None, "observations": [{"value": NEVER}, 7]},
    ],
    ids=str,
)
@pytest.mark.parametrize("text", ["redis", ""])
def test_entity_that_the_server_cannot_search_is_found_all_the_same(record: dict[str, Any], text: str) -> None:
    result = found(entity([OTHER], name="F"), json_line({"type": "entity", **record}), text=text)
    assert list(result.entities[-1].observations) == (record.get("observations") or [])


def test_entity_without_anything_is_found_by_an_empty_query_alone() -> None:
    lines = entity([NEVER]), json_line({"type": "entity"})
    assert len(found(*lines, text="").entities) == 2
    assert len(found(*lines).entities) == 1


def test_relation_with_odd_ends_is_no_trouble() -> None:
    odd = [json_line({"type": "relation", "from": end, "to": end}) for end in (None, 7, [], {})]
    result = found(entity([NEVER]), *odd, json_line({"type": "relation", "from": [], "to": "E"}))
    assert [(r.start, r.end, r.relation_type) for r in result.relations] == [([], "E", None)]


def test_entity_nested_too_deep_to_judge_is_searched() -> None:
    deep = entity([GONE], name="deep").replace(b'"type"', b'"x":' + b"[" * 3000 + b"]" * 3000 + b',"type"', 1)
    assert shown(entity([OTHER]), deep) == {"deep": [GONE]}
    deep_relation = relation("deep", "E").replace(b'"type"', b'"x":' + b"[" * 3000 + b"]" * 3000 + b',"type"', 1)
    assert ends(found(entity([OTHER]), deep, deep_relation)) == [("deep", "E")]


def test_damaged_line_is_passed_over_with_a_warning() -> None:
    result = found(entity([NEVER]), entity([NEVER], name="F")[:-5], relation("E", "F"))
    assert [e.name for e in result.entities] == ["E"]
    assert result.is_damaged
    assert "line 2, column" in result.warnings[0]


def test_mark_that_cannot_be_read_is_warned_of_where_it_is_shown() -> None:
    odd = entity(["redis [expires 2026-02-30]"])
    assert "cannot be read" in found(odd).warnings[0]
    assert found(odd, text="nothing").warnings == ()


def test_foreign_file_is_refused() -> None:
    with pytest.raises(Foreign):
        found(b'{"role":"user","content":"redis"}')


def test_verdicts_are_those_of_what_is_shown() -> None:
    result = found(entity([OTHER, GONE, LATER, 7]), entity([OTHER], name="F"))
    assert [(v.index, v.observation) for v in result.verdicts] == [(0, OTHER), (2, LATER), (3, 7)]


def test_what_the_ledger_knows_counts() -> None:
    data = entity(["[session] redis, undated"])
    known = seen("2026-01-01T00:00:00Z")
    assert search_file(data, Query("redis"), judge_of()).left_out == 0
    assert search_file(data, Query("redis"), judge_of(), known_of=lambda _entity, _text: known).left_out == 1


def test_entity_that_holds_no_match_is_not_judged() -> None:
    def known_of(name: str, _text: str) -> Any:
        assert name == "E"
        return seen("2026-01-01T00:00:00Z")

    data = entity([NEVER]) + b"\n" + entity([OTHER], name="F")
    assert search_file(data, Query("redis"), judge_of(), known_of=known_of).entities


def test_siblings_that_do_not_match_count_where_the_last_of_a_tier_are_kept() -> None:
    policy = '[tiers]\nsession = { ttl = "30d", keep_last = 1 }\n'
    newer = "[session] 2026-04-02: postgres was slow"
    assert found(entity([GONE, newer]), policy=policy).entities == ()
    assert found(entity([GONE]), policy=policy).entities[0].observations == (GONE,)
