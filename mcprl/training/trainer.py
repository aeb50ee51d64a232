"""The update: rows of sampled ids with their advantages in, one optimizer step on the LoRA out.

    rows -> forward over their trie (`forward`) -> loss per token (`loss`) -> backward -> clip -> AdamW

An optimizer step whose loss or gradient is not finite is skipped and counted; three in a row end the training. One that
runs out of memory begins again in smaller bins (`out_of_memory`).
"""

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from mcprl.config import TrainingConfig
from mcprl.errors import ModelError, TrainingError
from mcprl.files import whole_folder
from mcprl.models.adapters import load_adapter_weights, unwritable, write_adapter
from mcprl.models.heap import trim_spare
from mcprl.models.load import LoadedModel
from mcprl.training import loss
from mcprl.training.forward import Bin, Forward
from mcprl.training.metrics import combined
from mcprl.training.objective import PolicyGradient, token_gaps
from mcprl.training.out_of_memory import in_smaller_bins
from mcprl.training.precision import Trial, place_of
from mcprl.training.rows import Certificate
from mcprl.types import Row

WARM_UP = 0.1
"""The fraction of a phase's steps over which its learning rate rises."""
OPTIMIZER = "optimizer.safetensors"
SKIPS_ALLOWED = 2
"""Optimizer steps in a row that may be skipped; one more is an error."""
Objective = Callable[[Bin], tuple[Tensor, dict[str, Tensor]]]
"""The losses (T) of a bin's tokens, and what else is measured of each of them (T), by name."""


class Trainer:
    """Owns the optimizer of a loaded model's adapter. Make a fresh one after the warm start: RL begins with no moments.

    `steps`: those that the phase is to take, over a tenth of which the learning rate rises. `step` counts the optimizer
    steps. Raises `ModelError` if the model cannot be run.
    """

    def __init__(self, loaded: LoadedModel, config: TrainingConfig, steps: int = 100) -> None:
        self.loaded = loaded
        self.model = loaded.model.eval()  # dropout would make the trainer's log-probabilities differ from the sampler's
        self.step, self._warm_up_steps = 0, max(1, round(WARM_UP * steps))
        self.configure(config)
        self._parameters = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        # No weight decay: on a LoRA it would pull towards the base model, which is the KL term's work.
        self._optimizer = torch.optim.AdamW(self._parameters.values(), lr=config.learning_rate, weight_decay=0.0)
        self._skips = 0
        self._cores = torch.get_num_threads()

    def configure(self, config: TrainingConfig) -> None:
        """Apply every setting of `config` to the updates that follow. The optimizer keeps its moments, and
        equal settings leave the bins as small as they have become."""
        if vars(self).get("config") == config:
            return
        self.config = config
        self.forward = Forward(
            self.model, config.share_prefixes, config.bin_tokens, checkpointing=config.gradient_checkpointing
        )
        self._trial = Trial(self.forward, config.autocast, place_of(self.loaded, config.autocast))
        low, high = loss.BOUNDS[config.loss]
        self.clip_low, self.clip_high = config.clip_low or low, config.clip_high or high

    @property
    def note(self) -> str:
        """What a user should know of the next step; empty if nothing."""
        if self.forward.note or not self._trial.takes_long:
            return self.forward.note
        return "the first step computes some of its rows in several ways, once for this model on this machine"

    def update(
        self,
        rows: Sequence[tuple[Row, float]],
        temperature: float = 1.0,
        certificate: Certificate | None = None,
        informative_fraction: float = 1.0,
        on_step: Callable[[dict[str, float]], None] = lambda metrics: None,
        on_gaps: Callable[[dict[str, list[float]]], None] = lambda gaps: None,
    ) -> dict[str, float]:
        """One step of policy gradient on rows with their trajectory's advantage, sampled at `temperature`.

        `informative_fraction`: fraction of the step's rollouts that these rows come from. Dropped groups still count in
        the mean, so a step with little signal takes a small update.

        Returns the step's metrics; `on_step` receives those of each optimizer step, `on_gaps` the `token_gaps` of the
        first, by trajectory id: those of a later one also hold what the first trained. Log-probabilities are in nats;
        `sampler_gap` is |trainer - sampler| per token before the step. Raises `TrainingError` if no row has a trained
        token, the certificate is below 100 %, the gap exceeds `max_sampler_gap`, or three optimizer steps in a row were
        not finite.
        """
        rows = [(row, informative_fraction * advantage) for row, advantage in require_exact(rows, certificate)]
        steps, halvings = list[dict[str, float]](), self.forward.halvings
        figures = self._choose([row for row, _ in rows], supervised=False)
        for minibatch in minibatches(rows, self.config, self.step):
            step, gaps = self._policy_step(minibatch, temperature)
            if not steps:
                check_gap(step["sampler_gap_mean"], self.config.max_sampler_gap)
                on_gaps(token_gaps([row for row, _ in rows], gaps))
            steps.append(step)
            on_step(step)
        metrics = combined(steps) | self._bin_metrics(halvings) | figures
        if certificate:
            metrics["exact_tokens"] = certificate.exactness
        return metrics

    def _policy_step(
        self, rows: Sequence[tuple[Row, float]], temperature: float
    ) -> tuple[dict[str, float], list[tuple[Row, Tensor]]]:
        """One optimizer step of policy gradient; its metrics, and its rows with their tokens' gaps (T_trained)."""
        rows_B = [row for row, _ in rows]
        of_base = partial(self._reference, rows_B, temperature)
        reference_B = in_smaller_bins(self.forward, rows_B, of_base) if self.config.kl_coef else []
        bounds = self.clip_low, self.clip_high
        objective = PolicyGradient(self.config, rows, bounds, reference_B, self.model.device)
        needs_entropy = self.config.entropy_coef > 0
        rate = self.config.learning_rate
        normalization = "sequence" if self.config.loss == "gspo" else self.config.normalization
        metrics, measured = self._optimizer_step(rows_B, objective, temperature, rate, normalization, needs_entropy)
        gaps = [(row, objective.gap_B[i]) for i, row in enumerate(rows_B)]
        return metrics | objective.metrics(measured), gaps

    def supervise(self, rows: Sequence[Row], learning_rate: float) -> dict[str, float]:
        """One step of cross-entropy on the rows' trained tokens: the warm start on verified plans."""
        halvings, figures = self.forward.halvings, self._choose(rows, supervised=True)
        metrics = self._optimizer_step(
            rows, lambda part: (-torch.cat(part.logprobs_B), {}), 1.0, learning_rate, "token"
        )[0]
        return metrics | self._bin_metrics(halvings) | figures

    def _choose(self, rows: Sequence[Row], supervised: bool) -> dict[str, float]:
        """Choose how the step computes; the first one returns the figures that it chose by."""
        torch.set_num_threads(self._cores)  # the embedded engine sets one thread for the process that it samples in
        return self._trial.choose(self._parameters.values(), rows, supervised)

    def _bin_metrics(self, halvings: int) -> dict[str, float]:
        """The size of the bins, and how often it was halved since there were so many `halvings`."""
        return {"bin_tokens": self.forward.max_tokens, "halvings": self.forward.halvings - halvings}

    def save(self, folder: str | Path) -> None:
        """Write the adapter (peft's layout) and the optimizer's state as safetensors: the whole folder, or nothing."""
        folder = Path(folder)
        state: dict[int, dict[str, Tensor]] = self._optimizer.state_dict()["state"]
        names = list(self._parameters)
        moments = {f"{names[i]}/{key}": value for i, kept in state.items() for key, value in kept.items()}
        try:
            with whole_folder(folder) as draft:  # may replace one: a step repeated after a crash
                write_adapter(self.loaded, draft)
                counts = {"step": self.step, "skips": self._skips, "settings": self._settings()}
                kept = json.dumps(counts | {"trial": self._trial.state})
                # One key: of several, safetensors writes any first, and equal states must be equal bytes.
                save_file(moments, draft / OPTIMIZER, {"state": kept})
        except (OSError, SafetensorError) as error:
            raise unwritable(folder, error) from error

    def load(self, folder: str | Path) -> None:
        """Restore a saved folder: the next step is bit for bit what it would have been. Raises `ModelError`."""
        names = list(self._parameters)
        state: dict[int, dict[str, Tensor]] = {}
        try:
            with safe_open(Path(folder) / OPTIMIZER, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 - not a mapping
                    name, _, part = key.rpartition("/")
                    state.setdefault(names.index(name), {})[part] = file.get_tensor(key)
                kept: dict[str, Any] = json.loads(file.metadata()["state"])
        except (OSError, ValueError, LookupError, TypeError, SafetensorError) as error:
            raise ModelError(f"{Path(folder) / OPTIMIZER} cannot be read, or is another model's: {error}") from error
        load_adapter_weights(self.loaded, folder)
        self._optimizer.load_state_dict({"state": state, "param_groups": self._optimizer.state_dict()["param_groups"]})
        self.step, self._skips = kept["step"], 0
        if kept["settings"] == self._settings():
            self._skips, self._trial.state = kept["skips"], kept.get("trial", {})

    def _settings(self) -> str:
        """The settings that decide whether a step is finite: with others, skipped steps are counted anew."""
        return f"{self.config.learning_rate} {self.config.max_grad_norm} {self.config.autocast} {self.model.dtype}"

    def _optimizer_step(
        self,
        rows: Sequence[Row],
        objective: Objective,
        temperature: float,
        learning_rate: float,
        normalization: str,
        needs_entropy: bool = False,
    ) -> tuple[dict[str, float], dict[str, Tensor]]:
        """Forward and backward over bins of rows, then AdamW. Returns the metrics, and what the objective measured."""
        started = time.perf_counter()
        trained_B = [sum(row.mask) for row in rows]
        weight_B = loss.weights(trained_B, normalization)
        work = partial(self._backward, rows, weight_B, objective, temperature, needs_entropy)
        total, measured = in_smaller_bins(self.forward, rows, work)
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters.values(), self.config.max_grad_norm))
        rate = learning_rate * min(1.0, (self.step + 1) / self._warm_up_steps)
        finite = math.isfinite(total) and math.isfinite(norm)
        if finite:
            self._apply_gradients(rate)
        self._optimizer.zero_grad()
        self._count_skip(finite, total, norm)
        seconds, computed = time.perf_counter() - started, self.forward.work(rows)
        metrics = {
            "loss": total,
            "grad_norm": norm,
            "learning_rate": rate,
            "skipped": float(not finite),
            "trained_tokens": float(sum(trained_B)),
            "forwarded_tokens": float(computed.forwarded),
            "unique_tokens": float(computed.unique),
            "padded_tokens": float(computed.padded),
            "tokens_per_s": computed.forwarded / seconds,
            "bf16": float(self.forward.bf16),
            "shares": float(self.forward.shares),
        }
        return metrics, measured

    def _backward(
        self,
        rows: Sequence[Row],
        weight_B: Sequence[float],
        objective: Objective,
        temperature: float,
        needs_entropy: bool,
    ) -> tuple[float, dict[str, Tensor]]:
        """Accumulate the gradients of all bins, beginning with none. Returns the loss, and what was measured (T)."""
        self._optimizer.zero_grad()
        total, parts = 0.0, list[dict[str, Tensor]]()
        for part in self.forward.bins(rows, temperature, needs_entropy):
            weights = [torch.full_like(p, weight_B[i]) for i, p in zip(part.indices, part.logprobs_B, strict=True)]
            losses, measured = objective(part)
            summed = (losses * torch.cat(weights).detach()).sum()
            summed.backward()
            total += float(summed.detach())
            parts.append({name: values.detach() for name, values in measured.items()})
            trim_spare()
        return total, {name: torch.cat([measured[name] for measured in parts]) for name in parts[0]}

    def _apply_gradients(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        self.step += 1

    def _count_skip(self, finite: bool, total: float, norm: float) -> None:
        self._skips = 0 if finite else self._skips + 1
        if self._skips > SKIPS_ALLOWED:
            raise TrainingError(
                f"{self._skips} steps in a row gave loss {total} and gradient norm {norm}; resume with a lower "
                f"--learning-rate (it is {self.config.learning_rate:g}), --autocast off or --dtype float32"
            )

    def _reference(self, rows: Sequence[Row], temperature: float) -> list[Tensor]:
        """The base model's log-probabilities of each row's trained tokens: the same model without its adapter."""
        logprobs: dict[int, Tensor] = {}
        with torch.no_grad(), self.model.disable_adapter():
            for part in self.forward.bins(rows, temperature):
                logprobs |= zip(part.indices, part.logprobs_B, strict=True)
        return [logprobs[i] for i in range(len(rows))]


def require_exact(rows: Sequence[tuple[Row, float]], certificate: Certificate | None) -> list[tuple[Row, float]]:
    """The rows with a trained token. Raises `TrainingError` if there is none, or the certificate is below 100 %."""
    if certificate and certificate.mismatches:
        wrong = f"{certificate.mismatches} of {certificate.trained} tokens"
        raise TrainingError(f"{wrong} would be trained in a context that the engine did not see; expected none")
    trained = [(row, advantage) for row, advantage in rows if any(row.mask)]
    if not trained:
        raise TrainingError("no row has a sampled token to train on; check the step's rollouts in the journal")
    return trained


def check_gap(gap: float, most: float) -> None:
    """Raise `TrainingError` if sampler and trainer differ by more nats a token than `training.max_sampler_gap`."""
    if gap > most:
        raise TrainingError(
            f"sampler and trainer differ by {gap:.3f} nats per token on average, more than max_sampler_gap = {most}: "
            "the engine does not sample from this model; check its dtype, its adapter and its sampling settings"
        )


def minibatches(
    rows: Sequence[tuple[Row, float]], config: TrainingConfig, step: int
) -> Iterator[list[tuple[Row, float]]]:
    """The rows of each optimizer step: all rows `epochs` times, each time shuffled into `minibatches` parts. `step`
    counts the optimizer steps before."""
    for epoch in range(config.epochs):
        order = list(rows)
        if config.minibatches > 1:
            random.Random(step + epoch * config.minibatches).shuffle(order)
        for first in range(min(config.minibatches, len(order))):
            yield order[first :: config.minibatches]
