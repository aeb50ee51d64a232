"""Tasks for a server: generated, proved by execution, split, and kept as packs."""
