"""Make the pictures of the HTML report anew, from the example memory file at a fixed instant, with Debian's Chromium.

Run it as `python docs/make_screenshots.py`; where pngquant is installed, the pictures are made small.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests")]

from browser import running, url_of  # noqa: E402
from pruning import settings_of  # noqa: E402

from memttl.core.report import Query  # noqa: E402
from memttl.report.report_html import render  # noqa: E402
from memttl.workflow.report import report  # noqa: E402

PICTURES = (
    ("report-light.png", {"width": 1280, "height": 1500}),
    ("report-dark.png", {"width": 1280, "height": 1500, "dark": True}),
    ("report-phone.png", {"width": 400, "height": 2300}),
)


def main() -> None:
    """Write each picture into this folder."""
    with tempfile.TemporaryDirectory() as folder, running() as browser:
        page = Path(folder) / "report.html"
        shutil.copy(DOCS.parent / "fixtures/memory/example.jsonl", Path(folder) / "memory.jsonl")
        os.chdir(folder)
        page.write_text(render([report(settings_of(Path("memory.jsonl")), Query())]), encoding="utf-8")
        for name, look in PICTURES:
            with browser.page(url_of(page), **look) as shown:
                (DOCS / name).write_bytes(shown.screenshot(whole=False))
            if shutil.which("pngquant"):
                subprocess.run(
                    ["pngquant", "--force", "--ext", ".png", "--speed", "1", "64", str(DOCS / name)], check=True
                )


if __name__ == "__main__":
    main()
