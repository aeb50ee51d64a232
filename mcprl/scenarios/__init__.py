"""Tasks for a server: generated, proved by execution, split by value, and kept as packs.

`generate` runs it all. `probe` fills a `knowledge` of the server. Then `compose` (with `kinds`, `planner`, `writers`)
or a language model (`author`, `drafts`, `vetting`) makes the tasks, and the outcome is a `pack`. `draws`, `values`,
`fields`, `slots` and `names` serve them all.
"""
