"""What tests need again and again: a judge by a policy's text, an entity's line, the verdict on one observation."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from memttl.core.classify import explain_entity, judge_entity
from memttl.core.explain import tried_of
from memttl.core.judge import Judge, make_judge
from memttl.core.memory import parse_line
from memttl.core.model import Known, Tried, Verdict
from memttl.core.plan import Plan, make_plan
from memttl.core.policy_load import load_policy

FIXTURES = Path(__file__).parent.parent / "fixtures"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def instant(text: str) -> datetime:
    """An aware instant in UTC from ISO 8601."""
    return datetime.fromisoformat(text).astimezone(UTC)


def when(text: str) -> date | datetime:
    """A birth as JSON holds it: a date, or an instant."""
    return date.fromisoformat(text) if len(text) == 10 else instant(text)


def judge_of(policy: str = "", *, now: datetime = NOW, baseline: datetime | None = None) -> Judge:
    """A judge by a policy's TOML text; the empty text is the built-in policy."""
    return make_judge(load_policy(policy), now, baseline=baseline)


def entity(observations: object, *, name: str = "E", kind: object = "note", **fields: object) -> bytes:
    """The line of an entity, as the memory server writes it, with extra `fields` behind."""
    record = {"type": "entity", "name": name, "entityType": kind, "observations": observations, **fields}
    return json_line(record)


def relation(start: str, end: str, **fields: object) -> bytes:
    """The line of a relation."""
    return json_line({"type": "relation", "from": start, "to": end, "relationType": "knows", **fields})


def json_line(record: object) -> bytes:
    """One line of JSON without its LF; a lone surrogate is written as its escape."""
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode()


def verdicts_of(line: bytes, judge: Judge, known: Known | None = None) -> list[Verdict]:
    """The verdicts on one entity line, of each observation of which the ledger knows the same."""
    return judge_entity(parse_line(line, 1), judge, (lambda _entity, _text: known) if known else None)


def verdict_of(
    observation: object,
    policy: str = "",
    *,
    now: datetime = NOW,
    baseline: datetime | None = None,
    known: Known | None = None,
    siblings: Sequence[object] = (),
    kind: object = "note",
    name: str = "E",
    **fields: object,
) -> Verdict:
    """The verdict on one observation, behind its `siblings`, of an entity with extra `fields`."""
    line = entity([*siblings, observation], name=name, kind=kind, **fields)
    return verdicts_of(line, judge_of(policy, now=now, baseline=baseline), known)[-1]


def tried_on(observation: object, policy: str = "", **fields: object) -> tuple[Tried, ...]:
    """All that was tried on one observation, in order."""
    judge = judge_of(policy)
    verdict, evidence = explain_entity(parse_line(entity([observation], **fields), 1), judge)[-1]
    assert evidence is not None
    return tried_of(verdict, evidence, judge)


def seen(text: str) -> Known:
    """What the ledger knows of an observation that memttl first saw at `text`."""
    return Known(first_seen=instant(text))


def plan_of(data: bytes, policy: str = "", *, now: datetime = NOW, **options: Any) -> Plan:
    """The plan of a prune of `data`."""
    return make_plan(data, judge_of(policy, now=now), **options)


@contextmanager
def process_zone(name: str) -> Iterator[None]:
    """Run a block with the process's own time zone set to `name`."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
