"""A base in 8 or 4 bits: near the one in float32, trained through its LoRA, sampled as it is trained."""

import logging
import re
from pathlib import Path

import pytest
import torch
from support.paths import ROOT

from mcprl.config import ModelConfig, TrainingConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import MissingExtra, ModelError
from mcprl.models import load as models
from mcprl.models.load import load_model
from mcprl.models.quantized import whole_weights
from mcprl.training.forward import Forward
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, Completion, CompletionRequest, Row

pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")
ASKED = ({"role": "user", "content": "Which order did customer C17 place?"},)


def _row(turn: Completion) -> Row:
    prompt, said = turn.prompt_ids, turn.completion_ids
    mask = (False,) * len(prompt) + (True,) * len(said)
    return Row("t", prompt + said, mask, (0.0,) * len(prompt) + turn.logprobs)


@pytest.mark.parametrize(("kind", "near", "apart"), [("int8", 0.02, 0.02), ("nf4", 0.2, 1e-4)])
async def test_a_quantized_base_is_near_the_whole_one_and_learns_and_is_sampled_as_it_is_trained(
    kind: str, near: float, apart: float, tmp_path: Path
) -> None:
    pytest.importorskip("bitsandbytes")
    whole = load_model(ModelConfig())
    loaded = load_model(ModelConfig.model_validate({"quantization": kind}))
    assert loaded.model.get_memory_footprint() < 0.6 * whole.model.get_memory_footprint()
    engine = EmbeddedEngine(loaded)
    try:
        base = [await engine.complete(CompletionRequest(ASKED, max_tokens=24, seed=seed)) for seed in range(4)]
        rows = [_row(turn) for turn in base]
        with torch.no_grad():
            one, other = (
                torch.cat([p for part in Forward(policy.model).bins(rows) for p in part.logprobs_B])
                for policy in (whole, loaded)
            )
        assert 0 < float((one - other).abs().mean()) < near

        trainer = Trainer(loaded, TrainingConfig(learning_rate=1e-3, autocast="off"))
        assert trainer.forward.shares
        losses = [trainer.supervise(rows[:1], 3e-3)["loss"] for _ in range(10)]
        assert losses[-1] < losses[0] / 2
        trainer.save(tmp_path / "step-1")
        adapter = Adapter(str(tmp_path / "step-1"), 1)
        await engine.load_adapter(adapter)
        requests = [CompletionRequest(ASKED, max_tokens=24, seed=seed, adapter=adapter.name) for seed in range(4)]
        turns = [await engine.complete(request) for request in requests]
        metrics = trainer.update([(_row(turn), 1.0) for turn in turns])
        assert metrics["sampler_gap_mean"] < apart
        assert metrics["skipped"] == 0
        again = await engine.complete(CompletionRequest(ASKED, max_tokens=24, seed=0))
        assert (
            again.completion_ids == base[0].completion_ids
        )  # the adapter did not touch what the base model shares with it
    finally:
        await engine.close()


def test_what_vllm_serves_of_a_base_in_4_bits_is_what_the_trainer_computes_with(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    quantized = load_model(ModelConfig(quantization="nf4"))
    ids = tuple(quantized.tokenizer.encode("Order O-17 was placed by customer C-3 on 5 May, and it has been shipped."))
    row = Row("t", ids, (False, *(True,) * (len(ids) - 1)), (0.0,) * len(ids))
    folder = tmp_path / "run" / "vllm-weights"
    with whole_weights(quantized, folder) as served:
        assert served == str(folder)
        policies = [quantized, load_model(ModelConfig(name=served)), load_model(ModelConfig())]
    assert not folder.exists()
    with torch.no_grad():
        trained, sampled, base = (next(Forward(policy.model).bins([row])).logprobs_B[0] for policy in policies)
    assert float((trained - sampled).abs().max()) < 1e-5 < float((trained - base).abs().max())


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # torch's compiler reads it, on a GPU
def test_a_base_in_4_bits_has_the_log_probabilities_and_gradients_of_what_its_codes_stand_for() -> None:
    """After a forward without gradients, too, at which bitsandbytes repacks weights on CPUs with bfloat16."""
    bitsandbytes = pytest.importorskip("bitsandbytes")
    whole, quantized = load_model(ModelConfig()), load_model(ModelConfig(quantization="nf4"))
    layers = dict(whole.model.named_modules())
    for name, layer in quantized.model.named_modules():
        if isinstance(layer, bitsandbytes.nn.Linear4bit):
            codes = layer.weight
            layers[name].weight.data = bitsandbytes.functional.dequantize_4bit(codes.data, codes.quant_state).float()
    ids = tuple(range(100, 160))
    row = Row("t", ids, (False,) * 30 + (True,) * 30, (0.0,) * 60)
    found: list[torch.Tensor] = []
    for loaded in (whole, quantized):
        torch.manual_seed(0)
        for name, parameter in loaded.model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter, std=0.02)
        forward = Forward(loaded.model)
        with torch.no_grad():
            next(forward.bins([row]))
        (logprobs,) = next(forward.bins([row])).logprobs_B
        logprobs.sum().backward()
        gradient = [p.grad.flatten() for p in loaded.model.parameters() if p.grad is not None]
        found += [logprobs.detach(), torch.cat(gradient)]
    torch.testing.assert_close(found[2:], found[:2], rtol=1e-4, atol=1e-4)


def test_what_imports_bitsandbytes_stands_behind_the_line_that_silences_its_complaint() -> None:
    """Every command began with "Failed to load CPU gemm_4bit_forward"; a real command is in tests/test_export.py."""
    importing = re.compile(r"^\s*(?:from|import) (?:peft|bitsandbytes|accelerate)\b", re.MULTILINE)
    found = [path for path in (ROOT / "mcprl").rglob("*.py") if importing.search(path.read_text())]
    assert found
    assert {path.parent for path in found} == {ROOT / "mcprl" / "models"}
    assert logging.getLogger("bitsandbytes.backends.cpu.ops").level == logging.ERROR


def test_quantization_without_bitsandbytes_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'mcprl\[quant\]'"):
        load_model(ModelConfig(quantization="nf4"))


def test_dora_over_a_quantized_base_is_refused() -> None:
    pytest.importorskip("bitsandbytes")
    with pytest.raises(ModelError, match="choose one of the two"):
        load_model(ModelConfig(quantization="nf4", dora=True))


@pytest.mark.parametrize(("name", "hint"), [("gpu", "expected auto, cpu, cuda"), ("cuda:9", "torch sees")])
def test_a_device_that_is_not_there_is_refused(name: str, hint: str) -> None:
    with pytest.raises(ModelError, match=hint):
        load_model(ModelConfig(device=name))
