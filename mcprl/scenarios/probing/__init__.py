"""Probing: what the tools take and return, found out by calling them. `probe` runs it and fills a `knowledge`."""
