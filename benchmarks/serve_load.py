"""`mcprl serve` under load: 64 clients at once while updates happen, and nothing may be lost, mixed or out of step.

    python benchmarks/serve_load.py --seconds 300

Most clients play captured rollouts of three turns with `latest`; every fourth asks `base` or the newest kept step
greedily. One more client trains on the captured rollouts, update after update. Prints

- turns that were lost (an error, or no answer), mixed (its prompt or its ids are not its own, or another text for the
  same weights and question) or out of step (not sampled by the adapter that its name stood for while it ran);
- what the server adds to the engine: the time from a request's last byte to its answer's last, less the time that the
  engine's own thread had the turn; and the same as the client saw it;
- the server's memory, each ten seconds.

Clients and server are processes of their own; their clocks are the machine's monotonic one.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import quantiles
from tempfile import mkdtemp
from typing import Any

import anyio
import httpx2
import psutil

from mcprl.config import EngineConfig
from mcprl.engines.embedded import engine as embedded
from mcprl.serving import host
from mcprl.serving.learner import Learner
from mcprl.serving.origin import find_origin

KEY, CALL = "load", b"x-load-call"
QUESTIONS = ["Look up order O-2107.", "Which city is C-1042 in?", "What does SKU-318 cost?", "Hello"]
MAX_TOKENS = 24
CACHE = 2**27
"""Bytes for keys and values, a sixteenth of the default, so that the engine's memory is full within a minute."""


# --- the server ------------------------------------------------------------------------------------------------------


@dataclass
class Stamps:
    """When things happened, in seconds of the machine's clock, by the request's seed or the adapter's step."""

    engine: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    server: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    served: dict[int, float] = field(default_factory=dict[int, float])

    def watch_engine(self, engine: Any) -> None:
        """Note when turns are handed to the engine, and when its thread has them done."""
        send: Callable[[Any], None] = engine._send

        def noting(item: Any) -> None:
            if isinstance(item, embedded.Turn):
                seed, began = item.request.seed, time.monotonic()
                item.future.add_done_callback(lambda _: self.engine.__setitem__(seed, (began, time.monotonic())))
            send(item)

        engine._send = noting

    def watch_steps(self, learner: Learner) -> None:
        serve = learner.model.serve

        async def noting(adapter: Any) -> None:
            await serve(adapter)
            self.served[adapter.step] = time.monotonic()

        learner.model.serve = noting

    def watch_app(self, app: Any) -> Any:
        async def noting(scope: Any, receive: Any, send: Any) -> None:
            call, began = dict(scope.get("headers", ())).get(CALL), time.monotonic()

            async def received() -> Any:
                nonlocal began
                message = await receive()
                if message["type"] == "http.request":
                    began = time.monotonic()
                return message

            await app(scope, received, send)
            if call:
                self.server[int(call)] = (began, time.monotonic())

        return noting


async def _serve(model: str, folder: Path, pipe: Any) -> None:
    stamps = Stamps()
    create = host.create_app
    host.create_app = lambda *given: stamps.watch_app(create(*given))
    with host.listen("127.0.0.1", 0) as listening:
        origin = find_origin(model, str(folder), EngineConfig(kind="embedded"))
        async with host.open_served(origin, folder / "served") as learner:
            engine: Any = learner.model.engine
            engine._options = (*engine._options[:2], CACHE, *engine._options[3:])  # before its thread opens a decoder
            stamps.watch_engine(engine)
            stamps.watch_steps(learner)
            pipe.send((f"http://127.0.0.1:{listening.getsockname()[1]}", origin.name))
            serving = asyncio.create_task(host.serve(learner, KEY, listening))
            await asyncio.to_thread(pipe.recv)
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
    pipe.send(stamps)


def serve(model: str, folder: Path, pipe: Any) -> None:
    """The server's process: says its address, and at the end what it noted."""
    anyio.run(_serve, model, folder, pipe, backend_options={"use_uvloop": True})  # as the command does


# --- the clients -----------------------------------------------------------------------------------------------------


@dataclass
class Turn:
    """A turn as its client saw it."""

    seed: int
    name: str
    question: str
    sent: float
    received: float
    choice: dict[str, Any]


@dataclass
class Load:
    """The clients, and what they saw."""

    client: httpx2.AsyncClient
    model: str
    until: float
    turns: list[Turn] = field(default_factory=list[Turn])
    lost: list[str] = field(default_factory=list[str])
    mixed: list[str] = field(default_factory=list[str])
    finished: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])
    updates: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    memory: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    kept: str = "base"
    _seeds: Any = field(default_factory=lambda: count(1))

    async def ask(self, name: str, messages: list[Any], temperature: float, rollout: str = "") -> dict[str, Any] | None:
        """One turn; its message, or `None` if it was lost."""
        seed = next(self._seeds)
        body = {"model": name, "messages": messages, "seed": seed, "max_tokens": MAX_TOKENS, "temperature": temperature}
        headers = {CALL.decode(): str(seed)} | ({"X-Mcprl-Rollout": rollout} if rollout else {})
        sent = time.monotonic()
        try:
            answer = await self.client.post(
                "/v1/chat/completions", json=body | {"return_token_ids": True}, headers=headers
            )
            received = time.monotonic()
            choice = answer.raise_for_status().json()["choices"][0]
        except (httpx2.HTTPError, LookupError, ValueError) as error:
            self.lost.append(f"{name}: {type(error).__name__}: {error}")
            return None
        self.turns.append(Turn(seed, name, messages[-1]["content"], sent, received, choice))
        return choice

    async def player(self, number: int) -> None:
        """Rollouts of three turns, each of which must begin with the ids of the one before."""
        for game in count():
            if time.monotonic() > self.until:
                return
            rollout, before = f"client {number} rollout {game}", list[int]()
            messages: list[Any] = []
            for turn in range(3):
                messages.append({"role": "user", "content": f"{number}.{game}.{turn} {QUESTIONS[number % 4]}"})
                choice = await self.ask("latest", messages, 1.0, rollout)
                if choice is None:
                    break
                if choice["prompt_token_ids"][: len(before)] != before:
                    said = f"turn {turn} does not begin with the ids of the one before, which is {messages[-2]}"
                    self.mixed.append(f"{rollout}: {said}")
                before = choice["prompt_token_ids"] + choice["token_ids"]
                messages.append(choice["message"])
            else:
                self.finished.put_nowait(rollout)

    async def asker(self, number: int) -> None:
        """Greedy questions to weights that do not change."""
        while time.monotonic() < self.until:
            name = self.kept if number % 2 else "base"
            await self.ask(name, [{"role": "user", "content": QUESTIONS[number % 4]}], 0.0)

    async def trainer(self) -> None:
        """Updates on captured rollouts, one after another."""
        while time.monotonic() < self.until:
            rollouts = [await self.finished.get() for _ in range(16)]
            rewarded = [{"rollout": each, "reward": float(at % 4)} for at, each in enumerate(rollouts)]
            groups = [{"trajectories": rewarded[at : at + 4]} for at in range(0, 16, 4)]
            answer = await self.client.post("/_train_model", json={"groups": groups, "config": {"learning_rate": 1e-4}})
            events = [json.loads(line) for line in answer.text.splitlines()]
            if answer.is_error or events[-1]["type"] != "adapter":
                self.lost.append(f"update: {answer.text[-300:]}")
                continue
            self.updates += [event for event in events if event["type"] == "gradient_step"]
            self.kept = events[-1]["model"]
            if (old := events[-1]["step"] - 4) > 0:  # long after the last question to it
                await self.client.delete(f"/_checkpoints/{old}")

    async def watcher(self, process: psutil.Process) -> None:
        while time.monotonic() < self.until:
            self.memory.append((time.monotonic(), process.memory_info().rss / 2**20))
            await asyncio.sleep(10)


async def play(url: str, model: str, pid: int, clients: int, seconds: float) -> Load:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=300, limits=limits) as client:
        load = Load(client, model, time.monotonic() + seconds)
        side = [asyncio.create_task(load.trainer()), asyncio.create_task(load.watcher(psutil.Process(pid)))]
        await asyncio.gather(*(load.asker(n) if n % 4 == 3 else load.player(n) for n in range(clients)))
        side[0].cancel()
        await asyncio.gather(*side, return_exceptions=True)
    return load


# --- what came of it -------------------------------------------------------------------------------------------------


def out_of_step(load: Load, stamps: Stamps) -> list[str]:
    """Turns whose step their name did not stand for at any time between question and answer."""
    wrong: list[str] = []
    for turn in load.turns:
        step = turn.choice["policy_step"]
        if turn.name == "base":
            allowed = {0}
        elif "@" in turn.name:
            allowed = {int(turn.name.partition("@")[2])}
        else:
            known = [0] + [each for each, at in stamps.served.items() if at <= turn.received]
            old = [0] + [each for each, at in stamps.served.items() if at <= turn.sent]
            allowed = {*range(max(old), max(known) + 1)}
        if step not in allowed:
            wrong.append(f"{turn.name}: step {step}, expected one of {sorted(allowed)}")
    return wrong


def mixed(load: Load) -> list[str]:
    """Turns that are another's: two texts for one set of weights and one question."""
    said: dict[tuple[str, str], set[str]] = {}
    for turn in load.turns:
        if turn.name != "latest":
            said.setdefault((turn.name, turn.question), set()).add(turn.choice["message"]["content"])
    answers = ((name, question, len(texts)) for (name, question), texts in said.items())
    return [*load.mixed, *(f"{name}: {question!r} has {many} answers" for name, question, many in answers if many > 1)]


def told(values: list[float]) -> str:
    cuts = quantiles(values, n=100)
    return f"p50 {cuts[49] * 1e3:.1f} ms, p99 {cuts[98] * 1e3:.1f} ms"


def summary(load: Load, stamps: Stamps) -> dict[str, Any]:
    """The figures; times in seconds, memory in MiB."""
    both = [turn for turn in load.turns if turn.seed in stamps.engine and turn.seed in stamps.server]
    engine = [end - begin for begin, end in (stamps.engine[turn.seed] for turn in both)]
    server = [end - begin for begin, end in (stamps.server[turn.seed] for turn in both)]
    return {
        "turns": len(load.turns),
        "lost": load.lost,
        "mixed": mixed(load),
        "out_of_step": out_of_step(load, stamps),
        "updates": len(load.updates),
        "exactness": min((each["exactness"] for each in load.updates), default=None),
        "engine": engine,
        "server": [whole - part for whole, part in zip(server, engine, strict=True)],
        "over": sum(whole - part > 0.005 + 0.02 * part for whole, part in zip(server, engine, strict=True)) / len(both),
        "client": [turn.received - turn.sent - part for turn, part in zip(both, engine, strict=True)],
        "memory": [megabytes for _, megabytes in load.memory],
    }


def measured(model: str, clients: int, seconds: float) -> dict[str, Any]:
    """Serve, play, and say what came of it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(model, Path(mkdtemp()), there))
    process.start()
    url, name = here.recv()
    assert process.pid
    try:
        load = asyncio.run(play(url, name, process.pid, clients, seconds))
        here.send("end")
        return summary(load, here.recv())
    finally:
        process.join(30)
        process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    found = measured(given.model, given.clients, given.seconds)
    print(f"{found['turns']} turns of {given.clients} clients in {given.seconds:.0f} s,", end=" ")
    print(f"{found['updates']} updates (exactness {found['exactness']})")
    for name in ("lost", "mixed", "out_of_step"):
        print(f"{name}: {len(found[name])}", *found[name][:3], sep="\n  " if found[name] else "")
    print(f"engine: {told(found['engine'])}")
    print(f"server over the engine: {told(found['server'])}; {found['over']:.1%} over 5 ms + 2 %")
    print(f"as clients saw it: {told(found['client'])}")
    print("server's memory, MiB:", *(f"{each:.0f}" for each in found["memory"]))
    return bool(found["lost"] or found["mixed"] or found["out_of_step"])


if __name__ == "__main__":
    sys.exit(main())
