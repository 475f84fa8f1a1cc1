"""The console entry point: answers `--version` before anything heavy is imported, else hands over to the Typer app."""

import sys


def main() -> None:
    """Run memttl with the arguments of this process and exit with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from memttl import __version__

        print(f"memttl {__version__}")
        return
    from memttl.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
