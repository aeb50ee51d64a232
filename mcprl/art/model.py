"""A model that is sampled through an interface like OpenAI's client, and trained on exactly what was sampled.

    async with TrainableModel("shop", base_model="nano") as model, connect([ServerConfig(target=URL)]) as server:
        group = await TrajectoryGroup(model.rollout(scenario, server) for _ in range(8))
        judged = await ruler_score_group(group, "openai/o4-mini")
        await model.train([judged])

Every `Choice` has the token ids that the engine saw and sampled, with their log-probabilities. Training uses those
alone. Needs the extras `train` and `llm`.
"""

import math
import random
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from mcprl.art.choices import as_choice, as_trajectory, conversation_key, temperatures
from mcprl.art.groups import ArtTrajectory, TrajectoryGroup, as_message, as_tool
from mcprl.config import Config, RolloutConfig, ServerConfig, TrainingConfig, as_folder_name
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError, MissingExtra, ServerError, TrainingError
from mcprl.events import ignore
from mcprl.judges.verifier import Verifier
from mcprl.llm.policy import PolicyLlm
from mcprl.models.defaults import with_defaults
from mcprl.models.load import LoadedModel, load_model
from mcprl.rollout import rollout
from mcprl.servers.server import connect
from mcprl.text import shortened
from mcprl.training.step import RewardedGroup, make_batch, update
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, Completion, CompletionRequest, Group, Scenario, ToolServer

try:
    from openai.types.chat import ChatCompletion
except ImportError:
    raise MissingExtra("openai", "llm") from None

_REMEMBERED = 8_192
"""Conversations whose ids are kept, so that their next turn extends them."""


class TrainableModel:
    """A policy with a LoRA of its own, kept in `runs_dir/project/name`: a model of the same name continues from there.

    `config` holds the settings of the model, engine and training; `base_model` wins over its `model.name`. Close it, or
    use it as a context manager. Raises `ModelError` on first use if the base model cannot be loaded.
    """

    def __init__(
        self,
        name: str,
        project: str = "",
        base_model: str = "nano",
        *,
        config: Config | None = None,
        runs_dir: str | Path = "runs",
    ) -> None:
        self.name, self.project, self.base_model = name, project, base_model
        config = config or Config()
        self.config = config.model_copy(update={"model": config.model.model_copy(update={"name": base_model})})
        self.folder = Path(runs_dir) / _folder_name(project) / _folder_name(name)
        self._ready: tuple[LoadedModel, EmbeddedEngine, Trainer] | None = None
        self._opening = anyio.Lock()
        self._adapter: Adapter | None = None
        self._contexts: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Free the engine. Adapters stay in `folder`."""
        if self._ready:
            await self._ready[1].close()
            self._ready = None

    async def get_step(self) -> int:
        """The number of training steps so far."""
        await self._open()
        return self._adapter.step if self._adapter else 0

    def get_inference_name(self) -> str:
        """The `model` argument for the client, which samples this model whatever it is given."""
        return self.name

    def openai_client(self) -> Any:
        """An object with `chat.completions.create(...)` as OpenAI's asynchronous client has it, in this process.

        It takes `messages`, `tools`, `temperature`, `max_tokens` or `max_completion_tokens`, and `seed`.
        """
        return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=self._create)))

    async def sample(self, request: CompletionRequest, base: bool = False) -> Completion:
        """Sample one turn from the newest adapter, or from the base model."""
        engine = (await self._open())[1]
        named = self._adapter.name if self._adapter and not base else None
        return await engine.complete(replace(request, adapter=named))

    def judge(self) -> PolicyLlm:
        """The base model, its adapter off, as a judge: `ruler_score_group(group, model.judge())`."""
        return PolicyLlm(_Engine(self, base=True))

    async def rollout(
        self,
        scenario: Scenario,
        server: ToolServer | str,
        *,
        config: RolloutConfig | None = None,
        seed: int | None = None,
    ) -> ArtTrajectory:
        """One rollout of a scenario on the live server, with a `Choice` for each turn of the model.

        `server` comes from `connect`, or is a URL or a command, to which this rollout connects by itself. The reward is
        the verifier's score, 0 for a scenario without checks; RULER replaces it. Raises `ServerError` if the rollout
        broke, and nothing for what the model does wrong.
        """
        if isinstance(server, str):
            async with connect([ServerConfig(target=server)], emit=ignore) as connected:
                return await self.rollout(scenario, connected, config=config, seed=seed)
        await self._open()
        config = config or self.config.rollout
        seed = random.getrandbits(48) if seed is None else seed
        trajectory = await rollout(scenario, server, _Engine(self), config, name=scenario.id, seed=seed, adapter=None)
        if trajectory.stop == "error":
            raise ServerError(f"a rollout of {scenario.request!r} broke: {trajectory.error}")
        (score,) = await Verifier(tuple(server.tools)).score(Group(scenario, (trajectory,)))
        turns = iter(trajectory.turns)
        messages = [
            as_choice(next(turns), config.temperature) if message["role"] == "assistant" else message
            for message in trajectory.messages
        ]
        return ArtTrajectory(
            messages_and_choices=messages,
            tools=[tool.as_function() for tool in server.tools],
            reward=score.value if scenario.checks else 0.0,
            metrics={"success": bool(score.success), "calls": len(trajectory.calls)} if scenario.checks else {},
            metadata={"scenario_id": scenario.id, "split": scenario.split, "stop": trajectory.stop},
            logs=[score.explanation] if scenario.checks else [],
        )

    async def train(
        self, groups: Iterable[TrajectoryGroup | None], config: TrainingConfig | None = None
    ) -> dict[str, float]:
        """One step of GRPO on the groups' rewards, after which the new adapter is sampled. Returns the step's metrics.

        `config` replaces the model's training settings from this step on. `None` stands for a group whose judge failed.
        Groups without a difference in rewards are counted as `dropped_groups`; if there are no others, the weights stay
        as they are. Raises `ConfigError` for a `Choice` without token ids, `TrainingError` if the update fails.
        """
        _, engine, trainer = await self._open()
        # The rollouts may be old. How far the policy has moved since they were sampled is the caller's to judge.
        trainer.configure((config or self.config.training).model_copy(update={"max_sampler_gap": math.inf}))
        judged = [group for group in groups if group is not None]
        rewarded = [
            RewardedGroup([as_trajectory(each, f"{p}/{g}") for g, each in enumerate(group)], _rewards(group))
            for p, group in enumerate(judged)
        ]
        batch = make_batch(rewarded, trainer.config)
        metrics = {"groups": float(len(judged)), "dropped_groups": float(batch.dropped_groups)}
        if not batch.rows_B:
            return metrics
        sampled_at = {temperature for group in judged for each in group for temperature in temperatures(each)}
        if len(sampled_at) > 1 or not all(sampled_at):
            raise TrainingError(f"the groups were sampled at temperatures {sorted(sampled_at)}; expected one above 0")
        metrics |= await anyio.to_thread.run_sync(update, trainer, batch, min(sampled_at))
        step = await self.get_step() + 1
        adapter = Adapter(str(self.folder / "adapters" / f"step-{step}"), step)
        await anyio.to_thread.run_sync(trainer.save, adapter.path)
        await engine.load_adapter(adapter)
        self._adapter = adapter
        return metrics

    async def _open(self) -> tuple[LoadedModel, EmbeddedEngine, Trainer]:
        async with self._opening:
            if self._ready is None:
                self._ready = await anyio.to_thread.run_sync(self._load)
                if self._adapter:
                    await self._ready[1].load_adapter(self._adapter)
        return self._ready

    def _load(self) -> tuple[LoadedModel, EmbeddedEngine, Trainer]:
        self.config = with_defaults(self.config)
        loaded = load_model(self.config.model)
        engine = EmbeddedEngine(loaded, max_batch=self.config.engine.max_batch)
        trainer = Trainer(loaded, self.config.training)
        steps = [int(path.name.partition("-")[2]) for path in self.folder.glob("adapters/step-*")]
        if steps:
            self._adapter = Adapter(str(self.folder / "adapters" / f"step-{max(steps)}"), max(steps))
            trainer.load(self._adapter.path)
        (self.folder / "adapters").mkdir(parents=True, exist_ok=True)
        return loaded, engine, trainer

    async def _create(
        self,
        *,
        messages: Sequence[Any],
        tools: Sequence[dict[str, Any]] | None = None,
        temperature: float = 1.0,
        max_tokens: int | None = None,
        max_completion_tokens: int | None = None,
        seed: int | None = None,
        model: str = "",
    ) -> ChatCompletion:
        conversation = [as_message(item) for item in messages]
        answered = max((n for n, message in enumerate(conversation) if message["role"] == "assistant"), default=-1) + 1
        request = CompletionRequest(
            tuple(conversation),
            tuple(as_tool(tool) for tool in tools or ()),
            self._contexts.get(conversation_key(conversation[:answered], tools), ()) if answered else (),
            max_completion_tokens or max_tokens or self.config.rollout.max_tokens,
            temperature,
            random.getrandbits(48) if seed is None else seed,
        )
        completion = await self.sample(request)
        context = completion.prompt_ids + completion.completion_ids
        self._contexts[conversation_key([*conversation, completion.message], tools)] = context
        while len(self._contexts) > _REMEMBERED:
            self._contexts.popitem(last=False)
        choice = as_choice(completion, temperature)
        return ChatCompletion(
            id=f"chatcmpl-{random.getrandbits(64):016x}",
            object="chat.completion",
            created=int(time.time()),
            model=self.name,
            choices=[choice],
        )


class _Engine:
    """A model as the engine of a rollout: its newest adapter, or its base."""

    def __init__(self, model: TrainableModel, base: bool = False) -> None:
        self._model, self._base = model, base

    async def complete(self, request: CompletionRequest) -> Completion:
        return await self._model.sample(request, self._base)

    async def ready(self) -> None:
        """Return at once: the model opens its engine when it is first sampled."""

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_adapter(self, adapter: Adapter) -> None:
        raise NotImplementedError("a TrainableModel loads its own adapters")

    async def close(self) -> None:
        """Do nothing: the owner of the model closes it."""


def _rewards(group: TrajectoryGroup) -> list[float]:
    rewards = [trajectory.reward for trajectory in group]
    if not all(map(math.isfinite, rewards)):
        raise ConfigError(f"rewards must be finite numbers, got {rewards}")
    return rewards


def _folder_name(name: str) -> str:
    """The name, if a folder can have it. Raises `ConfigError`."""
    try:
        return as_folder_name(name)
    except ValueError as error:
        raise ConfigError(f"the name {shortened(repr(name), 200)} cannot be a folder's: {error}") from None
