"""A model that is sampled with OpenAI's client, and trained on exactly what was sampled.

    async with TrainableModel("shop", base_model="nano") as model, connect([ServerConfig(target=URL)]) as server:
        group = await TrajectoryGroup(model.rollout(scenario, server) for _ in range(8))
        judged = await ruler_score_group(group, "openai/o4-mini")
        await model.train([judged])

Every `Choice` has the token ids that the engine saw and sampled, with their log-probabilities. Training uses those
alone. Needs the extras `train`, `llm` and `serve`.
"""

import random
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import anyio
import anyio.to_thread
import httpx2

from mcprl.art.backends import LocalBackend, ModelBackend, ModelConnection
from mcprl.art.bodies import as_body
from mcprl.art.choices import as_choice
from mcprl.art.groups import ArtTrajectory, TrajectoryGroup
from mcprl.art.log import append, best_step, measured
from mcprl.art.policy import ServedPolicy, ServedTransport
from mcprl.art.updates import nothing_trained, updated
from mcprl.config import Config, RolloutConfig, ServerConfig, TrainingConfig
from mcprl.errors import ConfigError, MissingExtra, ServerError
from mcprl.events import ignore
from mcprl.judges.verifier import Verifier
from mcprl.llm.policy import PolicyLlm
from mcprl.rollout import rollout
from mcprl.servers.server import Server, connect
from mcprl.serving.demonstrations import TrainSFTConfig
from mcprl.serving.groups import UPDATE_SETTINGS
from mcprl.serving.model import BASE, LATEST
from mcprl.serving.sampling import EXACT
from mcprl.text import as_folder_name, shortened
from mcprl.types import Group, Scenario, ToolServer

try:
    from openai import AsyncOpenAI
except ImportError:
    raise MissingExtra("openai", "llm") from None

_IN_PROCESS = "http://in-process/v1"


class TrainableModel:
    """A policy with a LoRA of its own, kept in `runs_dir/project/name`: a model of the same name continues from there.

    `backend` is where it is sampled and trained, this process by default. `config` holds the settings of the model,
    engine and training; `base_model` wins over its `model.name`. At a `RemoteBackend` those are the server's. Close it,
    or use it as a context manager. Raises `ModelError` on first use if the base model cannot be loaded.
    """

    def __init__(
        self,
        name: str,
        project: str = "",
        base_model: str | None = None,
        backend: ModelBackend | None = None,
        *,
        config: Config | None = None,
        runs_dir: str | Path = "runs",
    ) -> None:
        self.name, self.project = name, project
        self.backend: ModelBackend = backend or LocalBackend()
        config = config or Config()
        self._asked_for, self.config = base_model, _of(config, base_model or config.model.name)
        self._runs_dir = Path(runs_dir)
        _folder_name(project)
        _folder_name(name)
        self._connection: ModelConnection | None = None
        self._opening = anyio.Lock()

    @property
    def folder(self) -> Path:
        """Where adapters and logs are kept on this machine."""
        path = self.backend.path if isinstance(self.backend, LocalBackend) else None
        return (path or self._runs_dir) / self.project / self.name

    @property
    def base_model(self) -> str:
        """What is trained: nano by default; at a `RemoteBackend` the server's, once it is known."""
        return self.config.model.name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def register(self, backend: ModelBackend) -> None:
        """Take this backend, and connect to it. Raises `ConfigError` if the model is in use at another."""
        if self._connection and backend is not self.backend:
            raise ConfigError(f"the model {self.name!r} is in use at another backend; close() it first")
        self.backend = backend
        await self._open()

    async def close(self) -> None:
        """Free the engine. Adapters stay in `folder`."""
        if self._connection:
            await self._connection.close()
            self._connection = None

    async def get_step(self) -> int:
        """The number of training steps so far."""
        return (await (await self._open()).get("/_checkpoints"))["latest"]

    def get_inference_name(self, step: int | None = None) -> str:
        """The `model` argument for the client: the newest adapter, or the kept one of that step."""
        name = self._connection.name if self._connection else self.name
        return LATEST if step is None else f"{name}@{step}"

    def openai_client(self) -> AsyncOpenAI:
        """OpenAI's own asynchronous client. Its choices carry token ids and log-probabilities.

        It speaks to the app that `mcprl serve` runs, whose refusals it gets: docs/python.md lists what is supported.
        """
        transport = httpx2.AsyncClient(transport=ServedTransport(self._open))
        return AsyncOpenAI(
            base_url=_IN_PROCESS,
            api_key="in-process",
            http_client=transport,
            max_retries=0,
            default_headers={EXACT: "true"},
        )

    @property
    def inference_base_url(self) -> str:
        """The address for clients of your own. Raises `ConfigError` for a model in this process, which has none."""
        return self._at_an_address().address

    @property
    def inference_api_key(self) -> str:
        """The key for clients of your own. Raises `ConfigError` for a model in this process."""
        return self._at_an_address().key

    def litellm_completion_params(self, step: int | None = None) -> dict[str, Any]:
        """Arguments for `litellm.completion` that sample this model, at the temperature that training expects: the
        newest adapter, or the kept one of that step. Raises `ConfigError` for a model in this process, which has no
        address."""
        there = self._at_an_address()
        name = f"hosted_vllm/{self.get_inference_name(step)}"  # litellm's word for any endpoint of OpenAI's shape
        return {"model": name, "base_url": there.address, "api_key": there.key, "temperature": 1.0}

    def judge(self) -> PolicyLlm:
        """The base model, its adapter off, as a judge: `ruler_score_group(group, model.judge())`."""
        return PolicyLlm(ServedPolicy(self._open, BASE))

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
        if isinstance(server, Server):
            server.lend(self.judge().partner)
        learner = (await self._open()).learner
        config = config or (learner.model.rollout if learner else self.config.rollout)
        seed = random.getrandbits(48) if seed is None else seed
        policy = ServedPolicy(self._open, LATEST, uuid4().hex)
        trajectory = await rollout(scenario, server, policy, config, name=scenario.id, seed=seed, adapter=None)
        if trajectory.stop == "error":
            raise ServerError(trajectory.error)
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

        `config` has the settings of this update. `None` stands for a group whose judge failed. Groups without a
        difference in rewards are counted as `dropped_groups`; if there are no others, the weights stay as they are, and
        the warning `NothingTrained` says why. Raises `ConfigError` for a `Choice` that was not sampled here, with its
        place, and `TrainingError` if the update fails.
        """
        judged = [group for group in groups if group is not None]
        if not any(map(len, judged)):
            nothing_trained("it was given no trajectory")
            return {"groups": float(len(judged)), "dropped_groups": 0.0}
        settings = config.model_dump(include=set(UPDATE_SETTINGS)) if config else {}
        body = {"groups": [{"trajectories": list(map(as_body, group))} for group in judged], "config": settings}
        return await updated(await self._open(), "/_train_model", body)

    async def train_sft(
        self, trajectories: Iterable[ArtTrajectory], config: TrainSFTConfig | None = None
    ) -> dict[str, float]:
        """Supervised steps on the assistant's turns of the trajectories, whoever wrote them: one pass, in their order,
        after which the new adapter is sampled. Returns the metrics of the steps as those of one.

        Rewards are ignored. Without trajectories the weights stay as they are, and the warning `NothingTrained`
        says so. Raises `ConfigError` for one without a turn of the assistant, with its place, and `TrainingError` if
        the update fails.
        """
        bodies = list(map(as_body, trajectories))
        if not bodies:
            nothing_trained("it was given no trajectory")
            return {"trajectories": 0.0}
        settings = config.model_dump(exclude_none=True) if config else {}
        return await updated(await self._open(), "/_train_sft", {"trajectories": bodies, "config": settings})

    async def log(
        self, trajectories: Iterable[ArtTrajectory | TrajectoryGroup], split: str = "val"
    ) -> dict[str, float]:
        """Append trajectories, or the groups that hold them, to `folder/log/SPLIT.jsonl`, with the training step.
        Returns the mean reward and the mean of each metric, named `SPLIT/reward`."""
        flat = [one for each in trajectories for one in (each if isinstance(each, TrajectoryGroup) else [each])]
        path = self.folder / "log" / f"{_folder_name(split)}.jsonl"
        await anyio.to_thread.run_sync(append, path, await self.get_step(), flat)
        return {f"{split}/{name}": fmean(values) for name, values in measured(flat).items()}

    async def delete_checkpoints(
        self, best_checkpoint_metric: str = "val/reward", keep: Iterable[int] = ()
    ) -> list[int]:
        """Delete the adapters of all training steps but the newest, the best and those to `keep`. The best is the one
        with the highest mean of a metric that `log` wrote: `SPLIT/NAME`; without such a log there is none. Returns the
        deleted steps."""
        connection = await self._open()
        known = await connection.get("/_checkpoints")
        kept = {known["latest"], *keep}
        best = await anyio.to_thread.run_sync(best_step, self.folder / "log", best_checkpoint_metric, {*known["steps"]})
        deleted = [step for step in known["trained_here"] if step not in kept | {best}]
        for step in deleted:
            await connection.delete(f"/_checkpoints/{step}")
        return deleted

    async def fork(self, name: str, backend: LocalBackend | None = None, step: int | None = None) -> "TrainableModel":
        """A new model on this machine that goes on from this one's newest adapter, or from the kept one of that step.
        Raises `ConfigError` if there is one of that name, or if this one has no such adapter."""
        connection = await self._open()
        other = TrainableModel(
            name, self.project, self.base_model, backend, config=self.config, runs_dir=self._runs_dir
        )
        if any(other.folder.glob("adapters/step-*")):
            raise ConfigError(f"{other.folder} holds a model already; fork to another name")
        if step is None:
            step = int((await connection.get("/_checkpoints"))["latest"])
        if not step:
            raise ConfigError(f"the model {self.name!r} has no adapter yet; train it before you fork it")
        await connection.unpack(f"/_checkpoints/{step}", other.folder / "adapters" / f"step-{step}")
        return other

    async def _open(self) -> ModelConnection:
        async with self._opening:
            if self._connection is None:
                connection = await self.backend.connect(self.name, self.config, self.folder)
                if self._asked_for and Path(connection.base_model).name != Path(self._asked_for).name:
                    await connection.close()
                    raise ConfigError(f"{connection.base_model!r} is served there, and not {self._asked_for!r}")
                self._connection, self.config = connection, _of(self.config, connection.base_model)
        return self._connection

    def _at_an_address(self) -> ModelConnection:
        if not self._connection or not self._connection.address:
            why = f"the model {self.name!r} has no address; register a RemoteBackend(url, key), or use openai_client()"
            raise ConfigError(why)
        return self._connection


def _of(config: Config, base_model: str) -> Config:
    return config.model_copy(update={"model": config.model.model_copy(update={"name": base_model})})


def _folder_name(name: str) -> str:
    """The name, if a folder can have it. Raises `ConfigError`."""
    try:
        return as_folder_name(name)
    except ValueError as error:
        raise ConfigError(f"the name {shortened(repr(name), 200)} cannot be a folder's: {error}") from None
