"""One tool as a client sees it: name, title, description, hints and shapes, as `tools/list` gives them.

`tools.py` and `lifecycle_tools.py` hold the tools; what both say of the life of an observation stands here, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from memttl.server.shapes import Fields, Scalar, whole_schema

LIFE = {
    "ttl": Scalar(
        ("number", "string"),
        "How long to keep it from now on: a number of days (parts of one are rounded up to whole hours), or a duration "
        "such as 90d or never; not with expires or review_by",
    ),
    "decay": Scalar(("string",), "The tier of the policy that it decays by, instead of the one its text names"),
    "expires": Scalar(("string",), "The day or instant on which it expires (ISO 8601), or never"),
    "review_by": Scalar(("string",), "The day by which it is to be reviewed (ISO 8601)"),
    "pin": Scalar(("boolean",), "Keep it whatever the policy says"),
}


class Hints(NamedTuple):
    """What a client may expect of a tool; none of them reaches beyond this machine."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


READS, ADDS, DELETES = Hints(read_only=True, idempotent=True), Hints(), Hints(destructive=True, idempotent=True)


class Tool(NamedTuple):
    """One tool. `gives` is None where the answer has no fixed shape."""

    name: str
    title: str
    description: str
    hints: Hints
    takes: Fields
    gives: Fields | None

    def listed(self) -> dict[str, Any]:
        """Give it as `tools/list` does."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": whole_schema(self.takes),
            "annotations": {
                "readOnlyHint": self.hints.read_only,
                "destructiveHint": self.hints.destructive,
                "idempotentHint": self.hints.idempotent,
                "openWorldHint": False,
            },
            "execution": {"taskSupport": "forbidden"},
            **({"outputSchema": whole_schema(self.gives, closed=True)} if self.gives else {}),
        }
