"""A policy whose weights live on a server that speaks the Tinker API, and what such a run cannot be asked for."""

import json
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import GenerationConfig

from mcprl.config import POLICY, Config
from mcprl.errors import ConfigError, EngineError, ModelError
from mcprl.files import whole_folder
from mcprl.models.adapters import PREFIX, unwritable
from mcprl.models.load import LoadedModel, end_ids, read_info
from mcprl.models.places import locate
from mcprl.models.tinker.datums import Sum, find_sum
from mcprl.models.tinker.service import Saved, Service
from mcprl.runs.cards import CARD, card

SAVED = "tinker.json"
"""Beside an adapter that a server made: where it keeps the same weights, with the optimizer's state."""
ALPHA = 32.0
"""The alpha of every LoRA of these servers."""
KEY = "TINKER_API_KEY"
"""The environment variable of the server's key, unless `engine.api_key_env` names another."""
_LOSSES = ("cispo", "ppo")


@dataclass(frozen=True)
class RemoteModel(LoadedModel):
    """A policy on a server. Of the model itself only the tokenizer and the shape are here (`model.config`).

    `base` is its name there, `summed` how the server sums losses (`datums`).
    """

    service: Service = field(kw_only=True)
    base: str = field(kw_only=True)
    summed: Sum = field(kw_only=True)
    _live: "_Live" = field(default_factory=lambda: _Live(), kw_only=True)

    @property
    def current(self) -> str:
        """The id of the LoRA in training."""
        return self._live.model

    def begin(self) -> None:
        """Have the server make a fresh LoRA, which changes nothing yet."""
        self._live.model = self.service.create_model(self.base, self.settings.lora_rank, 0)
        self._live.state, self._live.samplers = "", {}

    def save(self, folder: Path, more: dict[str, Any] | None = None) -> None:
        """Write the weights in training to a folder as peft does, with where the server keeps them."""
        saved = self.service.save(self.current, _fresh(folder.name))
        kept = {"server": self.service.base_url, "state": saved.state, "sampler": saved.sampler, **(more or {})}
        try:
            with whole_folder(folder) as draft:
                self.service.download(saved, draft)
                _mend(draft)
                (draft / CARD).write_text(json.dumps(card(self.settings), indent=2, ensure_ascii=False) + "\n")
                (draft / SAVED).write_text(json.dumps(kept, indent=2))
        except (OSError, SafetensorError) as error:
            raise unwritable(folder, error) from error
        self._is(saved.state, saved)  # not before: a server that is lost meanwhile is given the state before

    def load(self, folder: Path, optimizer: bool = True) -> dict[str, Any]:
        """Give the LoRA in training the weights of a saved folder. Returns what else was saved with it."""
        kept = read_saved(folder)
        self.service.load(self.current, kept["state"], optimizer)
        self._is(kept["state"], self.service.save(self.current, _fresh(folder.name)))
        return kept

    def sampler(self, folder: str) -> str:
        """The address of the sampler of a saved folder.

        Some servers load a sampler over the weights of the LoRA that it was saved from (SkyRL on JAX: 4 nats away, and
        not a word). So only that of the weights in training is asked directly; any other is made anew from its state,
        in a LoRA beside it.
        """
        state = read_saved(folder)["state"]
        with self._live.lock:
            if state not in self._live.samplers:
                if not self._live.beside:
                    self._live.beside = self.service.create_model(self.base, self.settings.lora_rank, 0)
                self.service.load(self._live.beside, state)
                self._live.samplers[state] = self.service.save(self._live.beside, _fresh("beside")).sampler
            return self._live.samplers[state]

    def restore(self) -> bool:
        """After the server was lost, make what it has forgotten: the LoRA in training, as it was last saved. Returns
        whether it had been lost."""
        with self._live.lock:
            if not self.service.lost:
                return False
            state = self._live.state
            self.service.forget()
            self._live.beside = ""
            self.begin()
            if state:
                self.service.load(self.current, state)
                self._is(state, self.service.save(self.current, _fresh("again")))
            self.service.lost = False
            return True

    def close(self) -> None:
        """Let the server forget what it has of this run in memory; what was saved stays on its disk."""
        for model in filter(None, (self._live.model, self._live.beside)):
            if not self.service.lost:
                self.service.unload_model(model)
        self.service.close()

    def _is(self, state: str, saved: Saved) -> None:
        """Take down that the weights in training are those of a state, and saved with a sampler just now."""
        beside = f"tinker://{self._live.beside}/"
        self._live.samplers = {
            known: sampler
            for known, sampler in self._live.samplers.items()
            if self._live.beside and sampler.startswith(beside)
        }
        self._live.samplers[state], self._live.state = saved.sampler, state


@dataclass
class _Live:
    """What a server holds now: the LoRA in training (`model`), the state that it was last saved as or loaded from, a
    LoRA `beside` it for other weights, and by state the samplers that can be asked."""

    model: str = ""
    state: str = ""
    beside: str = ""
    samplers: dict[str, str] = field(default_factory=dict[str, str])
    lock: threading.RLock = field(default_factory=threading.RLock)


def _fresh(name: str) -> str:
    """A name that is new on the server."""
    return f"{name}-{secrets.token_hex(4)}"


def read_saved(folder: str | Path) -> dict[str, Any]:
    """Where a server keeps an adapter. Raises `ModelError` for one that no server made."""
    try:
        kept: dict[str, Any] = json.loads((Path(folder) / SAVED).read_text())
        return kept | {"state": str(kept["state"])}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(
            f"{folder} has no {SAVED}: no server of the Tinker API made it, and none takes an adapter; begin without "
            "--start, or sample it with --engine vllm or embedded"
        ) from error


def open_remote(config: Config) -> RemoteModel:
    """The configured model on the server at `engine.base_url`, with a fresh LoRA.

    Raises `ConfigError` for settings that such a server cannot follow, `EngineError` if it is not there or sums losses
    in a way that is not known, and as `read_info` does.
    """
    require_settings(config)
    variable = config.engine.api_key_env if "api_key_env" in config.engine.model_fields_set else KEY
    service = Service(config.engine.base_url, os.environ.get(variable, ""), config.rollout.deadline_s)
    if not service.is_up():
        raise EngineError(
            f"no Tinker server answers at {service.base_url}; start one (docs/cluster.md), or check engine.base_url"
        )
    base = _base(config.model.name, service)
    summed = _probe(service, base, config.model.lora_rank)
    settings, info, path = config.model, read_info(config.model), locate(config.model.name)
    shape: Any = SimpleNamespace(config=info.config, generation_config=_generation(path))
    parts = (shape, info.tokenizer, end_ids(shape, info.tokenizer), settings.name, path, settings, info.mended)
    model = RemoteModel(*parts, service=service, base=base, summed=summed)
    model.begin()
    return model


def require_settings(config: Config) -> None:
    """Raise `ConfigError` for the first setting that these servers cannot follow, with what to use instead."""
    training, model = config.training, config.model
    if not config.engine.base_url:
        raise ConfigError('engine.kind = "tinker" needs the server: --base-url http://127.0.0.1:8077')
    wrong: list[tuple[bool, str]] = [
        (training.loss not in _LOSSES, f'training.loss = "{training.loss}": use cispo or ppo'),
        (training.entropy_coef > 0, "training.entropy_coef: these servers give no entropy; leave it out"),
        (training.kl_coef > 0 and training.loss != "cispo", "training.kl_coef goes with training.loss = cispo alone"),
        (config.rollout.temperature != 1, "rollout.temperature: their log-probabilities are those at 1; leave it at 1"),
        (training.pipeline == "on", "training.pipeline: sampling may load weights over those in training; use off"),
        (training.bench != (), "training.bench: run mcprl bench on the adapter afterwards"),
        (config.judge.model == POLICY, "judge.model = policy: they hold no reply to a schema; name another judge"),
        (model.lora_alpha != ALPHA, f"model.lora_alpha = {model.lora_alpha:g}: theirs is {ALPHA:g}"),
        (model.lora_targets not in ("auto", "all-linear"), "model.lora_targets: they train all linear layers"),
        (model.rslora or model.dora, "model.rslora, model.dora: they train plain LoRA"),
        (model.quantization != "none", "model.quantization: the server holds the base; leave it out"),
    ]
    for is_wrong, why in wrong:
        if is_wrong:
            raise ConfigError(f'{why} (engine.kind = "tinker")')


def _base(name: str, service: Service) -> str:
    """The server's name of the configured model: its only one, or the one of the same name."""
    offered = service.models()
    if len(offered) == 1:
        return offered[0]
    if name in offered:
        return name
    raise ConfigError(f"{service.base_url} has no {name!r}; it has {', '.join(sorted(offered)) or 'no model'}")


def _probe(service: Service, base: str, rank: int) -> Sum:
    """How the server sums the losses of tokens, found with a LoRA that is thrown away."""
    model = service.create_model(base, rank, 0)

    def grad_norm(data: list[dict[str, Any]]) -> float:
        service.forward_backward(model, data, "importance_sampling")
        return service.optim_step(model, 0.0, 0.0).get("grad_norm", 0.0)

    try:
        found = find_sum(grad_norm)
    finally:
        service.unload_model(model)
    if found is None:
        raise EngineError(
            f"{service.base_url} weighs the same row twice as neither twice nor once that row: its losses are summed "
            "in a way that is not known here, so its gradients would not be ours"
        )
    return found


def _generation(path: str) -> Any:
    try:
        return GenerationConfig.from_pretrained(path)
    except (OSError, ValueError):
        return SimpleNamespace(eos_token_id=None)


def _mend(folder: Path) -> None:
    """State the adapter's layers in its configuration: SkyRL leaves them out, and peft would load eight of 28."""
    named = {key.removeprefix(PREFIX).rpartition(".lora_")[0].rpartition(".")[2] for key in load_weights(folder)}
    place = folder / "adapter_config.json"
    stated: dict[str, Any] = json.loads(place.read_text())
    stated |= {"target_modules": sorted(named), "task_type": "CAUSAL_LM", "inference_mode": True}
    place.write_text(json.dumps(stated, indent=2))


def load_weights(folder: Path) -> dict[str, Any]:
    """The weights in an adapter's folder, by name."""
    return load_file(folder / "adapter_model.safetensors")
