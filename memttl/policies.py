"""Where the policy of a memory file lies, and its bytes into a `Policy`; pure reading, nothing is written.

`settings.py` asks for each memory file that is meant, and `memttl policy` by itself.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from memttl.core.policy import Policy
from memttl.errors import BadPolicy, UsageError

POLICY_BESIDE = "memttl.toml"
MAX_POLICY_BYTES = 1 << 20  # a real one has some kB


def find_policy(named: str | None, given: str | None, environ: Mapping[str, str]) -> Policy:
    """Read the policy: `given`, MEMTTL_POLICY, beside the memory file, the user's config folder, else the built-in.

    `named` is the memory file's path as named, None for none; `given` is `--policy`.

    Raises:
        BadPolicy: the one that is found cannot be read or is not valid.
        UsageError: `--policy` is empty.
    """
    if given == "":  # an unset variable of a script: judging by another policy instead could remove too much
        raise UsageError("--policy was given an empty path; nothing was done.")
    path = given or environ.get("MEMTTL_POLICY")
    if path:
        path = os.path.expanduser(path)
        return read_policy(path, beside=named is not None and lies_beside(path, named))
    for beside in policies_beside(named) if named else ():
        if os.path.lexists(beside):
            return read_policy(beside, beside=True)
    own = own_policy()
    return read_policy(own) if os.path.lexists(own) else Policy()


def policies_beside(named: str) -> list[str]:
    """Give the paths of a policy beside the memory file, as it was named and with links resolved."""
    folders = (os.path.dirname(named), os.path.dirname(os.path.realpath(named)))
    return [os.path.join(folder, POLICY_BESIDE) for folder in folders]


def policy_places(named: str | None, given: str | None, environ: Mapping[str, str]) -> list[str]:
    """Give all places where a policy is looked for, made absolute, the first that counts first."""
    told = given or environ.get("MEMTTL_POLICY")
    places = [*([told] if told else []), *(policies_beside(named) if named else ()), own_policy()]
    return list(dict.fromkeys(os.path.abspath(os.path.expanduser(place)) for place in places))


def policy_place(named: str) -> str:
    """Give where a policy of one memory file lies, or would: found by each of the file's names, so beside the file."""
    places = policies_beside(named)
    return next((place for place in places if os.path.lexists(place)), places[-1])


def lies_beside(path: str, named: str) -> bool:
    """Say whether a policy may have come with the memory file's folder (a cloned repository), however it was named."""
    folders = {os.path.realpath(os.path.dirname(beside)) for beside in policies_beside(named)}
    return os.path.basename(path) == POLICY_BESIDE and os.path.realpath(os.path.dirname(path)) in folders


def read_policy(path: str, *, beside: bool = False) -> Policy:
    """Read and validate the policy file at `path`; `beside`: it lies beside the memory file, and may name less.

    Raises:
        BadPolicy: it cannot be read or is not valid.
    """
    try:
        text = _read_bounded(path, may_be_pipe=not beside).decode("utf-8")
    except OSError as e:
        raise BadPolicy(path, (f"cannot be read: {e.strerror}",), hint="Check the path and its permissions.") from None
    except UnicodeDecodeError as e:
        raise BadPolicy(path, (f"is not UTF-8 (byte {e.start + 1})",), hint="Save it as UTF-8.") from None
    from memttl.core.policy_load import (
        load_policy,  # here: the built-in policy needs neither TOML nor pydantic's models
    )

    return load_policy(text, path, beside=beside)


def _read_bounded(path: str, *, may_be_pipe: bool) -> bytes:
    """Read a policy of at most 1 MiB; only one that the user named may be a pipe (`--policy <(…)`)."""
    if not (may_be_pipe or os.path.isfile(path)):
        raise OSError(errno.EINVAL, "no regular file")
    with open(path, "rb") as f:
        data = f.read(MAX_POLICY_BYTES + 1)
    if len(data) > MAX_POLICY_BYTES:
        raise OSError(errno.EFBIG, "larger than 1 MiB")
    return data


def user_config_folder() -> str:
    """Give the user's config folder for memttl."""
    import platformdirs

    return platformdirs.user_config_dir("memttl", appauthor=False)


def own_policy() -> str:
    """Give the path of the user's own policy."""
    return os.path.join(user_config_folder(), "policy.toml")
