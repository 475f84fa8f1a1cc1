"""The use cases, one file each: the only rooms that join core and files."""
