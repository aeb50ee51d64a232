"""The update: what it changes, what it leaves alone, what it reports, and that it learns."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from support.trainers import (
    PROMPT,
    replaced,
    same_weights,
    sampled_batch,
    sampled_trajectories,
    tiny_base,
    tiny_trainer,
    weights_of,
)

from mcprl.errors import ModelError, TrainingError
from mcprl.training import precision
from mcprl.training.advantages import advantages
from mcprl.training.forward import Forward
from mcprl.training.rows import certificate, training_rows
from mcprl.training.symptoms import notes
from mcprl.training.trie import unique_tokens
from mcprl.types import Row

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")


def test_the_policy_learns_to_say_the_token_that_is_rewarded():
    trainer = tiny_trainer(learning_rate=1e-2)
    wanted = 7
    share: list[float] = []
    for step in range(30):
        trajectories = sampled_trajectories(trainer, 16, seed=step)
        scores = [trajectory.turns[0].completion_ids.count(wanted) / 4 for trajectory in trajectories]
        share.append(sum(scores) / len(scores))
        centred = advantages(scores)
        if centred:
            batch = [(row, a) for t, a in zip(trajectories, centred, strict=True) for row in training_rows(t)]
            trainer.update(batch, certificate=certificate([row for row, _ in batch], trajectories))
    assert sum(share[:5]) / 5 < 0.2
    assert sum(share[-5:]) / 5 > 0.7


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("loss", ["cispo", "ppo", "gspo"])
def test_the_step_follows_the_plain_policy_gradient_of_whole_rows(loss: str, share: bool):
    trainer = tiny_trainer(loss=loss, share_prefixes=share, max_grad_norm=1e9)
    assert trainer.forward.shares == share
    batch = sampled_batch(trainer)
    total = sum(sum(row.mask) for row, _ in batch)
    for row, advantage in batch:  # on-policy, so that the ratio is 1 and the gradient is -A grad log pi
        logprobs = trainer.model(input_ids=torch.tensor([row.ids])).logits[0, :-1].log_softmax(-1)
        chosen = logprobs[range(len(row.ids) - 1), list(row.ids[1:])][torch.tensor(row.mask[1:])]
        (-advantage * chosen.sum() / total).backward()
    norm = math.sqrt(sum(float(p.grad.square().sum()) for p in trainer.model.parameters() if p.grad is not None))
    metrics = trainer.update(batch)
    assert metrics["grad_norm"] == pytest.approx(norm, rel=1e-4)
    assert metrics["clipped"] == 0


def test_tries_without_an_advantage_count_in_the_mean():
    trainer, other = tiny_trainer(max_grad_norm=1e9), tiny_trainer(max_grad_norm=1e9)
    batch = sampled_batch(trainer)
    whole, part = trainer.update(batch), other.update(batch, informative_fraction=0.25)
    assert part["grad_norm"] == pytest.approx(whole["grad_norm"] / 4, rel=1e-4)


def test_bins_do_not_change_the_step():
    whole, parts = tiny_trainer(), tiny_trainer(bin_tokens=20)
    batch = sampled_batch(whole)
    one, other = whole.update(batch), parts.update(batch)
    assert other["loss"] == pytest.approx(one["loss"], rel=1e-5)
    assert other["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-5)


def test_minibatches_and_epochs_are_optimizer_steps_on_parts_of_the_rows():
    trainer = tiny_trainer(minibatches=3, epochs=2)
    batch = sampled_batch(trainer)
    metrics = trainer.update(batch)
    assert trainer.step == 6
    assert metrics["trained_tokens"] == 2 * sum(sum(row.mask) for row, _ in batch)
    assert metrics["ratio_max"] > 1.001  # later parts are trained by a policy that has moved


@pytest.mark.parametrize("bin_tokens", [20, 4096])
def test_each_trajectory_is_given_the_gaps_of_its_own_tokens_whatever_bins_they_were_computed_in(bin_tokens: int):
    trainer = tiny_trainer(bin_tokens=bin_tokens, max_sampler_gap=9.0)
    # Rows of several lengths, so that the bins reorder them; trajectory 0 has two.
    batch, expected = list[tuple[Row, float]](), dict[str, list[float]]()
    for b, (row, advantage) in enumerate(sampled_batch(trainer)):
        for length in (1, 4) if b == 0 else (1 + b % 4,):
            end, mask = len(PROMPT) + length, [at >= len(PROMPT) for at in range(len(row.ids))]
            off = [0.01 * (b + 1) * (at + length) for at in range(end)]
            logprobs = tuple(logprob - by for logprob, by in zip(row.logprobs[:end], off, strict=True))
            batch.append((Row(row.trajectory_id, row.ids[:end], tuple(mask[:end]), logprobs), advantage))
            expected[row.trajectory_id] = expected.get(row.trajectory_id, []) + off[len(PROMPT) :]
    found = dict[str, list[float]]()
    metrics = trainer.update(batch, on_gaps=found.update)
    assert list(found) == list(expected)
    for name, gaps in expected.items():
        assert found[name] == pytest.approx(gaps, abs=1e-5)
    known = [gap for gaps in found.values() for gap in gaps]
    assert sum(known) / len(known) == pytest.approx(metrics["sampler_gap_mean"])


def test_of_several_optimizer_steps_the_first_one_gives_the_gaps():
    trainer = tiny_trainer(minibatches=3, epochs=2)
    told = list[dict[str, list[float]]]()
    first = list[dict[str, float]]()
    trainer.update(sampled_batch(trainer), on_step=first.append, on_gaps=told.append)
    (found,) = told
    assert {name: len(gaps) for name, gaps in found.items()} == {f"0-{g}": 4 for g in range(12)}
    known = [gap for gaps in found.values() for gap in gaps if not math.isnan(gap)]
    assert len(known) == first[0]["trained_tokens"] == 16
    assert sum(known) / 16 == pytest.approx(first[0]["sampler_gap_mean"])


@pytest.mark.parametrize(("loss", "bounds"), [("cispo", (1.0, 2.0)), ("ppo", (0.2, 0.28)), ("gspo", (3e-4, 4e-4))])
def test_each_loss_has_its_own_bounds_unless_others_are_given(loss: str, bounds: tuple[float, float]):
    own, given = tiny_trainer(loss=loss), tiny_trainer(loss=loss, clip_low=0.5, clip_high=0.6)
    assert (own.clip_low, own.clip_high) == bounds
    assert (given.clip_low, given.clip_high) == (0.5, 0.6)


def test_the_same_rows_give_the_same_weights():
    trainers = [tiny_trainer(kl_coef=0.1), tiny_trainer(kl_coef=0.1)]
    for trainer in trainers:
        for step in range(3):
            trainer.update(sampled_batch(trainer, step))
    assert same_weights(*map(weights_of, trainers))


def test_only_the_adapter_moves():
    trainer = tiny_trainer()
    before = weights_of(trainer)
    trainer.update(sampled_batch(trainer))
    moved = {name for name, weight in weights_of(trainer).items() if not torch.equal(weight, before[name])}
    assert moved
    assert all("lora_" in name for name in moved)


@pytest.mark.parametrize("kl_coef", [0.0, 0.1])
def test_learning_rate_zero_trains_nothing(kl_coef: float):
    trainer = tiny_trainer(learning_rate=0, kl_coef=kl_coef)
    before = weights_of(trainer)
    trainer.update(sampled_batch(trainer))
    trainer.supervise([row for row, _ in sampled_batch(trainer)], 0.0)
    assert same_weights(before, weights_of(trainer))


def test_gspo_takes_the_mean_over_rows_and_not_over_tokens():
    trainer = tiny_trainer(loss="gspo", max_grad_norm=1e9)
    batch = sampled_batch(trainer, count=4)
    cut = [
        (dataclasses.replace(row, ids=row.ids[:9], mask=row.mask[:9], logprobs=row.logprobs[:9]), a)
        for row, a in batch[:2]
    ]
    batch = [*cut, *batch[2:]]  # two rows of one token, two of four
    for row, advantage in batch:
        trained = torch.tensor(row.mask[1:])
        logprobs = trainer.model(input_ids=torch.tensor([row.ids])).logits[0, :-1].log_softmax(-1)
        chosen = logprobs[range(len(row.ids) - 1), list(row.ids[1:])][trained]
        (-advantage * chosen.mean() / len(batch)).backward()
    expected = torch.stack([p.grad.norm() for p in trainer._parameters.values() if p.grad is not None]).norm()
    trainer.model.zero_grad()
    assert trainer.update(batch)["grad_norm"] == pytest.approx(float(expected), rel=1e-4)


def test_the_step_size_warms_up_over_ten_steps():
    trainer = tiny_trainer(learning_rate=1e-3)
    rates = [trainer.update(sampled_batch(trainer))["learning_rate"] for _ in range(12)]
    assert rates == pytest.approx([1e-4 * min(n, 10) for n in range(1, 13)])


def test_the_metrics_say_what_was_trained_and_how_far_sampler_and_trainer_were_apart():
    trainer = tiny_trainer()
    trajectories = sampled_trajectories(trainer, 12, seed=0)
    batch = [(row, 0.5) for trajectory in trajectories for row in training_rows(trajectory)]
    metrics = trainer.update(batch, certificate=certificate([row for row, _ in batch], trajectories))
    assert metrics["exact_tokens"] == 1.0
    assert metrics["trained_tokens"] == 48
    assert metrics["padded_tokens"] == 12 * 11  # nothing is predicted from a row's last token
    assert metrics["forwarded_tokens"] == metrics["unique_tokens"] == unique_tokens([row.ids[:-1] for row, _ in batch])
    assert metrics["sampler_gap_max"] < 1e-4
    assert metrics["ratio_mean"] == pytest.approx(1, abs=1e-4)
    assert metrics["skipped"] == 0

    far = [(dataclasses.replace(row, logprobs=tuple(p - 2 for p in row.logprobs)), a) for row, a in batch[:6]]
    with pytest.raises(TrainingError, match=r"differ by 1\.000 nats per token on average, more than max_sampler_gap"):
        tiny_trainer().update([*far, *batch[6:]])
    metrics = tiny_trainer(max_sampler_gap=2.0).update([*far, *batch[6:]])
    assert metrics["sampler_gap_max"] == pytest.approx(2, abs=1e-4)
    assert metrics["sampler_gap_mean"] == pytest.approx(1, abs=1e-4)
    assert metrics["ratio_max"] == pytest.approx(math.exp(2), rel=1e-3)
    assert metrics["clipped"] == pytest.approx(0.5)


def test_the_kl_penalty_measures_and_shrinks_the_distance_to_the_base_model():
    kept: list[float] = []
    for kl_coef in (1e-9, 3.0):
        trainer = tiny_trainer(learning_rate=1e-2, kl_coef=kl_coef)
        metrics = [trainer.update(sampled_batch(trainer, step)) for step in range(15)]
        assert metrics[0]["kl"] == pytest.approx(0, abs=1e-6)
        kept.append(metrics[-1]["kl"])
    free, held = kept
    assert 0 <= held < free / 3


@pytest.mark.parametrize("share", [True, False])
def test_the_entropy_bonus_measures_and_raises_the_entropy(share: bool):
    entropies: dict[float, list[float]] = {}
    for coefficient in (0.001, 1.0):
        settings: dict[str, Any] = {"entropy_coef": coefficient, "share_prefixes": share, "max_sampler_gap": 10.0}
        trainer = tiny_trainer(learning_rate=1e-2, **settings)
        batch = replaced(sampled_batch(trainer))
        entropies[coefficient] = [trainer.update(batch)["entropy"] for _ in range(8)]
    assert entropies[0.001][0] == pytest.approx(entropies[1.0][0])
    assert 0 < entropies[1.0][0] < math.log(32)
    assert entropies[1.0][-1] > max(entropies[1.0][0], entropies[0.001][-1]) + 0.1


def test_a_step_that_is_not_finite_is_left_out_and_three_in_a_row_end_the_training():
    trainer = tiny_trainer()
    good = sampled_batch(trainer)
    broken = [(row, math.nan) for row, _ in good]
    trainer.update(good)
    before = weights_of(trainer)
    for _ in range(2):
        assert trainer.update(broken)["skipped"] == 1
    assert same_weights(before, weights_of(trainer))
    assert trainer.step == 1
    assert trainer.update(good)["skipped"] == 0
    assert all(torch.isfinite(weight).all() for weight in weights_of(trainer).values())
    for _ in range(2):
        trainer.update(broken)
    with pytest.raises(TrainingError, match="3 steps in a row"):
        trainer.update(broken)


def test_a_step_without_trained_tokens_is_refused():
    trainer = tiny_trainer(kl_coef=0.1)
    batch = replaced(sampled_batch(trainer), mask=(False,) * 12)
    with pytest.raises(TrainingError, match="no row has a sampled token"):
        trainer.update(batch)


def test_a_token_in_a_context_that_the_engine_did_not_see_is_never_trained():
    trainer = tiny_trainer()
    trajectories = sampled_trajectories(trainer, 2, seed=0)
    batch = [(row, 1.0) for trajectory in trajectories for row in training_rows(trajectory)]
    drifted = [(dataclasses.replace(row, ids=(8, *row.ids[1:])), a) for row, a in batch]
    before = weights_of(trainer)
    with pytest.raises(TrainingError, match="8 of 8 tokens"):
        trainer.update(drifted, certificate=certificate([row for row, _ in drifted], trajectories))
    assert same_weights(before, weights_of(trainer))


def test_supervision_makes_the_shown_tokens_likely():
    trainer = tiny_trainer(learning_rate=3e-3)
    shown = [Row("s", (*PROMPT, 5, 6, 7), (False,) * 8 + (True,) * 3, (0.0,) * 11)]
    losses = [trainer.supervise(shown, 9e-3)["loss"] for _ in range(25)]
    assert losses[0] > 2
    assert losses[-1] < 0.1


def test_multiplied_in_bfloat16_it_learns_as_well_and_weights_and_moments_stay_in_float32():
    losses: dict[str, list[float]] = {}
    for autocast in ("off", "bf16"):
        trainer = tiny_trainer(learning_rate=3e-3, autocast=autocast)
        assert trainer.forward.shares
        batch = sampled_batch(trainer)
        shown = [Row("s", (*PROMPT, 5, 6, 7), (False,) * 8 + (True,) * 3, (0.0,) * 11)]
        gap = trainer.update(batch)["sampler_gap_mean"]
        assert gap < 1e-6 if autocast == "off" else 1e-4 < gap < 0.05
        losses[autocast] = [trainer.supervise(shown, 9e-3)["loss"] for _ in range(25)]
        held = [*trainer._parameters.values(), *(m for s in trainer._optimizer.state.values() for m in s.values())]
        assert {tensor.dtype for tensor in held} == {torch.float32}
    assert losses["bf16"][-1] < 0.1
    assert losses["bf16"] == pytest.approx(losses["off"], rel=0.1, abs=0.05)


@pytest.fixture
def bf16_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})


@pytest.mark.usefixtures("bf16_cpu")
def test_bfloat16_is_measured_once_and_chosen_by_what_each_kind_of_step_needs(monkeypatch: pytest.MonkeyPatch):
    trainer = tiny_trainer(autocast="auto")
    batch = sampled_batch(trainer)
    first = trainer.update(batch)
    assert 0.0005 < first["bf16_gap_mean"] < first["bf16_gap_max"] < 0.1
    assert 0.001 < first["bf16_gradient_error"] < 0.1
    assert first["bf16"] == (first["bf16_gap_mean"] <= 0.005)
    assert trainer.supervise([row for row, _ in batch], 1e-3)["bf16"] == 1
    for bound, used in ((0.0, 0), (1.0, 1)):
        monkeypatch.setattr(precision, "GAP", bound)
        again = trainer.update(batch)
        assert again["bf16"] == used
        assert "bf16_gap_mean" not in again
    monkeypatch.setattr(precision, "GRADIENT_ERROR", 0.0)
    assert trainer.supervise([row for row, _ in batch], 1e-3)["bf16"] == 0


def test_bfloat16_is_never_chosen_where_the_cpu_has_no_instructions_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": False})
    trainer = tiny_trainer(autocast="auto")
    metrics = trainer.supervise([row for row, _ in sampled_batch(trainer)], 1e-3)
    assert metrics["bf16"] == 0
    assert "bf16_gap_mean" not in metrics


@pytest.mark.usefixtures("bf16_cpu")
def test_a_resumed_trainer_computes_as_it_did_before_without_another_trial(tmp_path: Path):
    trainer = tiny_trainer(autocast="auto")
    batch = sampled_batch(trainer)
    assert "sharing_gap" in trainer.update(batch)
    trainer._trial.state["bf16_gradient_error"] = 9.0  # another figure than a second trial would find
    trainer.save(tmp_path / "step-1")
    resumed = tiny_trainer(autocast="auto")
    resumed.load(tmp_path / "step-1")
    metrics = resumed.supervise([row for row, _ in batch], 1e-3)
    assert metrics["bf16"] == 0
    assert "sharing_gap" not in metrics


def test_a_run_that_goes_on_where_the_cpu_has_bfloat16_computes_as_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": False})
    trainer = tiny_trainer(autocast="auto")
    batch = sampled_batch(trainer)
    trainer.update(batch)
    trainer.save(tmp_path / "step-1")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    resumed = tiny_trainer(autocast="auto")
    resumed.load(tmp_path / "step-1")
    assert resumed.update(batch)["bf16"] == 0


def test_a_large_models_trial_is_said_and_made_once_on_a_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(precision, "cache_folder", lambda: tmp_path)
    small = tiny_trainer()
    assert small.note == ""
    batch = sampled_batch(small)
    small.update(batch)
    assert not [*tmp_path.rglob("*.json")]
    monkeypatch.setattr(precision, "LARGE", 1)
    first = tiny_trainer()
    assert first.note == "the first step computes some of its rows in several ways, once for this model on this machine"
    figures = first.update(batch)
    second = tiny_trainer()
    assert second.note == ""
    monkeypatch.setattr(second.forward, "try_sharing", None)
    assert second.update(batch)["sharing_gap"] == figures["sharing_gap"]


def test_sharing_ends_and_says_so_where_the_runs_own_rows_are_off(monkeypatch: pytest.MonkeyPatch):
    trainer = tiny_trainer()
    batch = sampled_batch(trainer)
    assert trainer.forward.shares  # short examples showed nothing
    as_trie = Forward._as_trie

    def off(*given: Any, **named: Any) -> Any:
        logprobs_B, entropies_B = as_trie(*given, **named)
        return [*logprobs_B[:-1], logprobs_B[-1] + 2e-3], entropies_B

    monkeypatch.setattr(Forward, "_as_trie", off)
    metrics = trainer.update(batch)
    assert metrics["shares"] == 0
    assert metrics["sharing_gap"] == pytest.approx(2e-3, rel=0.1)
    (sentence,) = notes([metrics])
    assert sentence.startswith("prefixes are not shared, so that updates take several times as long")
    assert "0.002 nats off" in sentence


def test_a_saved_trainer_goes_on_bit_for_bit(tmp_path: Path):
    trainer = tiny_trainer()
    for step in range(3):
        trainer.update(sampled_batch(trainer, step))
    trainer.save(tmp_path / "step-3")
    batches = [sampled_batch(trainer, step) for step in (3, 4)]
    expected = [trainer.update(batch) for batch in batches]

    resumed = tiny_trainer()
    resumed.load(tmp_path / "step-3")
    assert resumed.step == 3
    for batch, metrics in zip(batches, expected, strict=True):
        found = resumed.update(batch)
        assert {k: v for k, v in found.items() if k != "tokens_per_s"} == {
            k: v for k, v in metrics.items() if k != "tokens_per_s"
        }
    assert same_weights(weights_of(trainer), weights_of(resumed))


def test_the_saved_folder_is_safetensors_and_loads_in_peft(tmp_path: Path):
    trainer = tiny_trainer()
    trainer.supervise([row for row, _ in sampled_batch(trainer)], 1e-3)
    trainer.save(tmp_path / "step-1")
    trainer.save(tmp_path / "step-1")  # a step repeated after a crash replaces what is there
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]
    suffixes = {path.suffix for path in (tmp_path / "step-1").iterdir()}
    assert suffixes <= {".safetensors", ".json", ".md"}
    assert all("lora_" in name for name in load_file(tmp_path / "step-1" / "adapter_model.safetensors"))

    loaded = PeftModel.from_pretrained(tiny_base(), tmp_path / "step-1").eval()
    row = sampled_batch(trainer)[0][0]
    with torch.no_grad():
        found, expected = (
            [part.logprobs_B for part in Forward(model).bins([row])] for model in (loaded, trainer.model)
        )
    assert torch.equal(found[0][0], expected[0][0])


def test_a_folder_that_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path):
    tiny_trainer(rank=4).save(tmp_path / "other")
    tiny_trainer().save(tmp_path / "cut")
    (tmp_path / "cut" / "optimizer.safetensors").write_bytes(b"\x00" * 5)
    trainer = tiny_trainer()
    before = weights_of(trainer)
    for name, reason in (("other", "rank"), ("cut", "optimizer"), ("nowhere", "optimizer")):
        with pytest.raises(ModelError, match=reason):
            trainer.load(tmp_path / name)
    assert same_weights(before, weights_of(trainer))
