"""Rows computed as a trie, against the same rows one by one through the model's own forward."""

import gc
import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from support.models import random_model
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import (
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    GptOssForCausalLM,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    Qwen2ForCausalLM,
)

from mcprl.errors import ModelError, TrainingError
from mcprl.models import attention
from mcprl.training import forward, lm_head, parts
from mcprl.types import Row

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning"),
    pytest.mark.filterwarnings("ignore:Model has .tie_word_embeddings:UserWarning"),
]

SIZES: dict[str, Any] = {
    "vocab_size": 61,
    "num_hidden_layers": 3,
}
MODELS: dict[str, Callable[[], Any]] = {
    "qwen3": lambda: random_model(**SIZES, tie_word_embeddings=True),
    "qwen2.5": lambda: random_model(Qwen2ForCausalLM, **SIZES),
    "llama 3": lambda: random_model(LlamaForCausalLM, **SIZES),
    "gemma 3": lambda: random_model(
        Gemma3ForCausalLM,
        **SIZES,
        sliding_window=7,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "gpt-oss": lambda: _with_sinks(
        random_model(GptOssForCausalLM, **SIZES, sliding_window=7, num_local_experts=4, num_experts_per_tok=2)
    ),
}


def _with_sinks(model: nn.Module) -> nn.Module:
    for name, parameter in model.named_parameters():
        if name.endswith("sinks"):
            nn.init.normal_(parameter)
            parameter.requires_grad_(False)
    return model


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
    "turns that branch again and again": [
        _row([*range(12), a, 3, 4, b, *range(20, 30), c, 1], {12, 15, 26, 27})
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1)
    ],
}


def _expected(
    model: nn.Module, rows: list[Row], weight_B: list[torch.Tensor]
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Log-probabilities and the gradient of their weighted sum, row by row through the model's own forward."""
    expected_B = [_whole_logprobs(model, row, 0.7) for row in rows]
    (torch.cat(weight_B) * torch.cat(expected_B)).sum().backward()
    return expected_B, _gradient(model)


def _found(
    model: nn.Module, rows: list[Row], weight_B: list[torch.Tensor], **options: Any
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """The same through `Forward`, backward bin by bin."""
    seen: dict[int, torch.Tensor] = {}
    for part in forward.Forward(model, **options).bins(rows, temperature=0.7):
        (torch.cat([weight_B[i] for i in part.indices]) * torch.cat(part.logprobs_B)).sum().backward()
        seen |= zip(part.indices, part.logprobs_B, strict=True)
    return [seen[b] for b in range(len(rows))], _gradient(model)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("lora", ["a LoRA", "the last layer's and the output layer's LoRA", "all weights"])
def test_sharing_changes_neither_log_probabilities_nor_gradients(kind: str, lora: str, case: str):
    rows, model = CASES[case], MODELS[kind]()
    if lora != "all weights":
        model = _with_lora(model, "all-linear" if lora == "a LoRA" else ["layers.2.self_attn.q_proj", "lm_head"])
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    expected_B, gradient = _expected(model, rows, weight_B)
    for options in ({}, {"max_tokens": 20}):
        assert not forward.Forward(model).note
        found_B, found = _found(model, rows, weight_B, **options)
        assert _apart(found, gradient) < 1e-5
        for one, other in zip(found_B, expected_B, strict=True):
            assert _apart(one, other) < 1e-5


def test_with_sharing_off_rows_are_computed_whole_with_the_same_result():
    rows, model = CASES["turns that branch again and again"], _with_lora(MODELS["qwen3"]())
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    expected_B, gradient = _expected(model, rows, weight_B)
    found_B, found = _found(model, rows, weight_B, share=False, max_tokens=60)
    assert _apart(found, gradient) < 1e-5
    assert _apart(torch.cat(found_B), torch.cat(expected_B)) < 1e-5


def test_a_model_that_cannot_be_a_trie_is_computed_whole_and_says_so():
    model = _with_lora(random_model(Gemma2ForCausalLM, **SIZES))  # it caps its attention scores
    rows = _rows(20, (9, 3, 14, 5))
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    whole = forward.Forward(model)
    assert not whole.shares
    assert whole.note == (
        "prefixes are not shared: Gemma2ForCausalLM cannot be computed as a trie "
        "(attention with capped scores, dropout or a mask of its own)"
    )
    expected_B, gradient = _expected(model, rows, weight_B)
    found_B, found = _found(model, rows, weight_B)
    assert _apart(found, gradient) < 1e-5
    assert _apart(torch.cat(found_B), torch.cat(expected_B)) < 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_sharing_is_not_given_up_for_what_bfloat16_rounds(dtype: torch.dtype):
    # As rough as a pre-trained model's answer to tokens that no text has: bfloat16 alone moves it by a nat.
    model = _with_lora(random_model(LlamaForCausalLM, **SIZES, initializer_range=1.0)).to(dtype).eval()
    rows = CASES["turns that branch again and again"]
    rounded = forward.Forward(model, bf16=True)
    assert rounded.shares
    with torch.no_grad():
        as_trie, whole = (torch.cat(compute(rows, 1.0)[0]) for compute in (rounded._as_trie, rounded._padded))
    assert float((as_trie - whole).abs().max()) > 0.1
    gap = rounded.try_sharing(rows)
    assert rounded.shares
    assert dtype == torch.bfloat16 or gap < forward.SHARING_GAP


def test_a_wrong_trie_is_noticed_in_bfloat16_too(monkeypatch: pytest.MonkeyPatch):
    model = _with_lora(random_model(LlamaForCausalLM, **SIZES, initializer_range=0.3)).to(torch.bfloat16).eval()
    rows = CASES["turns that branch again and again"]
    assert forward.Forward(model).shares
    positions = forward.trie.Trie.__dict__["place"]
    monkeypatch.setattr(forward.trie.Trie, "place", lambda self, row, depth: max(0, positions(self, row, depth) - 1))
    wrong = forward.Forward(model)
    assert not wrong.shares
    assert wrong.note.endswith("nats off its own log-probabilities")
    assert wrong.try_sharing(rows) > 0.1


def test_a_state_space_model_is_computed_whole_and_says_so():
    config = MambaConfig(vocab_size=61, hidden_size=32, num_hidden_layers=2, state_size=4, use_mambapy=False)
    assert "prefixes are not shared" in forward.Forward(MambaForCausalLM(config)).note


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_the_entropy_is_that_of_the_whole_vocabulary_with_its_gradient(kind: str, share: bool):
    rows, model = CASES["turns that branch again and again"], _with_lora(MODELS[kind]())
    expected: list[torch.Tensor] = []
    for row in rows:
        logprobs = (model(input_ids=torch.tensor([row.ids])).logits[0, :-1] / 0.7).log_softmax(-1)
        expected.append(-(logprobs.exp() * logprobs).sum(-1)[torch.tensor(row.mask[1:])])
    torch.cat(expected).square().sum().backward()
    gradient = _gradient(model)
    seen: dict[int, torch.Tensor] = {}
    for part in forward.Forward(model, share, 60).bins(rows, temperature=0.7, entropy=True):
        torch.cat(part.entropies_B).square().sum().backward()
        seen |= zip(part.indices, part.entropies_B, strict=True)
    assert _apart(torch.cat([seen[b] for b in range(len(rows))]), torch.cat(expected)) < 1e-5
    assert _apart(_gradient(model), gradient) < 1e-5


@pytest.mark.parametrize(("kind", "checkpointed"), [*((kind, False) for kind in MODELS), ("qwen3", True)])
def test_in_bfloat16_a_trie_is_as_near_to_float32_as_whole_rows_are(kind: str, checkpointed: bool):
    # Each row branches off from the last: what the last token attends to is added up over thirty nodes.
    ids = [n % 61 for n in range(7, 70, 2)]
    rows = [_row([*ids[:n], n, 3], {n, n + 1}) for n in range(1, 31)]
    model = _with_lora(MODELS[kind]()).eval()
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    expected_B, gradient = _expected(model, rows, weight_B)
    assert forward.Forward(model, bf16=True).shares
    options = {"bf16": True, "checkpointing": checkpointed}
    whole_B, whole = _found(model, rows, weight_B, share=False, **options)
    found_B, found = _found(model, rows, weight_B, **options)
    assert whole.dtype == found.dtype == torch.float32
    expected = torch.cat(expected_B)
    assert 0 < float((torch.cat(found_B) - expected).detach().abs().max()) < 0.05
    assert 0 < _apart(found, gradient) < 2 * _apart(whole, gradient) < 0.3
    assert _apart(torch.cat(found_B), expected) < 2 * _apart(torch.cat(whole_B), expected)


@pytest.mark.parametrize("options", [{"checkpointing": True}, {"max_tokens": 10}], ids=["all", "a row of many tokens"])
@pytest.mark.parametrize("kind", MODELS)
def test_layers_computed_again_in_backward_give_the_same_gradient_from_less_memory(kind: str, options: dict[str, Any]):
    rows, model = CASES["a long common prefix"][:1], _with_lora(MODELS[kind]()).eval()
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    held: list[int] = []

    def count(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        expected_B, expected = _found(model, rows, weight_B)
        kept, _ = sum(held), held.clear()
        found_B, found = _found(model, rows, weight_B, **options)
    assert sum(held) < kept / 2
    assert _apart(torch.cat(found_B), torch.cat(expected_B)) < 1e-6
    assert _apart(found, expected) < 1e-6


def test_every_distinct_token_is_computed_once():
    rows = CASES["turns that branch again and again"]
    work = forward.Forward(MODELS["qwen3"]()).work(rows)
    assert work.padded == 8 * 27
    assert work.forwarded == work.unique == 12 + 2 * 3 + 4 * 11 + 8 * 1  # the last tokens predict nothing


def test_whole_rows_are_binned_by_length_with_a_quarter_of_padding_at_most():
    rng = random.Random(0)
    rows = _rows(10, tuple(rng.randrange(2, 60) for _ in range(50)))
    seen: list[int] = []
    whole = forward.Forward(MODELS["qwen3"](), share=False, max_tokens=200)
    with torch.no_grad():
        for part in whole.bins(rows):
            lengths = [len(rows[i].ids) - 1 for i in part.indices]
            assert max(lengths) * len(part.indices) <= 200
            assert max(lengths) <= 1.25 * min(lengths) + 1
            seen += part.indices
    assert sorted(seen) == list(range(50))


@pytest.mark.parametrize("trained", [set[int](), {0, 2}])
def test_a_row_without_a_trained_token_or_with_one_that_has_no_context_is_refused(trained: set[int]):
    with pytest.raises(TrainingError, match="trained token"):
        next(forward.Forward(MODELS["qwen3"]()).bins([_row([1, 2, 3], trained)]))


def test_what_is_no_language_model_is_refused():
    with pytest.raises(ModelError, match="expected a causal language model"):
        forward.Forward(nn.Linear(2, 2))


@pytest.mark.parametrize("chunk", [61, 61 * 4, 2**23])
@pytest.mark.parametrize("trained", [False, True])
def test_the_head_in_chunks_equals_the_head_at_once(monkeypatch: pytest.MonkeyPatch, chunk: int, trained: bool):
    monkeypatch.setattr(lm_head, "CHUNK", chunk)
    torch.manual_seed(0)
    layer = nn.Linear(16, 61, bias=False).requires_grad_(trained)
    hidden, targets, weight = torch.randn(9, 16, requires_grad=True), torch.randint(61, (9,)), torch.randn(9)
    expected = (layer(hidden) / 0.7).log_softmax(-1)[range(9), targets]
    found = lm_head.target_logprobs(layer, hidden, targets, 0.7)
    assert _apart(found, expected) < 1e-6
    sources = [hidden, *(layer.parameters() if trained else ())]
    for one, other in zip(*(torch.autograd.grad(weight @ by, sources) for by in (found, expected)), strict=True):
        assert _apart(one, other) < 1e-5


class Sizes(TorchDispatchMode):
    """Notes how many elements the largest tensor has that any operation makes."""

    largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        made = [tensor for tensor in (out if isinstance(out, tuple | list) else (out,)) if torch.is_tensor(tensor)]
        self.largest = max([self.largest, *(tensor.numel() for tensor in made)])
        return out


def test_a_large_vocabulary_trains_without_a_tensor_larger_than_a_chunk():
    vocabulary, tokens = 151_936, 400
    layer = nn.Linear(16, vocabulary, bias=False).requires_grad_(False)
    hidden = torch.randn(tokens, 16, requires_grad=True)
    for compute in (
        lambda h: lm_head.target_logprobs(layer, h, torch.arange(tokens)),
        lambda h: lm_head.entropies(layer, h),
    ):
        with Sizes() as sizes:
            compute(hidden).sum().backward()
        assert sizes.largest <= lm_head.CHUNK < tokens * vocabulary
    with Sizes() as sizes:
        layer(hidden)
    assert sizes.largest == tokens * vocabulary, "the whole would have been noticed"


@pytest.mark.parametrize("mask", ["none", "causal", "some", "windows"])
def test_attention_without_the_cpus_kernels_is_the_same(monkeypatch: pytest.MonkeyPatch, mask: str):
    torch.manual_seed(0)
    query, key, value, grad = (torch.randn(1, 2, n, 8) for n in (9, 5, 5, 9))
    given: dict[str, Any] = {"causal": mask == "causal"}
    if mask in ("some", "windows"):
        hidden = torch.rand(9, 5) < 0.3
        hidden[3] = mask == "windows"  # a query that sees no key: other keys give it a log-sum-exp
        given["mask"] = torch.zeros(9, 5).masked_fill_(hidden, -torch.inf)
    out, lse = attention.attention(query, key, value, 0.3, may_hide_all=True, **given)
    merged = lse.clamp(min=0.0)
    back = attention.attention_backward(grad, query, key, value, out, merged, 0.3, **given)
    monkeypatch.setattr(attention, "_fused", lambda _: False)
    plain, plain_lse = attention.attention(query, key, value, 0.3, may_hide_all=True, **given)
    assert torch.allclose(plain, out, atol=1e-6)
    assert torch.allclose(plain_lse, lse, atol=1e-6)
    plain_back = attention.attention_backward(grad, query, key, value, out, merged, 0.3, **given)
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(back, plain_back, strict=True))


def _computed(model: nn.Module) -> list[int]:
    """The number of tokens of each pass through the decoder from now on."""
    passes: list[int] = []

    def count(_: Any, __: Any, given: dict[str, Any]) -> None:
        passes.append(given["input_ids"].shape[1])

    parts.parts(model)[0].register_forward_pre_hook(count, with_kwargs=True)
    return passes


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_what_all_rows_begin_with_is_computed_once_for_all_bins_though_it_is_longer_than_one(
    kind: str, checkpointed: bool
):
    rows, model = _rows(40, (9, 3, 14, 5)), _with_lora(MODELS[kind]()).eval()
    weight_B = [torch.randn(sum(row.mask)) for row in rows]
    expected_B, gradient = _expected(model, rows, weight_B)
    shared = forward.Forward(model, max_tokens=20, checkpointing=checkpointed)
    passes = _computed(model)
    seen: dict[int, torch.Tensor] = {}
    for part in shared.bins(rows, temperature=0.7):
        (torch.cat([weight_B[i] for i in part.indices]) * torch.cat(part.logprobs_B)).sum().backward()
        seen |= zip(part.indices, part.logprobs_B, strict=True)
    trunk = min(40, *(row.mask.index(True) - 1 for row in rows))
    assert passes[0] == passes[-1] == trunk
    work, bins = shared.work(rows), len(passes) - 2
    assert bins > 1
    assert sum(passes) == work.forwarded <= work.unique + trunk + bins * (40 - trunk)
    assert _apart(torch.cat([seen[b] for b in range(4)]), torch.cat(expected_B)) < 1e-5
    assert _apart(_gradient(model), gradient) < 1e-5


def test_a_step_that_is_broken_off_holds_nothing_of_its_trunk():
    rows, model = _rows(40, (9, 3, 14, 5)), _with_lora(MODELS["qwen3"]()).eval()
    kept: list[weakref.ref[Any]] = []
    real = forward.StepTrunk

    def watched(length: int, computed: Any) -> Any:
        kept.extend(weakref.ref(tensor) for pair in computed.values() for tensor in pair)
        return real(length, computed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward, "StepTrunk", watched)
        part = next(forward.Forward(model, max_tokens=20, checkpointing=True).bins(rows))
        torch.cat(part.logprobs_B).sum().backward()
    del part
    gc.collect()
    assert len(kept) >= 6
    assert not any(ref() is not None for ref in kept)


def test_bins_without_gradients_share_what_their_rows_begin_with_too():
    rows, model = _rows(40, (9, 3, 14, 5)), _with_lora(MODELS["qwen3"]())
    passes = _computed(model)
    with torch.no_grad():
        computed = list(forward.Forward(model, max_tokens=20).bins(rows, temperature=0.7))
        assert passes.count(max(passes)) == 1
        expected_B = [_whole_logprobs(model, row, 0.7) for row in rows]
    found = {i: logprobs for part in computed for i, logprobs in zip(part.indices, part.logprobs_B, strict=True)}
    assert _apart(torch.cat([found[b] for b in range(4)]), torch.cat(expected_B)) < 1e-5


def test_in_bfloat16_gradients_of_what_many_bins_share_are_summed_in_float32():
    # Added up in bfloat16, the shares of sixty bins would be lost in the sum of the others.
    rows, model = _rows(30, (6,) * 60), _with_lora(MODELS["qwen3"]()).eval()
    weight_B = [torch.ones(sum(row.mask)) for row in rows]
    _, exact = _expected(model, rows, weight_B)
    _, whole = _found(model, rows, weight_B, share=False, max_tokens=36, bf16=True)
    _, found = _found(model, rows, weight_B, max_tokens=6, bf16=True)
    assert _apart(found, exact) < 1.5 * _apart(whole, exact)


@pytest.mark.parametrize("kind", ["longrope", "dynamic"])
def test_tokens_that_are_rotated_by_the_length_of_the_pass_have_no_trunk(kind: str):
    rope: dict[str, Any] = {"rope_type": kind, "rope_theta": 1e4, "factor": 4.0}
    if kind == "longrope":
        rope |= {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4, "original_max_position_embeddings": 32}
    model = random_model(LlamaForCausalLM, **SIZES, max_position_embeddings=32, rope_parameters=rope)
    rows = _rows(24, (20, 20, 20, 20))
    shared = forward.Forward(model, max_tokens=44)
    passes = _computed(model)
    with torch.no_grad():
        found = {i: p for part in shared.bins(rows, 0.7) for i, p in zip(part.indices, part.logprobs_B, strict=True)}
        expected_B = [_whole_logprobs(model, row, 0.7) for row in rows]
    assert passes[:4] == [43] * 4
    assert _apart(torch.cat([found[b] for b in range(4)]), torch.cat(expected_B)) < 1e-4


def test_what_saves_little_is_computed_with_each_bin():
    rows, model = _rows(2, (30, 30, 30, 30)), MODELS["qwen3"]()
    passes = _computed(model)
    list(forward.Forward(model, max_tokens=32).bins(rows))
    assert passes[-4:] == [31] * 4


def test_rows_that_are_trained_from_the_second_token_on_have_no_trunk():
    rows, model = CASES["the second token is trained"], MODELS["qwen3"]()
    passes = _computed(model)
    list(forward.Forward(model, max_tokens=2).bins(rows))
    assert passes[-2:] == [2, 3]  # what comes before is the trial of sharing
