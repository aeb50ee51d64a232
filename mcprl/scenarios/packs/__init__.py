"""Packs: tasks as files that people read, write and edit, and what a pack is worth."""
