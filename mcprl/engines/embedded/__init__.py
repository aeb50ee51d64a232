"""The engine that decodes in this process."""
