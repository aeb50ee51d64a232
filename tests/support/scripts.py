"""Examples and snippets as their readers run them."""

import ast
import inspect
import runpy
import sys
from pathlib import Path
from typing import Any

import anyio


def script(path: Path, *arguments: str) -> None:
    """What `python PATH ARGUMENTS` does."""
    sys.argv = [str(path), *arguments]
    runpy.run_path(str(path), run_name="__main__")


def snippets(url: str, *files: Path) -> None:
    """Run the files one after the other in one namespace. They may use `await`, as a notebook does."""
    namespace: dict[str, Any] = {"URL": url}

    async def in_order() -> None:
        for path in files:
            code = compile(path.read_text(), str(path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            made = eval(code, namespace)
            if inspect.iscoroutine(made):
                await made

    anyio.run(in_order)
