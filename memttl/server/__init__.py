"""The memory server with a lifecycle: `memttl serve`, in the extra `memttl[mcp]`."""
