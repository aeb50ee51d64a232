"""What training could bring, measured before it is paid for: a few rollouts of the base model. Writes nothing.

RL learns from tasks that are solved sometimes: a group that always or never succeeds has no signal.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape

from mcprl.cli.tables import spelled
from mcprl.config import Config
from mcprl.engines import Engine, open_engine
from mcprl.engines.conversation import require_room
from mcprl.engines.machine import resolve
from mcprl.engines.trial import load_worded
from mcprl.events import Emit, Note
from mcprl.judges import open_judge
from mcprl.judges.scoring import score_held_out
from mcprl.judges.verifier import Verifier
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import LoadedModel
from mcprl.rollout import Sampler
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import load_pack
from mcprl.scenarios.prepare import require_splits, require_tasks
from mcprl.servers.rewards import require_behind, rewarded
from mcprl.servers.server import Server, connect
from mcprl.text import counted
from mcprl.training.opening import open_trainer
from mcprl.training.step import RewardedGroup, make_batch, update
from mcprl.training.thread import in_update_thread
from mcprl.types import Call, Group, Scenario

_TASKS = 12
_SHOWN = 3
_TESTS = 4
"""How often held-out tasks are sampled: of base, warm and trained, and once before (`train.measure_difficulty`)."""


@dataclass(frozen=True)
class Headroom:
    """`groups` were sampled from the base model, `solved` is the share of each one's rollouts that succeeded, `None` if
    nothing scores it. `minutes`: what the run will take at most at this speed. `judge`: what it will cost, in a
    sentence, empty if nothing."""

    groups: Sequence[Group]
    solved: Sequence[float | None]
    sample_s: float
    update_s: float
    minutes: float
    judge: str

    @property
    def shares(self) -> dict[str, int]:
        """The number of tasks that were solved never, sometimes and always."""
        known = [rate for rate in self.solved if rate is not None]
        never, always = sum(rate == 0 for rate in known), sum(rate == 1 for rate in known)
        return {"never": never, "sometimes": len(known) - never - always, "always": always}


async def measure(config: Config, emit: Emit) -> Headroom:
    """Sample a few training tasks as a step of RL would, and take one update that is thrown away."""
    config = resolve(config)
    require_tasks(config.scenarios)
    config, model = await load_worded(config, emit)
    if model.note:
        emit(Note(model.note))
    training = config.training
    with TemporaryDirectory(prefix="mcprl-") as folder:
        connecting = connect(config.servers, config.tools, emit=emit)
        log = Path(folder) / "vllm.log"
        async with connecting as server, open_engine(config, model, log, emit) as engine:
            require_tasks(config.scenarios, server.tools)
            require_room(config.rollout, server, model, emit)
            server.lend(PolicyLlm(engine).partner)
            scenarios = await _tasks(config, server, emit)
            await engine.ready()
            began = time.perf_counter()
            groups = await Sampler(config, server, engine, emit=emit).groups(
                "train", 0, scenarios, training.group_size, None
            )
            sample_s = time.perf_counter() - began
            judge = open_judge(config.judge, server.tools, config.seed, PolicyLlm(engine))
            scored = [await score_held_out(group, Verifier(server.tools), judge) for group in groups]
            update_s = await _update_s(config, model, engine, groups) if training.steps else 0.0
            price = await judge.forecast(training.steps * training.scenarios_per_step, groups[0])
    solved = [fmean(bool(score.success) for score in scores) if scores else None for scores in scored]
    return Headroom(groups, solved, sample_s, update_s, _minutes(config, groups, sample_s, update_s), price)


async def _tasks(config: Config, server: Server, emit: Emit) -> Sequence[Scenario]:
    """A few training tasks: of the configured pack, or new ones."""
    if config.scenarios.pack:
        pack = require_splits(load_pack(config.scenarios.pack))
        scenarios = [rewarded(each, server.scoring) for each in pack.train[:_TASKS]]
        require_behind(scenarios, server)
        return scenarios
    few = {"train": min(_TASKS, config.scenarios.train), "val": 1, "test": 1, "test_forms": 0}
    pack = await generate(server, config.scenarios.model_copy(update=few), config.seed, emit)
    return [rewarded(each, server.scoring) for each in pack.train[:_TASKS]]


async def _update_s(config: Config, model: LoadedModel, engine: Engine, groups: Sequence[Group]) -> float:
    """The seconds of a step's update, by one on these rollouts with made-up rewards, so that each has a signal."""
    taken = groups[: config.training.scenarios_per_step]
    rewarded = [
        RewardedGroup(group.trajectories, [float(n % 2) for n in range(len(group.trajectories))]) for group in taken
    ]
    batch = make_batch(rewarded, config.training)
    if not batch.rows_B:
        return 0.0
    trainer = open_trainer(model, config.training)
    async with engine.paused():
        began = time.perf_counter()
        await in_update_thread(partial(update, trainer, batch, config.rollout.temperature))
    return (time.perf_counter() - began) * config.training.scenarios_per_step / len(taken)


def _minutes(config: Config, groups: Sequence[Group], sample_s: float, update_s: float) -> float:
    """The minutes that the whole run takes if it takes all its steps at the measured speed."""
    training, scenarios = config.training, config.scenarios
    a_step = training.scenarios_per_step * training.group_size
    validations = 2 + (training.steps + training.warm_start_steps) / training.eval_every
    tests = _TESTS * (scenarios.test + scenarios.test_forms) * config.eval.rollouts
    rollouts = training.steps * a_step + validations * scenarios.val + tests
    supervised = training.warm_start_steps * training.warm_start_plans / a_step
    sampling = rollouts * sample_s / max(1, sum(len(group.trajectories) for group in groups))
    return (sampling + (training.steps + supervised) * update_s) / 60


def show(screen: Console, headroom: Headroom, group_size: int) -> None:
    """Three rollouts, how many tasks are solved never, sometimes and always, what follows, and what it will take."""
    for group, solved in list(zip(headroom.groups, headroom.solved, strict=True))[:_SHOWN]:
        trajectory = group.trajectories[0]
        rate = "not scored" if solved is None else f"{solved:.0%} of {group_size} solved"
        screen.print(f"\n[bold]{escape(group.scenario.request)}[/] [dim]({rate})[/]")
        for call in trajectory.calls:
            screen.print(f"    [cyan]{escape(spelled(Call(call.tool, call.arguments or {})))}[/]", soft_wrap=True)
        screen.print(f"    {escape(trajectory.answer or f'({trajectory.stop})')}")
    shares = headroom.shares
    counts = ", ".join(f"{count} {name}" for name, count in shares.items())
    tasks = f"{counted(sum(shares.values()), 'task')}, {counted(group_size, 'rollout')} each"
    screen.print(f"\nof {tasks}, the base model solves: {counts}")
    screen.print(advice(shares), soft_wrap=True)
    speed = f"{headroom.sample_s:.1f} s for {counted(len(headroom.groups) * group_size, 'rollout')}"
    update = f", {headroom.update_s:.1f} s for an update" if headroom.update_s else ""
    screen.print(
        f"time: about {counted(round(headroom.minutes), 'minute')} at most after the tasks are made ({speed}{update})"
    )
    screen.print(f"money: {escape(headroom.judge) if headroom.judge else 'none'}")


def advice(shares: dict[str, int]) -> str:
    """What RL can learn from tasks with such shares."""
    total = max(1, sum(shares.values()))
    learnable = f"RL learns from tasks that are solved sometimes: {shares['sometimes'] / total:.0%} of them here"
    if shares["always"] == total:
        return f"{learnable}. There is nothing to gain: the base model solves them all"
    if shares["never"] == total:
        return f"{learnable}. RL alone has nothing to begin with; --recipe sft+rl shows it verified plans first"
    return learnable
