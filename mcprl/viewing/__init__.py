"""`mcprl view RUN`: a run in a browser, while it goes on and afterwards. It reads the journal and writes nothing."""
