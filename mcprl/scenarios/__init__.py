"""Tasks for a server: generated, proved by execution, split by value, and kept as packs.

`generate` runs it all. `probe` fills a `knowledge` of the server. Then `compose` makes the tasks (with `kinds` and
`planner`), `writers` word them, and the outcome is a `pack`. `fields`, `slots` and `naming` serve them all.
"""
