"""How good a model or an adapter is at a pack's tasks, without training: `mcprl eval`."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from mcprl.config import Config
from mcprl.engines import open_engine
from mcprl.errors import ModelError, ScenarioError
from mcprl.events import Emit, ignore
from mcprl.judges import open_judge
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import load_model
from mcprl.rollout import Sampler
from mcprl.runs import intervals
from mcprl.scenarios.generate import generate
from mcprl.scenarios.pack import load_pack
from mcprl.servers.server import connect
from mcprl.types import Adapter, Scenario, Split, Trajectory


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
    config: Config, adapter: Path | None = None, split: Split = "test", emit: Emit = ignore
) -> Evaluation:
    """Let the configured model, with `adapter` if one is given, do the tasks of `split`, `eval.tries` times each.

    The tasks are those of the configured pack, or new ones. Raises `ServerError`, `ScenarioError`, `EngineError`
    or `ModelError`.
    """
    if adapter is not None and not (adapter / "adapter_model.safetensors").is_file():
        raise ModelError(f"{adapter} holds no adapter; a run keeps its adapters in runs/NAME/adapters/step-N")
    log = Path(config.runs_dir) / "eval-vllm.log"
    model = load_model(config.model)
    async with connect(config.servers, config.tools) as server, open_engine(config, model, log, emit) as engine:
        judge = open_judge(config.judge, server.tools, config.seed, PolicyLlm(engine))
        pack = load_pack(config.scenarios.pack) if config.scenarios.pack else None
        if pack is None:
            pack = await generate(server, config.scenarios, config.seed, emit, PolicyLlm(engine))
        if not pack.fits(server.tools):
            raise ScenarioError(f"{config.scenarios.pack} was made for other tools than this server's; make a new pack")
        if not (scenarios := pack.split(split)):
            raise ScenarioError(f"the pack has no {split} tasks")
        trained = Adapter(str(adapter), 1) if adapter else None
        sampler = Sampler(config, server, engine, emit=emit)
        groups = await sampler.groups("eval", 0, scenarios, config.eval.rollouts, trained)
        results: list[Result] = []
        for group in groups:
            scores = {score.trajectory_id: score for score in await judge.score(group)}
            judged = [bool(score.success) for score in scores.values()]
            first = next((tried for tried in group.trajectories if tried.id in scores), group.trajectories[0])
            why = scores[first.id].explanation if first.id in scores else first.error
            results.append(Result(group.scenario, fmean(judged) if judged else None, first, why))
    kinds: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        kinds[result.scenario.kind].append(result)
    return Evaluation(
        model=config.model.name + (f" with {adapter}" if adapter else ""),
        results=tuple(results),
        overall=_rate(results),
        by_kind={kind: _rate(members) for kind, members in sorted(kinds.items())},
        broken=sum(tried.stop == "error" for group in groups for tried in group.trajectories),
    )


def _rate(results: list[Result]) -> tuple[int, float, float, float]:
    """Tasks whose every try broke count as failures: they must not make a model look better."""
    total = sum(result.success or 0.0 for result in results)
    return len(results), total / len(results), *intervals.wilson(total, len(results))
