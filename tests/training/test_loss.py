"""Each objective against a plain loop over tokens, values and gradients."""

import math
import random

import pytest
import torch

from mcprl.training import loss

LOW, HIGH = 0.2, 0.3
Tokens = tuple[list[float], list[float], list[float]]


@pytest.fixture
def tokens() -> Tokens:
    """Trainer log-probabilities, sampler log-probabilities and advantages of 200 tokens; ratios from 0.3 to 3."""
    rng = random.Random(0)
    logprobs = [-rng.expovariate(1) for _ in range(200)]
    return logprobs, [p + rng.uniform(-1.2, 1.2) for p in logprobs], [rng.uniform(-1, 1) for _ in range(200)]


def _tensors(tokens: Tokens) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    logprobs, sampler, advantages = (torch.tensor(values, dtype=torch.float64) for values in tokens)
    return logprobs.requires_grad_(), sampler, advantages


def test_cispo_weighs_the_log_probability_by_the_capped_ratio_and_never_cuts_its_gradient(tokens):
    logprobs, sampler, advantages = _tensors(tokens)
    losses = loss.cispo(loss.importance_ratio(logprobs, sampler), logprobs, advantages, HIGH)
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    for t, (p, q, a) in enumerate(zip(*tokens, strict=True)):
        weight = min(math.exp(p - q), 1 + HIGH)
        assert losses[t].item() == pytest.approx(-weight * a * p)
        assert gradient[t].item() == pytest.approx(-weight * a)


def test_ppo_takes_the_worse_of_the_ratio_and_the_clipped_ratio(tokens):
    logprobs, sampler, advantages = _tensors(tokens)
    losses = loss.ppo(loss.importance_ratio(logprobs, sampler), advantages, LOW, HIGH)
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    clipped = 0
    for t, (p, q, a) in enumerate(zip(*tokens, strict=True)):
        ratio = math.exp(p - q)
        assert losses[t].item() == pytest.approx(-min(ratio * a, min(max(ratio, 1 - LOW), 1 + HIGH) * a))
        cut = ratio > 1 + HIGH if a > 0 else ratio < 1 - LOW
        clipped += cut
        assert gradient[t].item() == pytest.approx(0 if cut else -ratio * a)
    assert 20 < clipped < 150


def test_on_policy_both_objectives_give_the_plain_policy_gradient():
    logprobs = torch.tensor([-0.1, -2.0, -5.0], requires_grad=True)
    sampler, advantages = logprobs.detach(), torch.tensor([1.0, -0.5, 0.25])
    ratio = loss.importance_ratio(logprobs, sampler)
    for losses in (loss.cispo(ratio, logprobs, advantages, HIGH), loss.ppo(ratio, advantages, LOW, HIGH)):
        (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
        assert torch.equal(gradient, -advantages)


def test_k3_is_never_negative_and_its_mean_under_the_policy_is_the_kl_divergence():
    policy, reference = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.2, 0.6])
    estimate = loss.k3(policy.log(), reference.log())
    for t in range(3):
        x = reference[t].item() / policy[t].item()
        assert estimate[t].item() == pytest.approx(x - math.log(x) - 1, rel=1e-5)
        assert estimate[t] >= 0
    exact = sum(p * math.log(p / q) for p, q in zip(policy.tolist(), reference.tolist(), strict=True))
    assert (policy * estimate).sum().item() == pytest.approx(exact, rel=1e-5)


def _divergence(logits: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    return (logits.softmax(-1) * (logits.log_softmax(-1) - reference.log_softmax(-1))).sum()


@pytest.mark.parametrize("sampled_by", ["the policy", "an older policy"])
def test_the_kl_penalty_has_the_gradient_of_the_divergence_from_the_reference(sampled_by: str):
    logits = torch.tensor([0.5, -0.2, 1.0, 0.1], dtype=torch.float64, requires_grad=True)
    reference = torch.tensor([-0.3, 0.4, 0.2, 1.1], dtype=torch.float64)
    (expected,) = torch.autograd.grad(_divergence(logits, reference), logits)
    older = logits.detach() + torch.tensor([0.3, -0.2, 0.1, 0.0], dtype=torch.float64)
    sampler = (logits.detach() if sampled_by == "the policy" else older).log_softmax(-1)
    policy = logits.log_softmax(-1)

    def gradient(of_tokens: torch.Tensor) -> torch.Tensor:
        """That of the losses' mean under the sampler, each token weighted by how often it is sampled."""
        return torch.autograd.grad((sampler.exp() * of_tokens).sum(), logits, retain_graph=True)[0]

    penalty = loss.kl_penalty(policy, sampler, reference.log_softmax(-1))
    assert torch.allclose(gradient(penalty), expected, atol=1e-12)
    k3 = loss.k3(policy, reference.log_softmax(-1))
    assert not torch.allclose(gradient(k3), expected, rtol=0.2), "a measure, and no loss"


def test_a_ratio_that_is_truncated_bounds_the_kl_penalty():
    policy, sampler, reference = torch.tensor([-1.0]), torch.tensor([-9.0]), torch.tensor([-2.0])
    assert loss.kl_penalty(policy, sampler, reference).item() == pytest.approx(loss.KL_RATIO / 2)


def test_gspo_clips_one_ratio_for_a_whole_row(tokens):
    logprobs, sampler, advantages = _tensors(tokens)
    lengths = [50, 1, 120, 29]
    rows = torch.repeat_interleave(torch.arange(4), torch.tensor(lengths))
    losses = loss.ppo(loss.sequence_ratio(logprobs, sampler, rows), advantages, 0.05, 0.05)
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    cuts = 0
    for row, length in enumerate(lengths):
        at = [t for t in range(200) if rows[t] == row]
        ratio = math.exp(sum(tokens[0][t] - tokens[1][t] for t in at) / length)
        pushed = 0.0  # a token's log-probability moves the ratio, and so the loss, of all tokens of its row
        for t in at:
            a = tokens[2][t]
            assert losses[t].item() == pytest.approx(-min(ratio * a, min(max(ratio, 0.95), 1.05) * a))
            cut = ratio > 1.05 if a > 0 else ratio < 0.95
            cuts += cut
            pushed += 0 if cut else -ratio * a / length
        assert all(gradient[t].item() == pytest.approx(pushed) for t in at)
    assert 0 < cuts < 200


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [
        ("token", lambda rows: sum(map(sum, rows)) / sum(map(len, rows))),
        ("sequence", lambda rows: sum(sum(row) / len(row) for row in rows) / len(rows)),
        ("constant", lambda rows: sum(map(sum, rows)) / (len(rows) * loss.BUDGET)),
    ],
)
def test_the_weights_make_the_mean_that_they_are_named_for(normalization, expected):
    rows = [[1.0, 2.0, 4.0], [8.0], [0.5, 0.25, 3.0, 5.0, 1.0, 1.0, 1.0]]
    weights = loss.weights([len(row) for row in rows], normalization)
    found = sum(weight * sum(row) for weight, row in zip(weights, rows, strict=True))
    assert found == pytest.approx(expected(rows))


def test_under_a_constant_length_a_row_weighs_the_same_whatever_the_other_rows_lengths():
    assert loss.weights([3, 5], "constant")[0] == loss.weights([3, 500], "constant")[0]
