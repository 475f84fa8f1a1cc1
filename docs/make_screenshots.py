"""Make the pictures of the report anew: the page, and a terminal, from the example memory file at a fixed instant.

Run it as `python docs/make_screenshots.py`, with Debian's Chromium; pngquant, where installed, makes them small.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests")]

from browser import running, url_of  # noqa: E402
from process import Terminal  # noqa: E402
from pruning import NOW, settings_of  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.terminal_theme import DIMMED_MONOKAI  # noqa: E402
from rich.text import Text  # noqa: E402

from memttl.core.report import Query  # noqa: E402
from memttl.report.report_html import render  # noqa: E402
from memttl.workflow.report import report  # noqa: E402

PICTURES = (
    ("report-light.png", {"width": 1280, "height": 2050}),
    ("report-dark.png", {"width": 1280, "height": 2050, "dark": True}),
    ("report-phone.png", {"width": 400, "height": 2900}),
    ("report-terminal.png", {"width": 720, "height": 1058}),
)


SCREEN = """<!DOCTYPE html><meta charset="utf-8"><style>body {{ margin: 0; background: {background};
color: {foreground} }}
pre {{ margin: 16px; font: 14px/18px "DejaVu Sans Mono", monospace }}</style><pre>{code}</pre>"""
COLUMNS, LINES = 80, 57


def terminal_page() -> str:
    """Give a page that shows what a terminal of 80 columns shows."""
    shown = Terminal("report", "--file", "memory.jsonl", "--now", NOW, columns=COLUMNS, cwd=Path.cwd()).end().screen
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="standard", force_terminal=True)
    text = Text("\n").join(
        Text.from_ansi(line) for line in [f"$ memttl report --now {NOW}", *shown.split("\r\n")][:LINES]
    )
    console.print(text, soft_wrap=True)
    return console.export_html(inline_styles=True, theme=DIMMED_MONOKAI, code_format=SCREEN)


def main() -> None:
    """Write each picture into this folder."""
    with tempfile.TemporaryDirectory() as folder, running() as browser:
        page = Path(folder) / "report.html"
        shutil.copy(DOCS.parent / "fixtures/memory/example.jsonl", Path(folder) / "memory.jsonl")
        os.chdir(folder)
        page.write_text(render([report(settings_of(Path("memory.jsonl")), Query())]), encoding="utf-8")
        Path("terminal.html").write_text(terminal_page(), encoding="utf-8")
        for name, look in PICTURES:
            page = Path(folder) / ("terminal.html" if name == "report-terminal.png" else "report.html")
            with browser.page(url_of(page), **look) as shown:
                (DOCS / name).write_bytes(shown.screenshot(whole=False))
            if shutil.which("pngquant"):
                subprocess.run(
                    ["pngquant", "--force", "--ext", ".png", "--speed", "1", "64", str(DOCS / name)], check=True
                )


if __name__ == "__main__":
    main()
