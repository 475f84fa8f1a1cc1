"""Folders that are synced, on Linux, macOS and Windows; and those that only look alike."""

from __future__ import annotations

import pytest

from memttl.core.synced import synced_by

SYNCED = {
    "/home/anna/Dropbox/ai/memory.jsonl": "Dropbox",
    "/Users/anna/Dropbox (Personal)/memory.jsonl": "Dropbox",
    "/Users/anna/Library/CloudStorage/Dropbox/memory.jsonl": "Dropbox",
    "/Users/anna/Library/CloudStorage/Dropbox-Firm/memory.jsonl": "Dropbox",
    "C:\\Users\\anna\\Dropbox\\memory.jsonl": "Dropbox",
    "/Users/anna/Library/Mobile Documents/com~apple~CloudDocs/memory.jsonl": "iCloud",
    "C:\\Users\\anna\\iCloudDrive\\memory.jsonl": "iCloud",
    "/home/anna/OneDrive/memory.jsonl": "OneDrive",
    "/Users/anna/Library/CloudStorage/OneDrive-Firm/memory.jsonl": "OneDrive",
    "C:\\Users\\anna\\OneDrive - Firm GmbH\\memory.jsonl": "OneDrive",
    "/home/anna/Google Drive/memory.jsonl": "Google Drive",
    "/home/anna/GoogleDrive/memory.jsonl": "Google Drive",
    "/run/user/1000/gvfs/google-drive:host=gmail.com,user=anna/x/memory.jsonl": "Google Drive",
    "/Users/anna/Library/CloudStorage/GoogleDrive-anna@gmail.com/My Drive/memory.jsonl": "Google Drive",
    "G:\\My Drive\\memory.jsonl": "Google Drive",
}
NOT_SYNCED = [
    "/home/anna/memory.jsonl",
    "/home/anna/dropbox.jsonl",
    "/home/anna/dropbox-notes/memory.jsonl",
    "/home/anna/onedrive",
    "/home/anna/My Drive/memory.jsonl",
    "/home/anna/Mobile Documents/memory.jsonl",
    "",
]


@pytest.mark.parametrize(("path", "service"), SYNCED.items())
def test_synced_folder_is_known_by_its_path(path: str, service: str) -> None:
    assert synced_by(path) == service


@pytest.mark.parametrize("path", NOT_SYNCED)
def test_other_folder_is_not(path: str) -> None:
    assert synced_by(path) == ""
