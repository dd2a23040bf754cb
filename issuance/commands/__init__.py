"""The commands, each with its arguments, its help and what it prints."""
