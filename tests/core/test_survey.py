"""What a report tells of a file: as a prune counts, and each thing that is listed for one reason."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reporting import by_group, report_of, texts
from support import FIXTURES, NOW, entity, judge_of, plan_of, relation, seen

from memttl.core.listing import is_undated, listed_as, window_of
from memttl.core.model import NOTHING_KNOWN, Known
from memttl.core.report import OneDate, Query, check_query
from memttl.errors import Foreign, UnknownEntity, UsageError

GONE = "[session] 2026-03-01: gone"
SOON = "[session] 2026-05-20: soon"  # goes on 2026-06-20
LATER = "[operational] 2026-05-20: later"  # goes on 2026-08-19
REVIEW = "[permanent] look at it (review by 2026-05-01)"
NOTE = "a note"
ALL = [NOTE, REVIEW, LATER, SOON, GONE]
FILES = sorted(path for path in (FIXTURES / "memory").glob("*.jsonl"))


def data_of(*observations: object, name: str = "E", kind: object = "note") -> bytes:
    return entity(list(observations), name=name, kind=kind)


# what is listed


def test_expired_due_within_30_days_and_due_for_review_are_listed() -> None:
    assert by_group(report_of(data_of(*ALL))) == {"expired": [GONE], "due": [SOON], "review": [REVIEW]}


def test_within_says_how_far_ahead_is_due() -> None:
    assert by_group(report_of(data_of(*ALL), within="90d"))["due"] == [SOON, LATER]
    assert "due" not in by_group(report_of(data_of(*ALL), within="7d"))
    assert by_group(report_of(data_of(*ALL), within="never"))["due"] == [SOON, LATER]


def test_expire_before_a_day_means_what_has_expired_when_that_day_begins() -> None:
    text = "the last day is the tenth [expires 2026-06-10]"
    assert "due" not in by_group(report_of(data_of(text), expire_before="2026-06-10"))
    assert by_group(report_of(data_of(text), expire_before="2026-06-11")) == {"due": [text]}


def test_expire_before_counts_days_in_the_policys_zone() -> None:
    policy, text = 'timezone = "America/New_York"\n', "x [expires 2026-06-10]"
    assert by_group(report_of(data_of(text), policy, expire_before="2026-06-11")) == {"due": [text]}
    assert by_group(report_of(data_of(text), policy, expire_before="2026-06-11T03:59:59Z")) == {}


def test_expire_before_takes_the_policys_formats() -> None:
    assert texts(report_of(data_of(SOON), '[dates]\nformats = ["%d/%m/%Y"]\n', expire_before="21/06/2026")) == [SOON]


@pytest.mark.parametrize("how", [{"within": "soon"}, {"within": "0d"}, {"expire_before": "2026-02-30"}])
def test_window_that_cannot_be_read_is_a_slip(how: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        report_of(data_of(NOTE), **how)


def test_within_and_expire_before_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="both say what is due"):
        report_of(data_of(NOTE), within="30d", expire_before="2026-07-01")


def test_expired_only_lists_nothing_else() -> None:
    assert by_group(report_of(data_of(*ALL), expired_only=True)) == {"expired": [GONE]}


def test_undated_lists_what_has_no_date_of_its_own() -> None:
    dated = "2026-01-05: a dated note"
    data = data_of(NOTE, dated, {"content": "an object", "created_at": "2026-01-05"}, {"content": "undated object"}, 7)
    assert by_group(report_of(data, undated=True)) == {"undated": [NOTE, "undated object"]}


def test_what_memttl_has_met_is_still_undated() -> None:
    known = {NOTE: seen("2026-05-30T00:00:00Z")}
    report = report_of(data_of(NOTE), undated=True, known_of=lambda _, text: known.get(text, NOTHING_KNOWN))
    assert by_group(report) == {"undated": [NOTE]}
    assert report.known_age == 1


def test_undated_that_is_due_is_listed_as_due() -> None:
    due = "no birth [expires 2026-06-05]"
    assert by_group(report_of(data_of(due, NOTE), undated=True)) == {"due": [due], "undated": [NOTE]}


# filters


def two_entities() -> bytes:
    return data_of(GONE, SOON, name="A", kind="task") + b"\n" + data_of(GONE, "x [expires 2026-04-01]", name="B")


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        ({"entities": ("A",)}, [GONE, SOON]),
        ({"entities": ("?", "B")}, [GONE, SOON, GONE, "x [expires 2026-04-01]"]),
        ({"entities": ("B*",)}, [GONE, "x [expires 2026-04-01]"]),
        ({"types": ("TASK",)}, [GONE, SOON]),
        ({"tiers": ("permanent",)}, ["x [expires 2026-04-01]"]),
        ({"sources": ("unknown",)}, ["x [expires 2026-04-01]"]),
        ({"sources": ("text", "unknown"), "tiers": ("session",), "types": ("note",)}, [GONE]),
    ],
)
def test_filters_narrow_what_is_listed_and_charted_not_the_summary(
    filters: dict[str, tuple[str, ...]], listed: list[str]
) -> None:
    whole, report = report_of(two_entities()), report_of(two_entities(), **filters)
    assert sorted(texts(report)) == sorted(listed)
    assert sum(month.observations for month in report.months) == len(listed)
    assert (report.counts, report.weights, report.tiers) == (whole.counts, whole.weights, whole.tiers)


def test_entity_and_type_narrow_the_ranking_too() -> None:
    assert [heavy.entity for heavy in report_of(two_entities(), types=("task",)).heaviest] == ["A"]
    assert [heavy.entity for heavy in report_of(two_entities(), tiers=("session",)).heaviest] == ["A", "B"]


def test_a_name_that_nothing_has_is_a_slip() -> None:
    with pytest.raises(UnknownEntity):
        report_of(two_entities(), entities=("C",))
    with pytest.raises(UsageError):
        report_of(two_entities(), tiers=("sesion",))


@pytest.mark.parametrize(
    "query", [Query(sort="agee"), Query(group_by="tiers"), Query(sources=("guess",)), Query(top=-1)]
)
def test_a_word_that_there_is_not_is_a_slip(query: Query) -> None:
    with pytest.raises(UsageError):
        check_query(query)


# order and headings


def test_sorted_by_expiry_age_size_or_entity() -> None:
    data = b"\n".join(
        [
            data_of("[session] 2026-03-01: the second to go", name="B"),
            data_of("[operational] 2026-01-02: went last, oldest", name="A"),
            data_of("short [expires 2026-02-01]", name="C"),
        ]
    )
    orders = {sort: [item.verdict.entity for item in report_of(data, sort=sort).listed] for sort in SORTED}
    assert orders == SORTED


SORTED = {"expiry": list("CBA"), "age": list("ABC"), "size": list("ABC"), "entity": list("ABC")}


@pytest.mark.parametrize(
    ("group_by", "names"),
    [
        ("tier", ["session", "operational", "permanent"]),
        ("type", ["note"]),
        ("entity", ["E"]),
        ("month", ["2026-04", "2026-06", "2026-08", "never"]),
    ],
)
def test_grouped_by_what_was_asked(group_by: str, names: list[str]) -> None:
    report = report_of(data_of(*ALL, NOTE), group_by=group_by, within="1y", undated=True)
    assert [group.name for group in report.groups] == names
    assert sorted(texts(report)) == sorted([*ALL, NOTE])


# what expires when


def test_months_run_from_this_one_to_the_last_that_has_any() -> None:
    months = report_of(data_of(*ALL)).months
    assert [(month.month, dict(month.tiers)) for month in months] == [
        ("expired", {"session": 1}),
        ("2026-06", {"session": 1}),
        ("2026-07", {}),
        ("2026-08", {"operational": 1}),
    ]


def test_what_lies_behind_a_year_is_later() -> None:
    months = report_of(data_of("x [expires 2027-05-30]", "y [expires 2027-06-01]")).months
    assert [month.month for month in months][-2:] == ["2027-05", "later"]
    assert len(months) == 13


def test_months_are_those_of_the_policys_zone() -> None:
    policy = 'timezone = "Asia/Tokyo"\n'
    assert report_of(data_of("x [expires 2026-06-29T16:00:00Z]"), policy).months[-1].month == "2026-06"
    assert report_of(data_of("x [expires 2026-06-30T16:00:00Z]"), policy).months[-1].month == "2026-07"


def test_tiers_of_a_month_stand_in_the_policys_order() -> None:
    assert list(report_of(data_of("[operational] 2025-01-01: x", GONE)).months[0].tiers) == ["session", "operational"]


# entities


def test_entity_with_one_date_and_undated_siblings_is_told() -> None:
    report = report_of(data_of("2026-01-05: dated", NOTE, "b") + b"\n" + data_of(NOTE, name="F"))
    assert report.one_dated == (OneDate("E", "note", date(2026, 1, 5), 2),)


def test_entity_whose_siblings_inherit_is_told_as_well() -> None:
    assert report_of(data_of("2026-01-05: dated", NOTE), "[age]\ninherit = true\n").one_dated_count == 1


def test_entity_with_two_dates_is_not_one_with_one_date() -> None:
    assert not report_of(data_of("2026-01-05: a", "2026-02-05: b", NOTE)).one_dated


def test_heaviest_entities_come_first_and_top_says_how_many() -> None:
    data = b"\n".join(data_of("x" * 10 * size, name=f"E{size}") for size in range(20))
    assert [heavy.entity for heavy in report_of(data, top=3).heaviest] == ["E19", "E18", "E17"]
    assert report_of(data, top=0).heaviest == ()


def test_lines_of_one_name_weigh_together() -> None:
    heaviest = report_of(data_of(NOTE, GONE) + b"\n" + data_of(NOTE)).heaviest
    assert [(h.entity, h.observations, h.expired) for h in heaviest] == [("E", 3, 1)]


# the summary


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_report_counts_as_a_prune_does(path: object) -> None:
    data = path.read_bytes()  # type: ignore[attr-defined]
    try:
        report = report_of(data)
    except Foreign:
        return
    plan = plan_of(data, keep_malformed=True)
    assert report.counts == plan.counts
    assert [i.verdict for i in report.listed if i.listed_as == "expired"] != [] or not plan.removals
    assert sorted(i.verdict for i in report.listed if i.verdict.expired) == sorted(plan.removals)
    assert sum(share.observations for share in report.tiers) == plan.counts.observations
    assert sum(share.observations for share in report.types) == plan.counts.observations
    assert sum(share.expired for share in report.types) == plan.counts.expired
    assert sum(age.observations for age in report.ages) == report.known_age + plan.counts.unknown_age
    assert report.weights.bytes == len(data)
    assert len(report.damaged) == plan.counts.malformed_lines


def test_characters_are_those_of_the_file() -> None:
    data = data_of("日本語 é 😀")
    assert report_of(data).weights.characters == len(data.decode())


def test_what_a_prune_frees_is_the_weight_of_what_has_expired() -> None:
    with_it, without = report_of(data_of(NOTE, GONE)), report_of(data_of(NOTE))
    freed = with_it.weights.tokens_freed_estimated
    assert freed > 0
    assert abs(with_it.weights.tokens_estimated - without.weights.tokens_estimated - freed) <= 1
    assert without.weights.tokens_freed_estimated == 0


def test_relations_weigh_too() -> None:
    data = data_of(NOTE)
    more = report_of(data + b"\n" + relation("E", "E"))
    assert more.weights.tokens_estimated > report_of(data).weights.tokens_estimated


def test_damaged_lines_are_named_and_the_good_ones_read() -> None:
    report = report_of(data_of(GONE) + b'\n{"type":"entity","name":"cut', undated=True)
    assert texts(report) == [GONE]
    assert [(d.line, d.column) for d in report.damaged] == [(2, 25)]


def test_a_prune_that_would_be_refused_is_told() -> None:
    data = data_of(*[f"[session] 2026-01-01: {n}" for n in range(30)])
    assert "max_prune_fraction" in report_of(data).refusals[0]


def test_entities_that_memttl_does_not_judge_weigh_too() -> None:
    data = entity(["x" * 1000], name=7) + b"\n" + b'{"type":"entity","name":"N","entityType":"t"}'
    report = report_of(data + b"\n" + data_of(NOTE))
    assert report.weights.tokens_estimated > 180
    assert [heavy.entity for heavy in report.heaviest] == ["", "E", "N"]


def test_entities_of_one_name_and_two_types_are_ranked_apart() -> None:
    data = data_of(NOTE, name="D", kind="a") + b"\n" + data_of(NOTE, "x" * 99, name="D", kind="b")
    assert [(h.entity_type, h.observations) for h in report_of(data).heaviest] == [("b", 2), ("a", 1)]
    assert [h.entity_type for h in report_of(data, types=("a",)).heaviest] == ["a"]


def test_file_of_another_tool_is_told_as_such_whatever_the_filters() -> None:
    with pytest.raises(Foreign):
        report_of(b"\x1f\x8b rest", entities=("A",))


def test_births_known_from_a_first_sighting_only_are_counted() -> None:
    report = report_of(data_of(NOTE, "2026-01-05: dated"), known_of=lambda _entity, _text: seen("2026-05-30T00:00:00Z"))
    assert (report.known_age, report.seen_age) == (2, 1)


# against a slow reference

MORE = ["2026-01-05: dated", "x [expires 2026-06-20]", "y [expires 2027-01-01]", "[operational] no date", 7, None]
TEXTS = [*ALL, *MORE]
NAMES, KINDS = st.sampled_from("ABC"), st.sampled_from(["note", "task"])
GRAPHS = st.lists(st.tuples(NAMES, KINDS, st.lists(st.sampled_from(TEXTS))))
AGES = st.sampled_from([None, *(NOW - timedelta(days=days) for days in (0, 5, 40, 400))])


@given(GRAPHS, st.dictionaries(st.sampled_from(list(map(str, TEXTS))), AGES), st.booleans(), st.integers(1, 400))
def test_every_observation_is_listed_once_for_its_reason(
    graph: list[tuple[str, str, list[object]]], ages: dict[str, datetime | None], undated: bool, days: int
) -> None:
    data = b"\n".join(entity(observations, name=name, kind=kind) for name, kind, observations in graph)
    judge = judge_of()
    window = window_of(f"{days}d", None, judge.policy, NOW)

    def known_of(_entity: str, text: str) -> Known:
        return Known(first_seen=ages.get(text))

    report = report_of(data, undated=undated, within=f"{days}d", known_of=known_of)
    from memttl.core.classify import judge_entity
    from memttl.core.memory import read_lines

    verdicts = [v for line in read_lines(data) if line.is_judged for v in judge_entity(line, judge, known_of)]
    wanted = Counter[tuple[int, int, str]]()
    for v in verdicts:
        why = listed_as(v, window) or ("undated" if undated and is_undated(v) else "")
        if why:
            wanted[v.line, v.index, why] += 1
    assert Counter((i.verdict.line, i.verdict.index, i.listed_as) for i in report.listed) == wanted
    assert sum(m.observations for m in report.months) == sum(v.expires_at is not None for v in verdicts)
    assert all(
        first.verdict.expires_at is None or second.verdict.expires_at is None
        or first.verdict.expires_at <= second.verdict.expires_at
        for group in report.groups
        for first, second in zip(group.listed, group.listed[1:], strict=False)
    )  # fmt: skip
