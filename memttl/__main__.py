"""The console entry point: answers `--version` before anything heavy is imported, else hands over to the Typer app."""

import gc
import sys


def main() -> None:
    """Run memttl with the arguments of this process and exit with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from memttl import __version__

        print(f"memttl {__version__}")
        return
    # imports make many objects and no garbage: collecting after every 700 of them is a tenth of the whole start-up
    gc.set_threshold(100_000, 20, 20)
    from memttl.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
