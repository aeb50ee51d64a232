"""Conversations as token ids and back: prompts, tool calls, and what is known of model families."""
