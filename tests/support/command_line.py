"""The command line in this process."""

import io
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from mcprl.cli.commands import cli, main


def mcprl(*arguments: str) -> SimpleNamespace:
    """What the program prints and the code it ends with."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main(arguments)
    return SimpleNamespace(code=stop.value.code, out=out.getvalue(), err=err.getvalue())


def effective(*arguments: str) -> dict[str, Any]:
    """The settings that a command would work with."""
    result = CliRunner().invoke(cli, [*arguments, "--print-config"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return tomllib.loads(result.stdout)
