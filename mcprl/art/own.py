"""`train_adapter`: the loop of `train.py` with what lies outside of it, which are parts of the user's own and benches.

await train_adapter(config, own=OwnParts(judge=reward, rollout=play))
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcprl.benches.taking import require_benches, take_benches
from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.events import Emit, ignore
from mcprl.judges import OWN, Judge, require_judge
from mcprl.judges.own import Reward, own_judge
from mcprl.judges.pairwise import compare_answers
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import LoadedModel
from mcprl.rollout import Converse
from mcprl.runs.journal import Journal
from mcprl.runs.report import Report
from mcprl.train import train
from mcprl.types import Adapter

if TYPE_CHECKING:
    from mcprl.art.playing import Play


@dataclass(frozen=True)
class OwnParts:
    """What takes the place of a run's own parts.

    `judge` is a function from a `Scenario` and a `Trajectory` to a reward, or an object with the methods of
    `mcprl.judges.Judge`. It scores what is trained on; the held-out test stays the verifier's wherever a task has
    checks. `rollout` is `async def play(client, session, messages, tools)`: it talks to OpenAI's `client`, makes its
    calls in the `session` of the live server, and returns when it is done. A run with a judge of its own is resumed
    with it.
    """

    judge: Judge | Reward | None = None
    rollout: "Play | None" = None

    def checked(self, config: Config) -> Config:
        """The settings of a run with these parts: no call is given to a rollout of the user's own. Raises what would
        keep its judge from judging (`require_judge`), or its benches from being taken (`require_benches`)."""
        require_benches(config.training.bench)
        if self.rollout is not None:
            config = config.model_copy(update={"training": config.training.model_copy(update={"given_calls": 0})})
        if self.judge is None:
            require_judge(config.judge)
            return config
        return config.model_copy(update={"judge": config.judge.model_copy(update={"name": OWN})})

    @property
    def judging(self) -> Judge | None:
        """The judge in place of the configured one, if there is one."""
        return own_judge(self.judge) if self.judge is not None else None

    def conversing(self, config: Config, model: LoadedModel, engine: Engine) -> dict[str, Any]:
        """The `Sampler`'s `converse`, if the rollouts are the user's own. Raises `MissingExtra`."""
        if self.rollout is None:
            return {}
        from mcprl.art.playing import played

        converse: Converse = played(self.rollout, config, model, engine)
        return {"converse": converse}

    async def measure(
        self, config: Config, journal: Journal, engine: Engine, step: int, adapter: Adapter | None, emit: Emit
    ) -> None:
        """Have a judge compare the answers of a run without a server (`compare_answers`), and the trained model take
        the configured benchmarks of others (`take_benches`)."""
        if config.task:
            await compare_answers(config, journal, PolicyLlm(engine), step if adapter else 0, emit)
        await take_benches(config, journal, engine, step, adapter, emit)


async def train_adapter(
    config: Config,
    resume: str | Path | None = None,
    emit: Emit = ignore,
    accept_tool_changes: bool = False,
    own: OwnParts = OwnParts(),
) -> Report:
    """Train an adapter for the configured servers and prove what it gained; returns the report of the run.

    `resume` names the folder of a stopped run, whose own configuration is used (`mcprl.runs.resuming`). It goes on with
    tools that have changed only if told so. `own` are parts of the caller's. Each `McprlError` says what to do.
    """
    return await train(config, own, resume, emit, accept_tool_changes)
