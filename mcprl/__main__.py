"""`mcprl` and `python -m mcprl`."""

from mcprl.cli.commands import main

if __name__ == "__main__":
    main()
