"""A model that is sampled as through OpenAI's client, and trained on exactly what was sampled.

    async with TrainableModel("shop", base_model="nano") as model, connect([ServerConfig(target=URL)]) as server:
        group = await TrajectoryGroup(model.rollout(scenario, server) for _ in range(8))
        judged = await ruler_score_group(group, "openai/o4-mini")
        await model.train([judged])

Every `Choice` bears the token ids that the engine saw and sampled, with their log-probabilities; training takes those
and nothing else. Needs the extras `train` and `llm`.
"""

import hashlib
import json
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

from mcprl.art.groups import ArtTrajectory, TrajectoryGroup, as_message, as_tool
from mcprl.config import Config, RolloutConfig, ServerConfig, TrainingConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError, MissingExtra, ServerError, TrainingError
from mcprl.judges.verifier import Verifier
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import LoadedModel, load_model
from mcprl.rollout import rollout
from mcprl.servers.server import connect
from mcprl.training.advantages import advantages
from mcprl.training.rows import certificate, training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, Completion, CompletionRequest, Group, Message, Row, Scenario, ToolServer, Trajectory

try:
    from openai.types.chat import ChatCompletion, ChatCompletionMessage
    from openai.types.chat.chat_completion import Choice, ChoiceLogprobs
    from openai.types.chat.chat_completion_token_logprob import ChatCompletionTokenLogprob
except ImportError:
    raise MissingExtra("openai", "llm") from None

_REMEMBERED = 8_192  # conversations whose ids are kept, so that their next turn extends them


class TrainableModel:
    """A policy with a LoRA of its own, kept in `runs_dir/project/name`: a model of the same name goes on where it was.

    `config` holds the settings of the model, engine and training; `base_model` wins over its `model.name`. Close it, or
    use it as a context manager. Raises `ModelError` on first use where the base model cannot be loaded.
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
        self.config = config or Config()
        self.folder = Path(runs_dir) / project / name
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
        """Free the engine. What was trained stays in `folder`."""
        if self._ready:
            await self._ready[1].close()
            self._ready = None

    async def get_step(self) -> int:
        """How often the model was trained."""
        await self._open()
        return self._adapter.step if self._adapter else 0

    def get_inference_name(self) -> str:
        """What to give as `model` to the client; it samples this model, whatever is given."""
        return self.name

    def openai_client(self) -> Any:
        """An object with `chat.completions.create(...)` as OpenAI's asynchronous client has it, in this process.

        It takes `messages`, `tools`, `temperature`, `max_tokens` or `max_completion_tokens`, and `seed`.
        """
        return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=self._create)))

    async def sample(self, request: CompletionRequest, base: bool = False) -> Completion:
        """One turn of the newest weights, or of the base model: what rollouts, client and judge are made of."""
        engine = (await self._open())[1]
        named = self._adapter.name if self._adapter and not base else None
        return await engine.complete(replace(request, adapter=named))

    def judge(self) -> PolicyLlm:
        """The base model, its adapter off, as a judge: `ruler_score_group(group, model.judge())`."""
        return PolicyLlm(lambda: _Engine(self, base=True))

    async def rollout(
        self,
        scenario: Scenario,
        server: ToolServer | str,
        *,
        config: RolloutConfig | None = None,
        seed: int | None = None,
    ) -> ArtTrajectory:
        """One rollout of a scenario on the live server, with a `Choice` for each turn of the model.

        `server` is what `connect` gave, or a URL or command, to which this rollout then connects by itself. The reward
        is what the scenario's checks say, 0 where it has none: RULER replaces it. Never raises for what the model does
        wrong; raises `ServerError` where the rollout broke.
        """
        if isinstance(server, str):
            async with connect([ServerConfig(target=server)]) as connected:
                return await self.rollout(scenario, connected, config=config, seed=seed)
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
        """One step of GRPO on the groups' rewards; the next sample is of the new weights. Returns the step's metrics.

        `None` stands for a group whose judge failed. Groups without a difference in rewards teach nothing: they are
        counted as `dropped_groups`, and where there are no others the weights stay as they are. Raises `ConfigError`
        where a `Choice` bears no token ids, `TrainingError` where the update cannot be made.
        """
        _, engine, trainer = await self._open()
        # What is trained on may have been sampled long ago: how far the model has moved since is its owner's to judge.
        trainer.config = (config or self.config.training).model_copy(update={"max_sampler_gap": math.inf})
        given = [group for group in groups if group is not None]
        rows_B: list[tuple[Row, float]] = []
        used: list[Trajectory] = []
        warmth: set[float] = set()
        dropped = 0
        for p, group in enumerate(given):
            centred = advantages(_rewards(group), trainer.config.advantage_scale, trainer.config.signal_tolerance)
            sampled = [_sampled(tried, f"{p}/{g}", warmth) for g, tried in enumerate(group)]
            if centred is None:
                dropped += 1
                continue
            used += sampled
            for tried, advantage in zip(sampled, centred, strict=True):
                rows_B += [(row, advantage) for row in training_rows(tried)]
        metrics = {"groups": float(len(given)), "dropped_groups": float(dropped)}
        if not rows_B:
            return metrics
        if len(warmth) > 1 or not all(warmth):
            raise TrainingError(f"the groups were sampled at temperatures {sorted(warmth)}; expected one above 0")
        share = len(used) / sum(map(len, given))
        update = lambda: trainer.update(rows_B, min(warmth), certificate([r for r, _ in rows_B], used), share)  # noqa: E731
        metrics |= await anyio.to_thread.run_sync(update)
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
        loaded = load_model(self.config.model.model_copy(update={"name": self.base_model}))
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
        said = [as_message(item) for item in messages]
        at = max((n for n, message in enumerate(said) if message["role"] == "assistant"), default=-1) + 1
        request = CompletionRequest(
            tuple(said),
            tuple(as_tool(tool) for tool in tools or ()),
            self._contexts.get(_key(said[:at], tools), ()) if at else (),
            max_completion_tokens or max_tokens or self.config.rollout.max_tokens,
            temperature,
            random.getrandbits(48) if seed is None else seed,
        )
        completion = await self.sample(request)
        self._contexts[_key([*said, completion.message], tools)] = completion.prompt_ids + completion.completion_ids
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
    """A model as the engine of a rollout: always its newest weights, or always its base."""

    def __init__(self, model: TrainableModel, base: bool = False) -> None:
        self._model, self._base = model, base

    async def complete(self, request: CompletionRequest) -> Completion:
        return await self._model.sample(request, self._base)

    async def ready(self) -> None:
        """At once: the model makes its engine when it is first sampled."""

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_adapter(self, adapter: Adapter) -> None:
        raise NotImplementedError("a TrainableModel loads its own adapters")

    async def close(self) -> None:
        """Nothing: the model is its owner's to close."""


def as_choice(completion: Completion, temperature: float) -> Choice:
    """A turn as OpenAI's `Choice`, with vLLM's names for the ids: `prompt_token_ids`, `token_ids`."""
    scored = zip(completion.completion_ids, completion.logprobs, strict=True)
    content = [ChatCompletionTokenLogprob(token=f"token_id:{t}", logprob=p, top_logprobs=[]) for t, p in scored]
    more: dict[str, Any] = {
        "prompt_token_ids": list(completion.prompt_ids),
        "token_ids": list(completion.completion_ids),
        "policy_step": completion.policy_step,
        "temperature": temperature,
    }
    return Choice(
        index=0,
        finish_reason=completion.finish_reason,
        message=ChatCompletionMessage.model_validate(completion.message),
        logprobs=ChoiceLogprobs(content=content),
        **more,
    )


def _sampled(tried: ArtTrajectory, name: str, warmth: set[float]) -> Trajectory:
    """A trajectory as the trainer knows it. Adds the temperatures of its turns to `warmth`."""
    turns: list[Completion] = []
    for item in tried.messages_and_choices:
        if isinstance(item, dict):
            continue
        prompt, ids = getattr(item, "prompt_token_ids", None), getattr(item, "token_ids", None)
        content = getattr(getattr(item, "logprobs", None), "content", None)
        if not prompt or not ids or not content or len(content) != len(ids):
            raise ConfigError(
                "a Choice bears no token ids, so that it cannot be trained on as it was sampled; sample it with "
                "rollout(...) or model.openai_client() of the model that is trained"
            )
        warmth.add(float(getattr(item, "temperature", 1.0)))
        logprobs = tuple(entry.logprob for entry in content)
        turns.append(Completion(as_message(item), tuple(prompt), tuple(ids), logprobs, item.finish_reason))
    if not turns:
        raise ConfigError("a trajectory holds no Choice: there is nothing that the model said; keep the Choice objects")
    return Trajectory(name, name, tuple(tried.messages()), tuple(turns))


def _rewards(group: TrajectoryGroup) -> list[float]:
    rewards = [tried.reward for tried in group]
    if not all(map(math.isfinite, rewards)):
        raise ConfigError(f"rewards must be finite numbers, got {rewards}")
    return rewards


def _key(messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None) -> str:
    """What tells a conversation from another: what was said, called and returned, and the tools."""
    said = [
        [
            message["role"],
            message.get("content") or "",
            [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls") or ()],
        ]
        for message in messages
    ]
    return hashlib.sha256(json.dumps([said, list(tools or ())], default=str).encode()).hexdigest()
