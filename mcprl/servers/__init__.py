"""MCP servers: connections, sessions, tool results."""
