"""Each objective against a plain loop over tokens, values and gradients."""

import math
import random

import pytest
import torch

from mcprl import loss

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
    losses = loss.cispo(logprobs, sampler, advantages, HIGH)
    (gradient,) = torch.autograd.grad(losses.sum(), logprobs)
    for t, (p, q, a) in enumerate(zip(*tokens, strict=True)):
        weight = min(math.exp(p - q), 1 + HIGH)
        assert losses[t].item() == pytest.approx(-weight * a * p)
        assert gradient[t].item() == pytest.approx(-weight * a)


def test_ppo_takes_the_worse_of_the_ratio_and_the_clipped_ratio(tokens):
    logprobs, sampler, advantages = _tensors(tokens)
    losses = loss.ppo(logprobs, sampler, advantages, LOW, HIGH)
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
    both = loss.cispo(logprobs, sampler, advantages, HIGH), loss.ppo(logprobs, sampler, advantages, LOW, HIGH)
    for losses in both:
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


def test_the_token_mean_does_not_depend_on_where_micro_batches_end():
    losses = torch.arange(10.0)
    parts = sum(loss.token_mean(part, 10) for part in losses.split([1, 6, 3]))
    assert parts == loss.token_mean(losses, 10) == 4.5
