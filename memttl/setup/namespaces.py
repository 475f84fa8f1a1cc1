"""Whether a user's programs may have namespaces of their own here, and whether a user's systemd answers.

Without the first a user's systemd can hide neither files nor the network from what it starts. Called by
`workflow/schedule.py`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping


def user_namespaces_allowed(environ: Mapping[str, str]) -> bool:
    """Try it, as systemd would: Debian and Fedora allow it, Ubuntu from 24.04 on and many containers do not."""
    return _succeeds(("unshare", "--user", "--map-root-user", "--mount", "--net", "true"), environ)


def user_manager_answers(environ: Mapping[str, str]) -> bool:
    """Say whether the systemd of this user can be reached; from `su` or cron it often cannot."""
    return _succeeds(("systemctl", "--user", "show-environment"), environ)


def _succeeds(words: tuple[str, ...], environ: Mapping[str, str]) -> bool:
    try:
        ended = subprocess.run(
            words, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0
