"""The tools as a client sees them: names, titles, descriptions, hints and shapes.

The first nine are those of the stock memory server (release 2026.8.31), with optional arguments added; `calls.py`
answers them.
"""

from __future__ import annotations

from memttl.server.lifecycle_tools import LIFECYCLE_TOOLS
from memttl.server.shapes import Fields, Items, Scalar
from memttl.server.tool import ADDS, DELETES, LIFE, READS, Tool

_NAME = Scalar(("string",), "The name of the entity")
_TYPE = Scalar(("string",), "The type of the entity")
_TEXT = Scalar(("string",))
_OBSERVATIONS = Items(_TEXT, "An array of observation contents associated with the entity")
_ENTITY = Fields({"name": _NAME, "entityType": _TYPE, "observations": _OBSERVATIONS})
_RELATION = Fields(
    {
        "from": Scalar(("string",), "The name of the entity where the relation starts"),
        "to": Scalar(("string",), "The name of the entity where the relation ends"),
        "relationType": Scalar(("string",), "The type of the relation"),
    }
)
_READING = {
    "exclude_expired": Scalar(("boolean",), "Leave out observations that have expired", default=True),
    "expire_before": Scalar(("string",), "Only observations that expire before this day or instant (ISO 8601)"),
    "include_metadata": Scalar(("boolean",), "Add created_at, expires_at and tier of each observation", default=False),
}
_GRAPH = Fields({"entities": Items(_ENTITY), "relations": Items(_RELATION)})
_DONE = Fields({"success": Scalar(("boolean",)), "message": _TEXT})


TOOLS = (
    Tool(
        "create_entities",
        "Create Entities",
        "Make new entities in the knowledge graph; one whose name is there already is passed over. ttl, decay, "
        "expires, review_by and pin hold for all observations given with the entity.",
        ADDS,
        Fields({"entities": Items(Fields(_ENTITY.needed, LIFE))}),
        Fields({"entities": Items(_ENTITY)}),
    ),
    Tool(
        "create_relations",
        "Create Relations",
        "Make new relations between entities of the knowledge graph, in active voice; those that are there already are "
        "passed over.",
        ADDS,
        Fields({"relations": Items(_RELATION)}),
        Fields({"relations": Items(_RELATION)}),
    ),
    Tool(
        "add_observations",
        "Add Observations",
        "Add observations to entities that are there; a text that is there already is passed over, and one that has "
        "expired is renewed. ttl, decay, expires, review_by and pin hold for all contents of the item.",
        ADDS,
        Fields(
            {
                "observations": Items(
                    Fields(
                        {
                            "entityName": Scalar(("string",), "The name of the entity to add the observations to"),
                            "contents": Items(_TEXT, "An array of observation contents to add"),
                        },
                        LIFE,
                    )
                )
            }
        ),
        Fields({"results": Items(Fields({"entityName": _TEXT, "addedObservations": Items(_TEXT)}))}),
    ),
    Tool(
        "delete_entities",
        "Delete Entities",
        "Delete entities, and the relations at whose ends they stand. `undo_prune` can put them back.",
        DELETES,
        Fields({"entityNames": Items(_TEXT, "An array of entity names to delete")}),
        _DONE,
    ),
    Tool(
        "delete_observations",
        "Delete Observations",
        "Delete observations of entities, by their whole text. `undo_prune` can put them back.",
        DELETES,
        Fields(
            {
                "deletions": Items(
                    Fields(
                        {
                            "entityName": Scalar(("string",), "The name of the entity containing the observations"),
                            "observations": Items(_TEXT, "An array of observations to delete"),
                        }
                    )
                )
            }
        ),
        _DONE,
    ),
    Tool(
        "delete_relations",
        "Delete Relations",
        "Delete relations. `undo_prune` can put them back.",
        DELETES,
        Fields({"relations": Items(_RELATION, "An array of relations to delete")}),
        _DONE,
    ),
    Tool(
        "read_graph",
        "Read Graph",
        "Read the whole knowledge graph, without the observations that have expired.",
        READS,
        Fields({}, _READING),
        _GRAPH,
    ),
    Tool(
        "search_nodes",
        "Search Nodes",
        "Search entities by a part of their names, types and observations, in any case; with the relations of those "
        "that are found.",
        READS,
        Fields(
            {
                "query": Scalar(
                    ("string",), "The search query to match against entity names, types, and observation content"
                )
            },
            _READING,
        ),
        _GRAPH,
    ),
    Tool(
        "open_nodes",
        "Open Nodes",
        "Open entities by their names, with their relations.",
        READS,
        Fields({"names": Items(_TEXT, "An array of entity names to retrieve")}, _READING),
        _GRAPH,
    ),
    *LIFECYCLE_TOOLS,
)
