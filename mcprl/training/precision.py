"""What bfloat16 does to an update, measured on the run's own rows before the first one, and whether it is used.

The two kinds of steps want different things. A policy gradient step compares its log-probabilities with the sampler's,
so every nat that bfloat16 adds is off-policy noise in the importance ratios. A supervised step has no sampler to agree
with: it needs the direction of the gradient, which differs far more between two rows (1.2 to 1.4 of its length on
nano) than between bfloat16 and float32 (0.03).
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
import transformers
from jaxtyping import Float
from torch import Tensor

from mcprl.files import cache_folder, write_whole
from mcprl.models.load import LoadedModel, version_of
from mcprl.models.packing import LARGE, is_shared, multiplies_bf16
from mcprl.training import trie
from mcprl.training.forward import Forward
from mcprl.training.out_of_memory import in_smaller_bins, is_out_of_memory
from mcprl.types import Row

GAP = 0.005
"""Nats per token by which bfloat16 may move the log-probabilities of policy gradient steps on average."""
GRADIENT_ERROR = 0.1
"""The length of the gradient's error by that of the gradient, in supervised steps."""
ROWS = 4
"""Rows of a trial."""
LARGE_ROWS = 2
"""Rows of a large model's, whose 4 rows took four minutes on two cores, beside a step of 90 seconds (1.5B)."""


@dataclass(frozen=True)
class Precision:
    """What bfloat16 does: |log-probability - float32's| in nats per token, and |gradient - float32's| / |float32's|."""

    bf16_gap_mean: float
    bf16_gap_max: float
    bf16_gradient_error: float

    def suits(self, supervised: bool) -> bool:
        """Whether a step takes bfloat16: it is near enough to float32 in what the step needs.

        How fast it is has no say, since equal runs must make equal choices: CPUs with instructions for it are faster.
        """
        return self.bf16_gradient_error <= GRADIENT_ERROR if supervised else self.bf16_gap_mean <= GAP


_FIGURES = tuple(field.name for field in fields(Precision))


class Trial:
    """How a run's steps compute, chosen by its first rows: whether they share prefixes, and whether in bfloat16.

    `autocast` is the setting `training.autocast`. The trial is made once in a run: `state` is saved with its adapters,
    so that a resumed run goes on as it began. Where it takes minutes, it is made once on a machine and kept in `place`.
    """

    def __init__(self, forward: Forward, autocast: str, place: Path | None = None) -> None:
        self.forward, self.autocast, self.place = forward, autocast, place
        self.measures = autocast == "auto" and cpu_has_bf16(forward.model)
        self.state: dict[str, Any] = {}

    def choose(self, parameters: Iterable[Tensor], rows: Sequence[Row], supervised: bool) -> dict[str, float]:
        """Set the forward pass for a step on these rows. Returns the figures of the trial if they are the first."""
        figures: dict[str, float] = {}
        if not self.state and (kept := self._kept()):
            self.state, figures = kept["state"], kept["figures"]
        elif not self.state:
            few = sample(rows)[: LARGE_ROWS if self.place else ROWS]
            if self.forward.shares:
                figures |= self._try_sharing(few)
            if self.measures:
                work = partial(measure, self.forward, list(parameters), few)
                precision, figures["bf16_speedup"] = in_smaller_bins(self.forward, few, work)
                self.state = asdict(precision)
                figures |= self.state
            self.state["shares"] = self.forward.shares
            self._keep(figures)
        self.forward.shares = self.state["shares"]
        measured = self.measures and self.state.keys() >= {*_FIGURES}  # not if the run began on another machine
        suits = measured and Precision(**{name: self.state[name] for name in _FIGURES}).suits(supervised)
        self.forward.bf16 = self.autocast == "bf16" or suits
        return figures

    @property
    def takes_long(self) -> bool:
        """Whether the next step makes a trial that takes as long as a step does."""
        return bool(self.place) and not self.state and not self._kept()

    def _kept(self) -> dict[str, Any]:
        try:
            return json.loads(self.place.read_text()) if self.place else {}
        except (OSError, ValueError):
            return {}

    def _keep(self, figures: Mapping[str, float]) -> None:
        if self.place:
            with suppress(OSError):  # the next run makes a trial again
                self.place.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.place, json.dumps({"state": self.state, "figures": figures}).encode())

    def _try_sharing(self, rows: Sequence[Row]) -> dict[str, float]:
        """What the rows show of sharing: nothing if they do not fit into memory, which the step itself will cure."""
        try:
            return {"sharing_gap": self.forward.try_sharing(rows)}
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return {}


def place_of(loaded: LoadedModel, autocast: str) -> Path | None:
    """The file of the user's cache for the trial of a large model on this machine. A small one's takes a second, and is
    of each run's own rows, so that a run does not depend on those before it."""
    if sum(parameter.numel() for parameter in loaded.model.parameters()) < LARGE:
        return None
    device = loaded.model.device
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()
    parts = [version_of(loaded), autocast, machine, torch.__version__, transformers.__version__]
    return cache_folder() / "steps" / f"{sha256(json.dumps(parts).encode()).hexdigest()[:16]}.json"


def cpu_has_bf16(model: Any) -> bool:
    """Whether the model has its weights in float32 on a CPU that multiplies bfloat16. Packed ones keep their type."""
    suits = model.device.type == "cpu" and model.dtype == torch.float32 and not is_shared(model)
    return suits and multiplies_bf16()


def sample(rows: Sequence[Row]) -> list[Row]:
    """Some of a step's rows that share what rows of the step share."""
    longest = max(len(row.ids) for row in rows)
    indices = trie.bins([row.ids for row in rows], 2 * longest)[0]
    return [rows[i] for i in indices]


def measure(forward: Forward, parameters: Iterable[Tensor], rows: Sequence[Row]) -> tuple[Precision, float]:
    """Compute the rows and the gradient of their mean log-probability in float32 and in bfloat16, twice in turn.

    Returns also how many times as fast bfloat16 was, in seconds of the processor.
    """
    trained, runs = list(parameters), dict[bool, list[tuple[Tensor, Tensor, float]]]()
    before = forward.bf16
    try:
        for bf16 in (False, True, False, True):
            forward.bf16 = bf16
            runs.setdefault(bf16, []).append(_run(forward, trained, rows))
    finally:
        forward.bf16 = before
    (logprobs, gradient, _), (rough, rough_gradient, _) = runs[False][0], runs[True][0]
    apart = (rough - logprobs).abs()
    slow, fast = (min(seconds for _, _, seconds in runs[bf16]) for bf16 in (False, True))
    error = float((rough_gradient - gradient).norm() / gradient.norm().clamp(min=1e-30))
    return Precision(float(apart.mean()), float(apart.max()), error), slow / fast


def _run(
    forward: Forward, parameters: Sequence[Tensor], rows: Sequence[Row]
) -> tuple[Float[Tensor, " T"], Float[Tensor, " P"], float]:
    """The rows' log-probabilities in the bins' order, the gradient of their mean, and the seconds that both took."""
    for parameter in parameters:  # a run that did not fit into memory may have left some
        parameter.grad = None
    began, parts = time.process_time(), list[Tensor]()  # of the processor: other processes do not count
    for part in forward.bins(rows):
        logprobs = torch.cat(part.logprobs_B)
        logprobs.sum().backward()
        parts.append(logprobs.detach())
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    for parameter in parameters:
        parameter.grad = None
    return torch.cat(parts), flat, time.process_time() - began
