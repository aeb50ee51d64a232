"""What several test files use: fakes, tiny models, servers, and paths of the repository."""
