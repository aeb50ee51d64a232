"""Probing: what the tools take and return, found out by calling them.

In the order of the pipeline: `probe` is the story, on `sessions`. What a slot may take comes from the user (`hints`),
from schemas, descriptions and results (`sources`, `results`), or is invented (`values`); `candidates` ranks it and
`draws` picks. `reading` and `writing` make the calls, `failures` tells which failed, `sql` and `tables` are for servers
that take SQL. What was found out is `knowledge`.
"""
