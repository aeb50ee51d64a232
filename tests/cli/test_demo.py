"""The bundled example server by its name, and the checks that come before a run."""

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest
from support.command_line import mcprl
from support.fake_llm import Reply, serving
from support.paths import ROOT

from mcprl.cli import options
from mcprl.cli.headroom import advice
from mcprl.runs.settings import parse

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # litellm's own
TINY = "--train-tasks 4 --val-tasks 1 --test-tasks 1 --test-forms 0 --probe-calls 40 --max-tokens 8 --max-turns 1"


def test_the_demonstration_is_served_by_its_name_as_long_as_a_command_lasts() -> None:
    shown = mcprl("inspect", "demo:shop", "--json", "--check-sessions")
    assert json.loads(shown.out)["shared"] is False
    planned = mcprl("scenarios", "demo:shop", "--plan-calls", "--json")
    assert {call["tool"] for call in json.loads(planned.out)["calls"]} >= {"get_order", "search_products"}
    shown = mcprl("inspect", "demo:shop", "--json")
    assert shown.code == 0, shown.err
    tree = json.loads(shown.out)
    assert [server["title"] or server["name"] for server in tree["servers"]] == ["shop"]
    assert len(tree["tools"]) == 8
    address = tree["servers"][0]["target"]
    gone = mcprl("inspect", address, "--timeout", "1")
    assert (gone.code, gone.err.count("\n")) == (2, 1)


def test_a_demonstration_that_there_is_not_is_one_line() -> None:
    done = mcprl("inspect", "demo:shp")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "the only one is demo:shop" in done.err


def test_the_recipe_of_a_run_on_the_demonstration_names_no_port() -> None:
    recipe = options.command(parse({"servers": [{"target": "demo:shop"}]}))
    assert recipe.startswith("mcprl train --server demo:shop ")
    assert "127.0.0.1" not in recipe


def test_a_port_that_is_taken_is_one_line_with_another_way() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = mcprl("demo", "--serve", "--port", str(port))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"port {port} of 127.0.0.1: Address already in use; --port takes another" in done.err


def test_make_help_shows_what_make_does_and_no_remarks_about_how() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("make train")
    assert shown.rstrip().endswith("Everything is installed into .venv, once.")


# --- before a run -----------------------------------------------------------------------------------------------------


def test_a_judge_without_its_key_is_noticed_before_there_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judge = ["--judge", "ruler:default", "--judge-model", "openai/o4-mini"]
    done = mcprl("train", "/no/such/server", *judge, "--runs-dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "openai/o4-mini needs a key in $OPENAI_API_KEY, which is not set; export it first" in done.err
    assert not list(tmp_path.iterdir())


def test_a_judge_that_refuses_its_key_is_noticed_by_one_question_before_there_is_a_run(tmp_path: Path) -> None:
    with serving(lambda _request, _number: Reply(status=401)) as fake:
        judge = ["--judge", "ruler:default", "--judge-model", "openai/fake", "--judge-base-url", fake.url]
        done = mcprl("train", "/no/such/server", *judge, "--runs-dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "status 401 as told" in done.err
    assert len(fake.requests) == 1
    assert len(str(fake.requests[0]["messages"])) < 100
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_noticed_before_there_is_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprl.cli.doctor.RUN_GIB", 2.0**40)
    done = mcprl("train", "/no/such/server", "--runs-dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "make room" in done.err
    assert not list(tmp_path.iterdir())


def test_a_client_of_vllm_that_is_not_installed_is_noticed_before_there_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprl.engines.find_spec", lambda _: None)
    vllm = ["--engine", "vllm", "--base-url", "http://127.0.0.1:9/v1"]
    done = mcprl("train", "/no/such/server", *vllm, "--runs-dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "install it with: pip install 'mcprl[vllm]'" in done.err
    assert not list(tmp_path.iterdir())


def test_a_dry_run_checks_everything_samples_a_little_and_writes_nothing(tmp_path: Path, tiny_model: Path) -> None:
    judge = ["--judge", "mixed:default", "--judge-model", "openai/fake"]
    with serving(lambda _request, _number: Reply("ok")) as fake:
        arguments = [*judge, "--judge-base-url", fake.url, "--model", str(tiny_model), "--runs-dir", str(tmp_path)]
        done = mcprl("demo", "--dry-run", "--steps", "3", "--group-size", "2", *TINY.split(), *arguments)
    assert done.code == 0, done.err
    found = {line.split()[1]: line for line in done.out.splitlines() if line.startswith(("ok ", "warn "))}
    assert {"python", "packages", "disk", "memory", "server", "judge"} <= found.keys()
    assert "8 of 8 tools may be called" in found["server"]
    assert "openai/fake answers" in found["judge"]
    assert len(fake.requests) == 1
    assert re.search(r"of (\d+) tasks, 2 rollouts each, the base model solves: \1 never, 0 sometimes", done.out)
    assert "--recipe sft+rl shows it verified plans first" in done.out
    assert "time: about" in done.out
    assert "money: the judge openai/fake will be asked" in done.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("never", "sometimes", "always", "said"),
    [(3, 6, 3, "50% of them here"), (4, 0, 0, "shows it verified plans first"), (0, 0, 4, "nothing to gain")],
)
def test_a_dry_run_says_what_can_be_learned(never: int, sometimes: int, always: int, said: str) -> None:
    assert said in advice({"never": never, "sometimes": sometimes, "always": always})


def test_a_doctor_looks_at_server_and_judge_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judge = ["--judge", "ruler:default", "--judge-model", "openai/o4-mini"]
    done = mcprl("doctor", "/no/such/server", *judge, "--runs-dir", str(tmp_path))
    assert done.code == 1
    failed = [line for line in done.out.splitlines() if line.startswith("fail")]
    assert [line.split()[1] for line in failed] == ["server", "judge"]
    assert "no such command" in failed[0]
    assert "needs a key in $OPENAI_API_KEY" in failed[1]
    assert "2 to be put right" in done.err
