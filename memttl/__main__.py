"""The console entry point: answers `--version` before anything heavy is imported, else hands over to the Typer app."""

import gc
import sys


def main() -> None:
    """Run memttl with the arguments of this process and exit with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from memttl import __version__

        try:
            print(f"memttl {__version__}", flush=True)
        except BrokenPipeError:  # whoever asked went away
            sys.stdout = None
        except OSError as e:  # a full disk, say; memttl.errors is not imported, since this answer is to be cheap
            sys.stderr.write(f"memttl: standard output cannot be written ({e.strerror}).\n")
            sys.exit(73)
        return
    # imports make many objects and no garbage: collecting after every 700 of them is a tenth of the whole start-up
    gc.set_threshold(100_000, 20, 20)
    try:
        from memttl.cli import run

        sys.exit(run())
    except KeyboardInterrupt:  # while all of it was still being imported
        sys.exit(130)


if __name__ == "__main__":
    main()
