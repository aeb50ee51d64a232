"""The record of a run: its journal, the proof made of it, the report, and trackers."""
