"""`mcprl chat`: a real model, a real engine and a real server, asked by a script and on a terminal."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.command_line import mcprl
from support.configs import small
from support.terminal import Terminal

from mcprl.config import Config
from mcprl.models.adapters import save_adapter
from mcprl.models.load import load_model
from mcprl.runs.journal import Journal
from mcprl.scenarios.packs.pack import tool_hash
from mcprl.servers.server import connect
from mcprl.types import Adapter

STATUS = "What is the status of order O-2043?"
SHIP = "Set the status of order O-2043 to shipped."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run named `talker`, whose adapter leaves nano as it is, and one whose adapter does not."""
    folder = tmp_path_factory.mktemp("runs")
    limits = {"max_turns": 4, "max_tokens": 96}
    config = small(Path("nano"), folder, training={"steps": 0}, tools={"allow_destructive": True}, rollout=limits)

    async def tools() -> str:
        async with connect(config.servers, config.tools) as server:
            return tool_hash(server.tools)

    with Journal.create(folder / "talker", config) as journal:
        journal.write_fact("tool_hash", anyio.run(tools))
        adapter = Adapter(str(folder / "talker" / "adapters" / "warm"), 0)
        save_adapter(load_model(config.model), adapter.path)
        journal.write_event("warmed", step=1, score=0.5)
        journal.write_adapter(adapter, kind="warm")
    with Journal.create(folder / "changed", config.model_copy(update={"name": "changed"})) as journal:
        other = shutil.copytree(adapter.path, folder / "changed" / "adapters" / "warm")
        file = other / "adapter_model.safetensors"
        generator = torch.Generator().manual_seed(1)
        save_file({key: torch.randn(value.shape, generator=generator) for key, value in load_file(file).items()}, file)
        journal.write_event("warmed", step=1, score=0.5)
        journal.write_adapter(Adapter(str(other), 0), kind="warm")
    Journal.create(folder / "begun", Config()).close()
    return folder


def ask(runs: Path, question: str, *flags: str, run: str = "talker") -> tuple[str, str]:
    done = mcprl("chat", run, "--runs-dir", str(runs), "--once", question, *flags)
    assert done.code == 0, done.err
    return done.out, done.err


def test_a_question_is_answered_from_the_live_server_and_nothing_else_is_on_standard_output(runs: Path) -> None:
    out, err = ask(runs, STATUS)
    assert (out.count("\n"), "paid" in out) == (1, True)
    assert 'get_order(order_id="O-2043")' in err
    assert '"status":"paid"' in err
    assert "not the tools" not in err


def test_the_base_model_can_be_asked_the_same(runs: Path) -> None:
    out, _ = ask(runs, STATUS, "--compare")
    base, trained = out.splitlines()
    assert base.removeprefix("base: ") == trained.removeprefix("trained: ")  # this adapter changes nothing
    out, _ = ask(runs, STATUS, "--compare", run="changed")
    assert out.startswith(f"{base}\ntrained: ")
    assert "paid" not in out.removeprefix(base)


def test_what_may_write_is_called_only_if_somebody_allows_it(runs: Path) -> None:
    out, err = ask(runs, SHIP)
    assert "not called, since it may write and nobody can be asked (--yes allows it): set_order_status" in err
    assert '"status":"shipped"' not in err
    out, err = ask(runs, SHIP, "--yes")
    assert '{"order_id":"O-2043","status":"shipped"}' in err
    assert "shipped" in out


def test_a_run_that_trained_nothing_yet_and_a_server_that_is_gone_are_one_line_that_says_what_to_do(
    runs: Path,
) -> None:
    for flags, hint in (
        (["begun"], "go on with: mcprl train --resume begun"),
        (["talker", "--server", "http://127.0.0.1:9/mcp"], "is the server running there?"),
    ):
        done = mcprl("chat", *flags, "--runs-dir", str(runs), "--once", STATUS)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert hint in done.err


def test_without_a_terminal_a_question_must_be_given(runs: Path) -> None:
    done = mcprl("chat", "talker", "--runs-dir", str(runs))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert '--once "question"' in done.err


def test_other_tools_than_those_of_the_training_are_told(runs: Path) -> None:
    _, err = ask(runs, "What time is it?", "--server", "mcp-server-time --local-timezone UTC")
    assert "not the tools that the model was trained with" in err


@pytest.fixture
def talk(runs: Path) -> Iterator[Terminal]:
    with Terminal("chat", "talker", "--runs-dir", str(runs), both=True) as terminal:
        yield terminal


def test_on_a_terminal_a_call_that_may_write_is_asked_for_each_time_and_the_talk_goes_on(talk: Terminal) -> None:
    talk.until("an empty line ends.")
    talk.type(SHIP)
    talk.type("y")  # typed ahead: no answer to a question that was not asked yet
    asked = talk.until("be called? It may write. [y/N]")
    assert 'set_order_status(order_id="O-2043", status="shipped")' in asked
    talk.type("no")
    talk.until("the user did not allow this call")
    talk.until("\n> ")
    talk.type("/new")
    talk.until("\n> ")
    talk.type(SHIP)
    talk.until("be called? It may write. [y/N]")
    talk.type("y")
    talk.until('{"order_id":"O-2043","status":"shipped"}')
    talk.until("\n> ")
    talk.type("")
    assert talk.ends() == 0


def test_on_a_terminal_base_and_trained_answer_side_by_side(runs: Path) -> None:
    with Terminal("chat", "changed", "--runs-dir", str(runs), "--compare", both=True) as terminal:
        terminal.until("an empty line ends.")
        terminal.type(STATUS)
        shown = terminal.until("┘")
        (heads,) = [line for line in shown.splitlines() if "base" in line and "trained" in line]
        rows = [line.split("│") for line in shown.splitlines() if line.count("│") == 3]
        assert heads.index("base") < heads.index("trained")
        assert "paid" in " ".join(row[1] for row in rows)  # the base's answer stands on the left, whole
        terminal.type("")
        assert terminal.ends() == 0
