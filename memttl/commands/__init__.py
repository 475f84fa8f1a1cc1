"""One file a command: options, settings, workflow, report, exit code."""
