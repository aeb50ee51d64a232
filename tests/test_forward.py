"""Rows that share a prefix, computed together, against the same rows computed whole and alone."""

import random
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from mcprl import forward
from mcprl.errors import ModelError, TrainingError
from mcprl.types import Row

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")

SIZES: dict[str, Any] = {
    "vocab_size": 61,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
}
MODELS = {
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES, tie_word_embeddings=True)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "mistral with a sliding window": lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=7)),
}


def _with_lora(model: nn.Module, targets: str | list[str] = "all-linear") -> nn.Module:
    model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=targets))
    for name, parameter in model.named_parameters():  # peft begins with B = 0, which would leave A without gradient
        if "lora_B" in name:
            nn.init.normal_(parameter, std=0.2)
    return model


def _row(ids: list[int], trained: set[int]) -> Row:
    return Row("t", tuple(ids), tuple(t in trained for t in range(len(ids))), (0.0,) * len(ids))


def _rows(prefix: int, suffixes: tuple[int, ...], seed: int = 0) -> list[Row]:
    rng = random.Random(seed)
    head = [rng.randrange(61) for _ in range(prefix)]
    rows: list[Row] = []
    for b, length in enumerate(suffixes):
        ids = [*head, b, *(rng.randrange(61) for _ in range(length - 1))]
        rows.append(
            _row(ids, {prefix + length - 1, *(rng.randrange(max(prefix, 1), len(ids)) for _ in range(length // 2))})
        )
    return rows


def _whole_logprobs(model: nn.Module, row: Row, temperature: float) -> torch.Tensor:
    logits = model(input_ids=torch.tensor([row.ids])).logits[0, :-1] / temperature
    logprobs = logits.log_softmax(-1)[range(len(row.ids) - 1), list(row.ids[1:])]
    return logprobs[torch.tensor(row.mask[1:])]


def _gradient(model: nn.Module) -> torch.Tensor:
    found = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    model.zero_grad()
    return found


def _apart(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).detach().norm() / expected.detach().norm())


CASES = {
    "a long common prefix": _rows(20, (9, 3, 14, 5)),
    "no common prefix": _rows(0, (9, 4, 12)),
    "one row": _rows(10, (6,)),
    "identical rows": [_row([5, 6, 7, 8, 9, 10], {4, 5})] * 3,
    "trained tokens before the rows part": [_row([5, 6, 7, 8, 9, 10, b, 3], {3, 4, 7}) for b in range(3)],
    "a row that ends where another goes on": [_row([5, 6, 7, 8], {3}), _row([5, 6, 7, 8, 9, 9, 4], {3, 6})],
    "the second token is trained": [_row([5, 6, 7], {1, 2}), _row([5, 6, 8, 2], {1, 3})],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("lora", ["a LoRA", "only the last layer's LoRA", "all weights"])
def test_sharing_a_prefix_changes_neither_log_probabilities_nor_gradients(kind: str, lora: str, case: str):
    torch.manual_seed(0)
    rows, model = CASES[case], MODELS[kind]()
    if lora != "all weights":
        model = _with_lora(model, "all-linear" if lora == "a LoRA" else ["layers.2.mlp.down_proj"])
    weight_B = [torch.randn(sum(row.mask)) for row in rows]

    expected_B = [_whole_logprobs(model, row, 0.7) for row in rows]
    (torch.cat(weight_B) * torch.cat(expected_B)).sum().backward()
    expected_gradient = _gradient(model)

    found_B = forward.row_logprobs(model, rows, temperature=0.7)
    (torch.cat(weight_B) * torch.cat(found_B)).sum().backward()
    assert _apart(_gradient(model), expected_gradient) < 1e-5

    seen: dict[int, torch.Tensor] = {}
    for indices, logprobs_B in forward.micro_batches(model, rows, temperature=0.7, max_tokens=20):
        (torch.cat([weight_B[i] for i in indices]) * torch.cat(logprobs_B)).sum().backward()
        seen |= zip(indices, logprobs_B, strict=True)
    assert _apart(_gradient(model), expected_gradient) < 1e-5

    for b, expected in enumerate(expected_B):
        assert _apart(found_B[b], expected) < 1e-5
        assert _apart(seen[b], expected) < 1e-5


def test_the_hidden_states_of_prefix_and_suffixes_are_the_models_own():
    model = MODELS["qwen3"]()
    rows = _rows(20, (9, 3, 14))
    prefix, suffix_B = forward.shared_prefix_hidden(model, [row.ids for row in rows])
    assert len(prefix) == 20
    for row, suffix in zip(rows, suffix_B, strict=True):
        whole = model.model(input_ids=torch.tensor([row.ids])).last_hidden_state[0]
        assert _apart(torch.cat([prefix, suffix]), whole) < 1e-5


def test_micro_batches_hold_every_row_once_and_stay_within_their_size_and_a_quarter_of_padding():
    rng = random.Random(0)
    rows = _rows(10, tuple(rng.randrange(2, 60) for _ in range(50)))
    seen: list[int] = []
    with torch.no_grad():
        for indices, _ in forward.micro_batches(MODELS["qwen3"](), rows, max_tokens=200):
            lengths = [len(rows[i].ids) - 10 for i in indices]
            assert max(lengths) * len(indices) <= 200
            assert max(lengths) <= 1.25 * min(lengths) + 1
            seen += indices
    assert sorted(seen) == list(range(50))


@pytest.mark.parametrize("trained", [set[int](), {0, 2}])
def test_a_row_without_a_trained_token_or_with_one_that_has_no_context_is_refused(trained: set[int]):
    with pytest.raises(TrainingError, match="trained token"):
        forward.row_logprobs(MODELS["qwen3"](), [_row([1, 2, 3], trained)])


@pytest.mark.parametrize("kind", MODELS)
def test_models_that_are_served_pass_the_check(kind: str):
    forward.check(_with_lora(MODELS[kind]()))


def test_a_model_that_caps_its_logits_is_refused():
    model = Gemma2ForCausalLM(Gemma2Config(**SIZES, final_logit_softcapping=0.5))
    nn.init.normal_(model.model.embed_tokens.weight)  # tied to the output layer
    with pytest.raises(ModelError, match="nats off"):
        forward.check(model)
