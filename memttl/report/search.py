"""What a search found, as plain lines and as one JSON document.

The lines come in pieces, so that `search_terminal.py` colours the very places that hold the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from memttl.core.evidence import text_of
from memttl.core.needle import Needle, needle_of
from memttl.core.search import FoundEntity, FoundRelation, SearchOutcome
from memttl.core.wording import instant_text, plural
from memttl.report.documents import SCHEMA, finite, verdict_document
from memttl.report.text import NO_TYPE, age_of, expiry_words, observation_text, visible


class Piece(NamedTuple):
    """A part of a line, safe to print; `role` says what it is."""

    text: str
    role: Literal["plain", "name", "match"] = "plain"


def render(outcome: SearchOutcome, *, verdicts: bool = False) -> str:
    """Give what was found as lines; with `verdicts` tier, age and expiry of each observation."""
    lines = lines_of(outcome, needle_of(""), verdicts=verdicts)
    return "".join("".join(piece.text for piece in line) + "\n" for line in lines)


def lines_of(outcome: SearchOutcome, needle: Needle, *, verdicts: bool) -> Iterator[list[Piece]]:
    """Yield each line in pieces: entities with their observations, relations, and a sentence on how much it is.

    The places that hold the `needle` are pieces of their own; an empty one is nowhere.
    """
    for entity in outcome.found.entities:
        yield from _entity(entity, needle, outcome, verdicts=verdicts)
    for relation in outcome.found.relations:
        ends = (_word(end) for end in (relation.start, relation.relation_type, relation.end))
        yield [Piece(" -> ".join(ends))]
    if outcome.found.entities:
        yield []
    yield [Piece(visible(_closing(outcome)))]


def _entity(entity: FoundEntity, needle: Needle, outcome: SearchOutcome, *, verdicts: bool) -> Iterator[list[Piece]]:
    kind = _marked(entity.entity_type, needle) if entity.entity_type is not None else [Piece(NO_TYPE)]
    name = _marked(entity.name, needle, role="name") if entity.name is not None else [Piece("no name")]
    yield [*name, Piece(" ("), *kind, Piece(")")]
    for place, observation in enumerate(entity.observations):
        text = text_of(observation)
        shown = _marked(text, needle) if text is not None else [Piece(observation_text(observation))]
        yield [Piece("  - "), *shown]
        if verdicts and entity.verdicts:
            verdict = entity.verdicts[place]
            age = f"{verdict.tier}, age {age_of(verdict, outcome.now)}, expiry {expiry_words(verdict, outcome.now)}"
            yield [Piece("    " + visible(age if verdict.tier is not None else verdict.reason))]


def _marked(text: str, needle: Needle, *, role: Literal["plain", "name"] = "plain") -> list[Piece]:
    """Part a text at the places that hold the query; only then are its control characters spelled out."""
    pieces, done = [], 0
    for start, end in _joined(needle.spans(text)):
        pieces += [Piece(visible(text[done:start]), role), Piece(visible(text[start:end]), "match")]
        done = end
    return [*pieces, Piece(visible(text[done:]), role)]


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Make one of places that touch: a text of nothing but matches is one piece."""
    begun: tuple[int, int] | None = None
    for start, end in spans:
        if begun is not None and begun[1] == start:
            begun = begun[0], end
            continue
        if begun is not None:
            yield begun
        begun = start, end
    if begun is not None:
        yield begun


def _word(value: Any) -> str:
    """Give an end or the type of a relation, which may be missing or no text in a file of another's making."""
    return "?" if value is None else observation_text(value)


def _closing(outcome: SearchOutcome) -> str:
    found, query = outcome.found, outcome.query
    if found.entities:
        observations = sum(len(entity.observations) for entity in found.entities)
        counts = f"{plural(len(found.entities), 'entity')}, {plural(observations, 'observation')}"
        words = f"{counts} and {plural(len(found.relations), 'relation')} of {outcome.file}."
    else:
        hint = " QUERY is one piece of text, not words." if " " in query.text.strip() and not found.left_out else ""
        words = (
            f"Nothing{' of what the options name' * query.is_narrowed} matches {query.text!r} in {outcome.file}.{hint}"
        )
    if not found.left_out:
        return words
    verbs = "matches and has" if found.left_out == 1 else "match and have"
    them = "it" if found.left_out == 1 else "them"
    left = f"{plural(found.left_out, 'observation')} that {verbs} expired"
    return f"{words} Left out: {left}; `--expired include` shows {them}."


def search_document(outcome: SearchOutcome, *, verdicts: bool = False) -> dict[str, Any]:
    """Give what was found in the shape of the memory server, with the verdicts where they are asked for."""
    document = {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "entities": [_entity_document(entity) for entity in outcome.found.entities],
        "relations": [_relation_document(relation) for relation in outcome.found.relations],
    }
    return document | ({"verdicts": [verdict_document(v) for v in outcome.found.verdicts]} if verdicts else {})


def _entity_document(entity: FoundEntity) -> dict[str, Any]:
    return {
        "name": entity.name,
        "entityType": entity.entity_type,
        "observations": [finite(observation) for observation in entity.observations],
    }


def _relation_document(relation: FoundRelation) -> dict[str, Any]:
    return {
        "from": finite(relation.start),
        "to": finite(relation.end),
        "relationType": finite(relation.relation_type),
    }
