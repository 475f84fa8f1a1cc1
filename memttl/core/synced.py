"""Is a path in a folder that is synced to other machines? A table of the places where such folders lie.

Called by `files/checkup.py`. Two machines on one memory file mean two ledgers, and a lease holds nobody on the other.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

# service, and globs that parts of the path, one behind another, must match; in lower case
_ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Dropbox", ("dropbox",)),
    ("Dropbox", ("dropbox (*)",)),  # Dropbox (Personal), Dropbox (Firm)
    ("Dropbox", ("cloudstorage", "dropbox*")),  # macOS 12.3 and later: ~/Library/CloudStorage
    ("iCloud", ("library", "mobile documents")),  # macOS: ~/Library/Mobile Documents/com~apple~CloudDocs
    ("iCloud", ("iclouddrive",)),  # Windows
    ("iCloud", ("icloud drive",)),
    ("iCloud", ("cloudstorage", "icloud*")),
    ("OneDrive", ("onedrive",)),
    ("OneDrive", ("onedrive - *",)),  # OneDrive - Firm
    ("OneDrive", ("cloudstorage", "onedrive*")),
    ("Google Drive", ("google drive",)),
    ("Google Drive", ("googledrive",)),
    ("Google Drive", ("google-drive",)),
    ("Google Drive", ("cloudstorage", "googledrive*")),
    ("Google Drive", ("[a-z]:", "my drive")),  # Windows: a drive letter of its own
    ("Google Drive", ("gvfs", "google-drive:*")),  # Linux, by GNOME
)
_SEPARATORS = re.compile(r"[\\/]+")


def synced_by(path: str) -> str:
    """Name the service in whose folder an absolute path lies, of Linux, macOS or Windows; "" for none."""
    folders = _SEPARATORS.split(path.lower())[:-1]
    for service, globs in _ROWS:
        for start in range(len(folders) - len(globs) + 1):
            if all(fnmatchcase(folders[start + n], glob) for n, glob in enumerate(globs)):
                return service
    return ""
