"""A large frozen base is held once: the trainer and the samplers of base and adapter multiply the same weights."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from support.models import random_model
from support.sampling import complete_all
from torch import Tensor
from transformers import LlamaForCausalLM

from mcprl.config import ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.engines.embedded.linear import Adapted
from mcprl.engines.embedded.weights import bare_model, merged_model, packed
from mcprl.models import packing, reading
from mcprl.models.adapters import save_adapter
from mcprl.models.load import LoadedModel, load_base, load_model
from mcprl.models.packing import Packed, SharedLora, can_pack, is_shared
from mcprl.training.lm_head import target_logprobs
from mcprl.types import Adapter, CompletionRequest

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="needs oneDNN"),
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning"),
]


@pytest.fixture
def loaded(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> LoadedModel:
    """A model that counts as large, with a LoRA that changes it."""
    monkeypatch.setattr(packing, "LARGE", 1)
    model = load_model(ModelConfig(name=str(tiny_model), lora_rank=4))
    for name, weight in model.model.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.normal_(weight, std=0.2)
    return model


def weights_of(model: Any) -> list[int]:
    return [id(layer.weight) for layer in model.modules() if isinstance(layer, Packed)]


async def test_the_base_is_held_once_and_sampled_with_as_it_is_trained(loaded: LoadedModel, tmp_path: Path) -> None:
    assert is_shared(loaded.model)
    adapter = Adapter(str(save_adapter(loaded, tmp_path / "step-1")), 1)
    engine = EmbeddedEngine(loaded)
    try:
        await engine.load_adapter(adapter)
        ask = CompletionRequest(({"role": "user", "content": "which order?"},), (), max_tokens=12, seed=3)
        (of_base,) = await complete_all(engine, [ask])
        (tuned,) = await complete_all(engine, [replace(ask, adapter=adapter.name)])
        decoders: list[Any] = [decoder.model for decoder in engine._decoders.values()]
    finally:
        await engine.close()
    held = weights_of(loaded.model)
    assert held
    for model in decoders:
        assert weights_of(model)[: len(held)] == held
        assert weights_of(model)[-1] == weights_of(decoders[0])[-1]  # the output layer
    assert sum(isinstance(layer, Adapted) for layer in decoders[0].modules()) in (0, len(held))
    for completion, switched_off in ((of_base, True), (tuned, False)):
        ids = torch.tensor([[*completion.prompt_ids, *completion.completion_ids]])
        start = len(completion.prompt_ids)
        if switched_off:
            with loaded.model.disable_adapter(), torch.no_grad():
                logits = loaded.model(input_ids=ids).logits
        else:
            with torch.no_grad():
                logits = loaded.model(input_ids=ids).logits
        own = logits[0, start - 1 : -1].log_softmax(-1).gather(1, ids[0, start:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(completion.logprobs), own, atol=1e-4, rtol=0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_are_those_of_plain_layers(tiny_model: Path, dtype: Any, monkeypatch: Any) -> None:
    """In bfloat16 they are as near to those of the same weights in float32. The layers' parts are smaller than the
    rows."""
    monkeypatch.setattr(packing, "PART", 128 * 7)
    if not can_pack(torch.zeros(1, dtype=getattr(torch, dtype))):
        pytest.skip(f"this CPU packs no {dtype}")
    plain, shared = (_tuned(tiny_model, dtype, large, monkeypatch) for large in (2**60, 1))
    assert (is_shared(plain), is_shared(shared)) == (False, True)
    assert sum(isinstance(layer, SharedLora) for layer in shared.modules()) == len(weights_of(shared))

    def gradient(model: Any) -> Tensor:
        model(input_ids=torch.arange(1, 40)[None]).logits.float().log_softmax(-1)[..., 7].sum().backward()
        return torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.requires_grad])

    exact = gradient(copy.deepcopy(plain).float())
    rounding, error = ((gradient(model) - exact).norm() / exact.norm() for model in (plain, shared))
    assert error <= max(1e-5, 1.3 * float(rounding))
    with torch.no_grad(), plain.disable_adapter(), shared.disable_adapter():
        ids = torch.arange(1, 40)[None]
        near = 1e-5 if dtype == "float32" else 0.02
        torch.testing.assert_close(shared(input_ids=ids).logits, plain(input_ids=ids).logits, atol=near, rtol=near)


def _tuned(folder: Path, dtype: Any, large: int, monkeypatch: Any) -> Any:
    monkeypatch.setattr(packing, "LARGE", large)
    model = load_model(ModelConfig(name=str(folder), lora_rank=4, dtype=dtype)).model
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.normal_(weight, std=0.2)
    return model


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_large_weights_are_read_as_transformers_reads_them(tiny_model: Path, dtype: Any, monkeypatch: Any) -> None:
    config = ModelConfig(name=str(tiny_model), dtype=dtype)
    expected = load_base(config).model
    monkeypatch.setattr(reading, "LARGE", 1)
    monkeypatch.setattr(reading, "read_model", seen := Mock(wraps=reading.read_model))
    found = load_base(config).model
    assert seen.called
    assert (found.dtype, found.name_or_path) == (expected.dtype, expected.name_or_path)
    assert found.generation_config.to_dict() == expected.generation_config.to_dict()
    assert found.state_dict().keys() == expected.state_dict().keys()
    assert all(torch.equal(tensor, expected.state_dict()[name]) for name, tensor in found.state_dict().items())


def test_dora_keeps_whole_weights_which_it_needs_the_norms_of(tiny_model: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "LARGE", 1)
    assert not is_shared(load_model(ModelConfig(name=str(tiny_model), lora_rank=4, dora=True)).model)


def test_without_onednn_nothing_is_packed(loaded: LoadedModel, monkeypatch: Any) -> None:
    """As on Apple silicon."""
    model = random_model(LlamaForCausalLM, hidden_size=256, intermediate_size=1024, vocab_size=300)
    assert any(isinstance(layer, Packed) for layer in packed(bare_model(model)).modules())
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not can_pack(model.lm_head.weight)
    assert not packing.share_base(copy.deepcopy(model))
    assert not any(isinstance(layer, Packed) for layer in packed(bare_model(model)).modules())


def test_a_dora_of_others_scales_the_rows_of_a_packed_weight(tiny_model: Path, loaded: LoadedModel, tmp_path: Path):
    dora = load_model(ModelConfig(name=str(tiny_model), lora_rank=4, dora=True))
    for name, weight in dora.model.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.normal_(weight, std=0.2)
    folder = save_adapter(dora, tmp_path / "dora")
    ids = torch.arange(1, 30)[None]
    with torch.no_grad():
        expected = dora.model(input_ids=ids).logits
        base = bare_model(loaded.model)
        base.config._attn_implementation = "eager"
        found = merged_model(base, str(folder))(input_ids=ids).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_an_output_layer_of_its_own_is_held_once_and_trains_as_a_plain_one(monkeypatch: Any) -> None:
    sizes = {"hidden_size": 64, "intermediate_size": 128, "vocab_size": 300, "tie_word_embeddings": False}
    plain = random_model(LlamaForCausalLM, **sizes).requires_grad_(False)
    monkeypatch.setattr(packing, "LARGE", 1)
    shared = copy.deepcopy(plain)
    assert packing.share_base(shared)
    assert isinstance(shared.lm_head, Packed)
    assert packed(shared).lm_head.weight is shared.lm_head.weight
    targets, found = torch.arange(9), []
    for head in (plain.lm_head, shared.lm_head):
        hidden = torch.linspace(-1, 1, 9 * 64).view(9, 64).requires_grad_()
        logprobs = target_logprobs(head, hidden, targets)
        logprobs.sum().backward()
        found.append((logprobs, hidden.grad))
    torch.testing.assert_close(found[1], found[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_autocast_changes_nothing_in_layers_that_have_their_own_types(
    tiny_model: Path, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--autocast bf16` of a large model ended its first update with an error of torch's (2026-11-30)."""
    if not can_pack(torch.zeros(1, dtype=getattr(torch, dtype))):
        pytest.skip(f"this CPU packs no {dtype}")
    monkeypatch.setattr(packing, "LARGE", 1)
    model = load_model(ModelConfig(name=str(tiny_model), lora_rank=4, dtype=dtype)).model
    layer: Any = next(module for module in model.modules() if isinstance(module, SharedLora))
    torch.nn.init.normal_(layer.lora_B["default"].weight)
    found: list[tuple[Tensor, ...]] = []
    for enabled in (False, True):
        x = torch.ones(3, layer.in_features, dtype=getattr(torch, dtype), requires_grad=True)
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            out: Tensor = layer(x)
            out.float().sum().backward()
        assert x.grad is not None
        found.append((out.detach(), x.grad, layer.lora_A["default"].weight.grad.clone()))
    for plain, cast in zip(*found, strict=True):
        assert torch.equal(plain, cast)
