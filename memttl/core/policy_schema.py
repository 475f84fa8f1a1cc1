"""What may stand in a policy file, as a JSON Schema for editors, and each key in words. Pure.

`memttl policy schema` prints it; `memttl init` takes the words for its comments.
"""

from __future__ import annotations

from memttl.core.policy_words import words_of


def describe(key: str) -> str:
    """Say what a key of a policy file means, in one sentence without its full stop.

    The key is dotted: `timezone`, `limits`, `limits.max_prune_count`, `tiers.incident`, `tiers.incident.ttl`, `rules`,
    `rules[0]`, `rules[0].prefix` (whatever the number).

    Raises:
        KeyError: a policy file has no such key.
    """
    return words_of(key).description
