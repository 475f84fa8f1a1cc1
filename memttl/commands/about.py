"""`memttl --version --verbose`: what a bug report needs."""

from __future__ import annotations

import os

from memttl.commands.printing import put


def about() -> None:
    """Print it."""
    from memttl.report.about import render
    from memttl.workflow.about import about as facts

    put(render(facts(os.environ)))
