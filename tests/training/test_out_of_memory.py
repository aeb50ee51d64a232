"""Out of memory in an update: smaller bins, the same step; and a clear line if one rollout alone is too long."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.paths import TESTS
from support.trainers import replaced, same_weights, sampled_batch, tiny_trainer, weights_of

from mcprl.errors import TrainingError
from mcprl.training.trainer import Trainer

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")

ERRORS: dict[str, Callable[[], BaseException]] = {
    "cuda": lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    "cpu": lambda: RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8."),
    "python": lambda: MemoryError(),
}


class Memory:
    """Lets a trainer's layers run out of memory in their call number `fails`, forward or backward."""

    def __init__(self, trainer: Trainer, where: str, fails: set[int], error: str) -> None:
        self.calls, self._fails, self._error = 0, fails, error
        trainer._trial.state = {"shares": trainer.forward.shares}  # as after a first step, whose trial is not counted
        layer: Any = trainer.model.get_base_model().get_submodule("model.layers.0")
        if where == "forward":
            layer.register_forward_pre_hook(self._count)
        else:
            next(p for p in layer.parameters() if p.requires_grad).register_hook(self._count)

    def _count(self, *_: Any) -> None:
        self.calls += 1
        if self.calls in self._fails:
            raise ERRORS[self._error]()


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("where", ["forward", "backward"])
@pytest.mark.parametrize("share", [True, False])
def test_an_update_that_runs_out_of_memory_in_a_later_bin_gives_the_same_weights(
    error: str, where: str, share: bool
) -> None:
    settings: dict[str, Any] = {"bin_tokens": 24, "kl_coef": 0.1, "entropy_coef": 0.01, "share_prefixes": share}
    undisturbed, disturbed = tiny_trainer(**settings), tiny_trainer(**settings)
    batch = sampled_batch(undisturbed)
    reference = len(undisturbed.forward._plan([row for row, _ in batch])[1]) if where == "forward" else 0
    assert reference == 0 or reference >= 2
    memory = Memory(disturbed, where, {reference + 2}, error)
    one, other = undisturbed.update(batch), disturbed.update(batch)
    assert memory.calls > reference + 2
    assert (one["halvings"], other["halvings"]) == (0, 1)
    assert (one["bin_tokens"], other["bin_tokens"]) == (24, 12)
    for name in ("loss", "grad_norm", "kl", "entropy", "ratio_mean", "trained_tokens"):
        assert other[name] == pytest.approx(one[name], rel=1e-4, abs=1e-6), name
    assert max(one["sampler_gap_max"], other["sampler_gap_max"]) < 1e-5  # rounding, which differs from CPU to CPU
    weights = weights_of(disturbed)
    assert all(torch.allclose(weights[name], weight, atol=1e-6) for name, weight in weights_of(undisturbed).items())
    assert disturbed.update(batch)["halvings"] == 0  # it stays at the smaller bins


def test_the_reference_and_the_warm_start_run_in_smaller_bins_too() -> None:
    trainer = tiny_trainer(bin_tokens=40, kl_coef=0.1)
    batch = sampled_batch(trainer)
    Memory(trainer, "forward", {1, 3}, "cpu")
    assert trainer.update(batch)["halvings"] >= 2
    other = tiny_trainer(bin_tokens=40)
    Memory(other, "backward", {1}, "cpu")
    assert other.supervise([row for row, _ in batch], 1e-3)["halvings"] == 1


def test_a_trial_that_runs_out_of_memory_takes_nothing_from_the_step() -> None:
    trainer = tiny_trainer()
    batch = sampled_batch(trainer)
    Memory(trainer, "forward", {1}, "cpu")
    trainer._trial.state = {}
    metrics = trainer.update(batch)
    assert (metrics["shares"], metrics["halvings"], metrics["skipped"]) == (1, 0, 0)
    assert "sharing_gap" not in metrics


def test_if_no_single_rollout_fits_the_error_says_so_in_one_line_and_the_weights_stay() -> None:
    trainer = tiny_trainer()
    before = weights_of(trainer)
    Memory(trainer, "backward", set(range(1, 99)), "cuda")
    with pytest.raises(TrainingError, match=r"not even one rollout at a time .* the longest has 12 tokens") as raised:
        trainer.update(sampled_batch(trainer))
    assert "\n" not in str(raised.value)
    assert "gradient_checkpointing" in str(raised.value)
    assert same_weights(before, weights_of(trainer))
    assert trainer.step == 0


def test_another_error_of_torch_is_not_taken_for_a_lack_of_memory() -> None:
    trainer = tiny_trainer()
    ids = [(row, a) for row, a in replaced(sampled_batch(trainer), ids=(99,) * 12)]  # beyond the vocabulary
    with pytest.raises(IndexError):
        trainer.update(ids)
    assert trainer.forward.halvings == 0


@pytest.mark.slow
def test_an_allocator_that_is_really_out_of_memory_halves_the_bins() -> None:
    """A process whose address space is limited to what it has and some more."""
    command = [sys.executable, TESTS / "support" / "update_in_little_memory.py"]
    paths = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    # A second arena of glibc, which a thread gets when it meets another in malloc, reserves 64 MiB of the 192.
    environment = {**os.environ, "PYTHONPATH": paths, "MALLOC_ARENA_MAX": "1"}
    ended = [
        subprocess.run([*command, *words], capture_output=True, text=True, env=environment, timeout=300)
        for words in ([], ["limited"])
    ]
    assert [(each.returncode, each.stderr[-2_000:]) for each in ended if each.returncode] == []
    free, limited = (json.loads(each.stdout) for each in ended)
    assert free["halvings"] == 0
    assert limited["halvings"] >= 1
    assert limited["loss"] == pytest.approx(free["loss"], rel=1e-4)
    assert limited["grad_norm"] == pytest.approx(free["grad_norm"], rel=1e-4)
    assert limited["weights"] == pytest.approx(free["weights"], abs=1e-6)


def test_settings_that_are_applied_again_leave_the_bins_small() -> None:
    trainer = tiny_trainer(bin_tokens=40)
    Memory(trainer, "backward", {1}, "cpu")
    trainer.update(sampled_batch(trainer))
    trainer.configure(trainer.config.model_copy())
    assert trainer.forward.max_tokens < 40
    trainer.configure(trainer.config.model_copy(update={"bin_tokens": 64}))
    assert trainer.forward.max_tokens == 64
