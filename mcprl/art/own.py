"""Parts of the user's own for `train_adapter`: what judges a rollout, and what plays it.

await train_adapter(config, own=OwnParts(judge=reward, rollout=play))
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.judges import OWN, Judge, require_judge
from mcprl.judges.own import Reward, own_judge
from mcprl.models.load import LoadedModel
from mcprl.rollout import Converse

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
        keep its judge from judging (`require_judge`)."""
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


NO_OWN = OwnParts()
"""None of one's own."""
