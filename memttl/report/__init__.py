"""Plans and outcomes into text; pure."""
