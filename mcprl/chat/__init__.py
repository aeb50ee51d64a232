"""Conversations as token ids and back: prompts, tool calls, and the table of model families."""
