"""The shapes in signatures are checked in tests: `conftest` installs jaxtyping's hook."""

from typing import Any

import pytest
import torch
from beartype import beartype
from jaxtyping import TypeCheckError, jaxtyped
from torch import nn

from mcprl.models import attention
from mcprl.training import lm_head, loss, trie_attention
from mcprl.training.forward import Bin
from mcprl.training.trie import build


def test_losses_of_tokens_that_differ_in_number_are_refused() -> None:
    with pytest.raises(TypeCheckError, match="advantages"):
        loss.ppo(torch.ones(3), torch.ones(4), 0.2, 0.2)
    with pytest.raises(TypeCheckError, match="sampler_logprobs"):
        loss.importance_ratio(torch.zeros(3), torch.zeros(1))  # torch alone would broadcast it


def test_keys_and_queries_of_different_width_are_refused() -> None:
    query, key = torch.zeros(1, 2, 3, 8), torch.zeros(1, 2, 3, 4)
    with pytest.raises(TypeCheckError, match="key"):
        trie_attention.attend(query, key, key, build([(1, 2, 3)]), 1.0, None, None)


@pytest.mark.parametrize("fused", [True, False])
def test_attention_and_its_backward_have_the_shapes_of_their_signatures(
    fused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: Any = jaxtyped(attention.attention, typechecker=beartype)
    backward: Any = jaxtyped(attention.attention_backward, typechecker=beartype)
    merge: Any = jaxtyped(attention.merge, typechecker=beartype)
    monkeypatch.setattr(attention, "_fused", lambda _: fused)
    query, key = torch.randn(2, 3, 9, 8), torch.randn(2, 3, 5, 8)
    for mask in (None, torch.zeros(9, 5), torch.zeros(2, 1, 1, 5)):
        out, lse = checked(query, key, key, 1.0, mask)
        backward(out, query, key, key, out, lse, 1.0, mask)
        merge(out, lse, out, lse)
    with pytest.raises(TypeCheckError, match="key"):
        checked(query, key[..., :4], key, 1.0)
    with pytest.raises(TypeCheckError, match="lse"):
        backward(out, query, key, key, out, lse[0], 1.0)


def test_targets_that_are_no_token_ids_are_refused() -> None:
    with pytest.raises(TypeCheckError, match="targets"):
        lm_head.target_logprobs(nn.Linear(4, 5), torch.zeros(3, 4), torch.zeros(3))


def test_log_probabilities_of_two_dimensions_are_refused() -> None:
    with pytest.raises(TypeCheckError, match="logprobs_B"):
        Bin([0], [torch.zeros(1, 3)], [])
