"""Faults of the update in a whole run: what is said, what is kept, how it ends, and how it goes on."""

from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from support.command_line import mcprl
from support.configs import small
from support.events import Recorder
from support.journals import assert_gaps_have_the_steps_mean

from mcprl import train
from mcprl.art.own import train_adapter
from mcprl.config import Config
from mcprl.errors import TrainingError
from mcprl.events import StepComplete
from mcprl.judges.scoring import Scoring
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config, parse
from mcprl.training import opening
from mcprl.training.trainer import Trainer

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")
ALWAYS = range(99)


def disturbed(monkeypatch: pytest.MonkeyPatch, fault: str, steps: Container[int]) -> None:
    """Runs from now on have a fault in the backward pass of these calls of `update`, counted from 1 in each trainer."""

    class FaultyTrainer(Trainer):
        updates = 0

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            next(iter(self._parameters.values())).register_hook(self._spoil)

        def update(self, *given: Any, **named: Any) -> dict[str, float]:
            self.updates += 1
            self.spoils = self.updates in steps
            return super().update(*given, **named)

        def _spoil(self, gradient: torch.Tensor) -> torch.Tensor:
            if not self.spoils:
                return gradient
            if fault == "nan":
                return gradient * float("nan")
            self.spoils = False
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(opening, "Trainer", FaultyTrainer)


def weights(folder: Path, step: int) -> dict[str, torch.Tensor]:
    return load_file(folder / "adapters" / f"step-{step}" / "adapter_model.safetensors")


@pytest.fixture(autouse=True)
def _every_step_has_an_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random policy's rollouts all score alike: here they score by their place in the group."""
    monkeypatch.setattr(Scoring, "rewards", lambda self, step, group, scores: [n / 3 for n in range(len(scores))])


def run_of(steps: int) -> dict[str, Any]:
    return {"training": {"steps": steps, "eval_every": 1, "patience": 99, "warm_start_steps": 0, "autocast": "off"}}


async def test_a_step_with_a_gradient_that_is_not_a_number_keeps_the_weights_and_is_noted(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed(monkeypatch, "nan", {2, 3})
    emitted = Recorder()
    report = await train_adapter(small(tiny_model, tmp_path, **run_of(4)), emit=emitted)
    skipped = [event.metrics["skipped"] for event in emitted.events if isinstance(event, StepComplete)]
    assert skipped == [0, 1, 1, 0]
    first, second, third, fourth = (weights(tmp_path / "small", step) for step in (1, 2, 3, 4))
    assert all(torch.equal(first[name], second[name]) and torch.equal(first[name], third[name]) for name in first)
    assert any(not torch.equal(first[name], fourth[name]) for name in first)
    (note,) = [note for note in emitted.notes if "left out" in note]
    assert note.startswith("the update of step 2 was left out, since its loss or gradient was not a finite number")
    assert "resume with a lower --learning-rate, with --autocast off or with --dtype float32" in note
    assert report.steps == 4


async def test_three_in_a_row_end_the_run_in_one_line_and_it_goes_on_with_another_learning_rate(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed(monkeypatch, "nan", range(2, 99))
    with pytest.raises(TrainingError, match=r"^3 steps in a row .* lower --learning-rate \(it is 0\.01\)"):
        await train_adapter(small(tiny_model, tmp_path, **run_of(6)))
    with Journal.open(tmp_path / "small") as journal:
        assert [step.metrics["skipped"] for step in journal.steps()] == [0, 1, 1]

    disturbed(monkeypatch, "nan", ALWAYS)
    with pytest.raises(TrainingError, match=r"^3 steps in a row"):  # as it was: the next step is the third again
        await train_adapter(Config(), resume=tmp_path / "small")
    disturbed(monkeypatch, "nan", {1, 2})
    changed = parse({"training": {"learning_rate": 1e-3, "max_grad_norm": 0.5}})
    report = await train_adapter(changed, resume=tmp_path / "small")  # counted anew: two more do not end it
    assert report.steps == 6
    with Journal.open(tmp_path / "small") as journal:
        assert [step.metrics["skipped"] for step in journal.steps()] == [0, 1, 1, 1, 1, 0]
        assert journal.steps()[-1].metrics["learning_rate"] == 1e-3
        assert journal.config.training.learning_rate == 1e-3
        (event,) = journal.events("changed")
        assert event.data == {"settings": {"training": {"learning_rate": 1e-3, "max_grad_norm": 0.5}}}
    assert "learning_rate = 0.001" in (tmp_path / "small" / "config.toml").read_text()


def test_the_command_line_ends_with_that_line_and_resumes_with_the_flag(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.toml").write_text(dump_config(small(tiny_model, tmp_path, **run_of(4))))
    disturbed(monkeypatch, "nan", ALWAYS)
    ended = mcprl("train", "--config", str(tmp_path / "run.toml"))
    assert ended.code == 2
    assert ended.err.startswith("error: 3 steps in a row gave loss")
    assert ended.err.count("\n") == 1
    disturbed(monkeypatch, "nan", ())
    resumed = mcprl("train", "--resume", str(tmp_path / "small"), "--learning-rate", "0.002")
    assert resumed.code == 0, resumed.err
    with Journal.open(tmp_path / "small") as journal:
        assert journal.last_step() == 4
        assert journal.config.training.learning_rate == 0.002


async def test_an_update_that_runs_out_of_memory_goes_on_in_smaller_bins_and_says_so_once(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(tiny_model, tmp_path, **run_of(3))
    whole = await train_adapter(config.model_copy(update={"name": "whole"}))
    disturbed(monkeypatch, "memory", {2})
    emitted = Recorder()
    report = await train_adapter(config, emit=emitted)
    assert sum("ran out of memory" in note for note in emitted.notes) == 1
    halvings = [event.metrics["halvings"] for event in emitted.events if isinstance(event, StepComplete)]
    assert halvings[0] == halvings[2] == 0
    assert halvings[1] >= 1
    assert report.steps == whole.steps == 3
    one, other = weights(tmp_path / "whole", 2), weights(tmp_path / "small", 2)
    assert all(torch.allclose(one[name], other[name], atol=1e-5) for name in one)
    for name in ("whole", "small"):
        with Journal.open(tmp_path / name) as journal:
            assert assert_gaps_have_the_steps_mean(journal) == 3


@pytest.mark.parametrize(("control", "steps"), [("none", 2), ("shuffle-rewards", 4)])
async def test_a_policy_that_has_collapsed_ends_training_and_the_test_is_made_but_a_control_goes_on(
    control: str, steps: int, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        train.symptoms, "collapse", lambda taken, validated: "it calls one tool" if len(taken) >= 2 else ""
    )
    emitted = Recorder()
    report = await train_adapter(small(tiny_model, tmp_path, control=control, **run_of(4)), emit=emitted)
    assert (report.steps, report.finished) == (steps, True)
    told = [note for note in emitted.notes if note.startswith("training ends")]
    assert told == (["training ends with step 2: it calls one tool"] if control == "none" else [])
    assert any(note.startswith("RL takes up to 4 steps of ") for note in emitted.notes)
