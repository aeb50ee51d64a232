"""Python's face: the names that users of ART know (groups, RULER, a model to train), and a run with parts of one's own."""
