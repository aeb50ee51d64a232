"""How good a model or an adapter is at a pack's tasks, without training: `mcprl eval`."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from mcprl.config import Config
from mcprl.engines import Show
from mcprl.errors import ModelError, ScenarioError
from mcprl.judges import open_judge
from mcprl.llm.policy import PolicyLlm
from mcprl.prepare import sampling
from mcprl.rollout import rollouts, unfinished
from mcprl.runs import intervals
from mcprl.scenarios.generate import generate
from mcprl.scenarios.pack import load_pack
from mcprl.servers.server import connect
from mcprl.types import Adapter, Group, Scenario, Split, Trajectory


@dataclass(frozen=True)
class Result:
    """One task: its share of successful tries (`None` if all broke), and a try with what the judge said."""

    scenario: Scenario
    success: float | None
    tried: Trajectory
    why: str


@dataclass(frozen=True)
class Evaluation:
    """A model's success on the tasks of one split: overall and by kind of task, as (n, rate, low, high) at 95 %."""

    model: str
    results: tuple[Result, ...]
    overall: tuple[int, float, float, float]
    by_kind: dict[str, tuple[int, float, float, float]]
    broken: int


async def evaluate_pack(
    config: Config, adapter: Path | None = None, split: Split = "test", show: Show = lambda *_: None
) -> Evaluation:
    """Let the configured model, with `adapter` if one is given, do the tasks of `split`, `eval.tries` times each.
    `show` is told what the engine does meanwhile.

    The tasks are those of the configured pack, or new ones. Raises `ServerError`, `ScenarioError`, `EngineError`
    or `ModelError`.
    """
    if adapter is not None and not (adapter / "adapter_model.safetensors").is_file():
        raise ModelError(f"{adapter} holds no adapter; a run keeps its adapters in runs/NAME/adapters/step-N")
    log = Path(config.runs_dir) / "eval-vllm.log"
    async with connect(config.servers, config.tools) as server, sampling(config, log, show) as engine:
        judge = open_judge(config.judge, server.tools, config.seed, PolicyLlm(lambda: engine))
        pack = load_pack(config.scenarios.pack) if config.scenarios.pack else None
        if pack is None:
            pack = await generate(server, config.scenarios, config.seed, own=PolicyLlm(lambda: engine))
        if not pack.fits(server.tools):
            raise ScenarioError(f"{config.scenarios.pack} was made for other tools than this server's; make a new pack")
        if not (scenarios := pack.split(split)):
            raise ScenarioError(f"the pack has no {split} tasks")
        trained = Adapter(str(adapter), 1) if adapter else None
        if trained:
            await engine.load_adapter(trained)
        tried_P_G = await rollouts(
            scenarios,
            config.eval.rollouts,
            server,
            engine,
            config.rollout,
            label=f"eval/{split}",
            seed=config.seed,
            adapter=trained.name if trained else None,
            temperature=config.eval.temperature,
            limit=config.engine.max_batch,
        )
        if note := unfinished([tried for tried_G in tried_P_G for tried in tried_G], config.rollout):
            show("note", {"text": note})
        results: list[Result] = []
        for scenario, tried_G in zip(scenarios, tried_P_G, strict=True):
            scores = {score.trajectory_id: score for score in await judge.score(Group(scenario, tuple(tried_G)))}
            judged = [bool(score.success) for score in scores.values()]
            first = next((tried for tried in tried_G if tried.id in scores), tried_G[0])
            why = scores[first.id].explanation if first.id in scores else first.error
            results.append(Result(scenario, fmean(judged) if judged else None, first, why))
    kinds: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        kinds[result.scenario.kind].append(result)
    return Evaluation(
        model=config.model.name + (f" with {adapter}" if adapter else ""),
        results=tuple(results),
        overall=_rate(results),
        by_kind={kind: _rate(members) for kind, members in sorted(kinds.items())},
        broken=sum(tried.stop == "error" for tried_G in tried_P_G for tried in tried_G),
    )


def _rate(results: list[Result]) -> tuple[int, float, float, float]:
    """Tasks whose every try broke count as failures: they must not make a model look better."""
    total = sum(result.success or 0.0 for result in results)
    return len(results), total / len(results), *intervals.wilson(total, len(results))
