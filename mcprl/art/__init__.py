"""Python's face: the names of ART (groups, RULER, a model to train), and a run with parts of one's own."""
