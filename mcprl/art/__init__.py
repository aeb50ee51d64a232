"""The names that users of OpenPipe's ART know: groups of trajectories, RULER, and a model to train."""
