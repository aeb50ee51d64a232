"""The command line: its commands, its options and what it prints."""
