"""The only rooms that read and write; they decide nothing about what to prune."""
