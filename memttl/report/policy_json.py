"""The effective policy as one JSON document, and the schema of policies in one."""

from __future__ import annotations

from typing import Any

from memttl.core.policy import Policy
from memttl.core.policy_show import effective_values
from memttl.report.documents import SCHEMA


def policy_document(policy: Policy) -> dict[str, Any]:
    """Give the effective policy: each value with its place and where it came from."""
    values = effective_values(policy)
    return {
        "schema": SCHEMA,
        "policy": policy.where,
        "digest": policy.digest,
        "warnings": list(policy.warnings),
        "values": [{"table": v.table, "key": v.key, "value": v.text, "source": v.source} for v in values],
    }


def schema_document(schema: dict[str, Any], written: str | None) -> dict[str, Any]:
    """Give the JSON Schema of policies, and the file that it was written to."""
    return {"schema": SCHEMA, "policy_schema": schema, "file": written}
