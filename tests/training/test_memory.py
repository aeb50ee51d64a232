"""The memory planner against published sizes, against what torch keeps, and as `mcprl train` says it."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from support.command_line import effective, mcprl
from support.models import random_model
from transformers import AutoModelForCausalLM, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from mcprl.cli import options
from mcprl.config import Config, ModelConfig
from mcprl.engines import placement
from mcprl.engines.vllm import environment
from mcprl.errors import ConfigError
from mcprl.files import bundled_folder, find_bundled, read_toml
from mcprl.models import packing, unsloth
from mcprl.models.load import load_model
from mcprl.models.packing import LARGE, share_base
from mcprl.runs.settings import parse
from mcprl.train import resolve
from mcprl.training import memory
from mcprl.training.forward import Forward
from mcprl.training.memory import (
    GIB,
    LEFT,
    SERVER,
    Need,
    Settings,
    Size,
    activations,
    base_weights,
    cache,
    changes,
    model_size,
    nearest,
    need,
    size_of,
)
from mcprl.types import Row

pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")

# config.json of the released models, and what their cards say: parameters in billions, with and without embeddings.
SHAPE = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "tie_word_embeddings")
QWEN3: dict[str, tuple[dict[str, Any], float, float]] = {
    "Qwen3-0.6B": (dict(zip(SHAPE, (1024, 3072, 28, 16, True), strict=True)), 0.6, 0.44),
    "Qwen3-4B": (dict(zip(SHAPE, (2560, 9728, 36, 32, True), strict=True)), 4.0, 3.6),
    "Qwen3-8B": (dict(zip(SHAPE, (4096, 12288, 36, 32, False), strict=True)), 8.2, 6.95),
    "Qwen3-14B": (dict(zip(SHAPE, (5120, 17408, 40, 40, False), strict=True)), 14.8, 13.2),
}


def published(name: str) -> Size:
    shape = Qwen3Config(vocab_size=151936, num_key_value_heads=8, head_dim=128, **QWEN3[name][0])
    with torch.device("meta"):
        return size_of(AutoModelForCausalLM.from_config(shape))


@pytest.mark.parametrize("name", QWEN3)
def test_parameters_are_those_that_the_models_cards_give(name: str) -> None:
    size, (shape, total, bare) = published(name), QWEN3[name]
    assert size.parameters / 1e9 == pytest.approx(total, abs=0.05)
    embeddings = 151936 * shape["hidden_size"] * (1 if shape["tie_word_embeddings"] else 2)
    assert (size.parameters - embeddings) / 1e9 == pytest.approx(bare, abs=0.05)
    assert size.adapted == size.linear == pytest.approx(size.parameters - embeddings, rel=1e-3)


def test_the_lora_is_counted_as_peft_makes_it(tiny_model: Path) -> None:
    for targets in ("all-linear", "q_proj, v_proj"):
        config = ModelConfig(name=str(tiny_model), lora_rank=4, lora_targets=targets)
        trained = sum(p.numel() for p in load_model(config).model.parameters() if p.requires_grad)
        assert 4 * model_size(config).lora == trained


def kept(
    layers: int, dtype: torch.dtype, checkpointed: bool, kind: Any, tokens: int, share: bool = False
) -> tuple[float, Size]:
    """Bytes that torch keeps for the backward pass of one row, without the parameters, and the model's size."""
    shape = {"hidden_size": 96, "intermediate_size": 256, "num_attention_heads": 6, "head_dim": 32}
    base = random_model(kind, vocab_size=61, num_hidden_layers=layers, **shape).to(dtype)
    size = size_of(base)
    model = get_peft_model(base, LoraConfig(r=8, target_modules="all-linear")).eval()
    assert not share or share_base(model)
    own = {p.untyped_storage().data_ptr() for p in model.parameters() if p.layout == torch.strided}
    held: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if (storage := tensor.untyped_storage()).data_ptr() not in own:
            held[storage.data_ptr()] = storage
        return tensor

    rng = random.Random(0)
    row = Row("t", tuple(rng.randrange(61) for _ in range(tokens)), (False,) * (tokens - 1) + (True,), (0.0,) * tokens)
    forward = Forward(model, checkpointing=checkpointed)
    assert forward.shares
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        next(forward.bins([row]))
    return sum(storage.nbytes() for storage in held.values()), size


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("kind", "low"), [(Qwen3ForCausalLM, 0.95), (LlamaForCausalLM, 0.8)])
def test_what_a_layer_keeps_for_backward_is_what_torch_keeps(
    kind: Any, low: float, dtype: str, checkpointed: bool
) -> None:
    """Llama keeps less, since it has no norms over queries and keys."""
    tokens, settings = 256, Settings(dtype=dtype, lora_rank=8, gradient_checkpointing=checkpointed)
    (one, size), (five, _) = (kept(layers, getattr(torch, dtype), checkpointed, kind, tokens + 1) for layers in (1, 5))
    each = replace(settings, bin_tokens=tokens, max_total_tokens=tokens)
    expected = [activations(replace(size, layers=layers), each) for layers in (1, 5)]
    assert low < (five - one) / (expected[1] - expected[0]) < 1.05


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="needs oneDNN")
def test_a_base_held_once_keeps_no_float32_copies_of_a_layers_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (packing, memory):
        monkeypatch.setattr(module, "LARGE", 1)
    if not packing.can_pack(torch.zeros(1, dtype=torch.bfloat16)):
        pytest.skip("this CPU packs no bfloat16")
    settings = Settings(dtype="bfloat16", lora_rank=8, bin_tokens=256, max_total_tokens=256)
    found = [kept(layers, torch.bfloat16, False, Qwen3ForCausalLM, 257, share=True) for layers in (1, 5)]
    (one, size), (five, _) = found
    expected = [activations(replace(size, layers=layers), settings) for layers in (1, 5)]
    assert 0.95 < (five - one) / (expected[1] - expected[0]) < 1.05


def test_the_base_weights_are_what_torch_allocates(tiny_model: Path) -> None:
    config = ModelConfig(name=str(tiny_model), lora_rank=4)
    model = load_model(config).model
    settings = Settings(lora_rank=4)
    size = model_size(config)
    frozen = sum(p.nbytes for p in model.parameters() if not p.requires_grad)
    assert base_weights(size, settings) == frozen
    for quantization in ("int8", "nf4"):
        pytest.importorskip("bitsandbytes")
        quantized = load_model(ModelConfig.model_validate({"quantization": quantization})).model
        expected = base_weights(model_size(ModelConfig()), replace(settings, quantization=quantization))
        lora = sum(p.nbytes for p in quantized.parameters() if p.requires_grad)
        assert quantized.get_memory_footprint() - lora == pytest.approx(expected, rel=0.1)


def test_where_sampling_takes_place_decides_what_is_needed_at_once() -> None:
    size, settings = published("Qwen3-8B"), Settings(dtype="bfloat16", gradient_checkpointing=True, gpu=True)
    needed_at = {place: need(size, replace(settings, place=place)) for place in ("paused", "awake", "apart")}
    assert (
        needed_at["paused"].train
        < needed_at["awake"].train
        == pytest.approx(needed_at["apart"].train + needed_at["apart"].serve)
    )
    short = replace(settings, place="paused", bin_tokens=1024, max_total_tokens=1024, max_batch=1)
    assert need(size, short).train - need(size, short).floor == pytest.approx(LEFT + SERVER + cache(size, short) / 2)
    assert needed_at["paused"].serve == needed_at["awake"].serve == 0
    assert needed_at["apart"].serve == 2 * size.parameters + cache(size, settings) / 2 + SERVER
    assert cache(size, settings) == 147456 * 64 * 4096  # 2 (k, v) x 2 bytes x 8 heads x 128 x 36 layers a token


def test_layers_are_recomputed_by_themselves_where_a_run_fits_only_so(monkeypatch: pytest.MonkeyPatch) -> None:
    size, config = published("Qwen3-4B"), Config(model=ModelConfig(device="cpu"))
    wanted = memory.settings(config, torch.device("cpu"), "embedded")
    kept, recomputed = (need(size, replace(wanted, gradient_checkpointing=on)).train for on in (False, True))
    assert recomputed < kept
    monkeypatch.setattr(memory, "model_size", lambda _: size)
    for room, on in ((kept + GIB, False), ((kept + recomputed) / 2, True)):
        monkeypatch.setattr(memory, "free", lambda _, room=room: room)
        fitting, line = memory.fitted(config, "embedded", "cpu")
        assert fitting.training.gradient_checkpointing is on
        assert ("with gradient checkpointing, without which it is" in line) is on
        assert "may run out" not in line
    stated = parse({"model": {"device": "cpu"}, "training": {"gradient_checkpointing": False}})
    fitting, line = memory.fitted(stated, "embedded", "cpu")
    assert not fitting.training.gradient_checkpointing
    assert "may run out of it; it would fit with --gradient-checkpointing" in line


def test_a_row_longer_than_a_bin_costs_little_more_than_its_layers_inputs() -> None:
    size, settings = published("Qwen3-0.6B"), Settings(bin_tokens=2048, max_total_tokens=2048)
    assert activations(size, replace(settings, max_total_tokens=4096)) == activations(size, settings)


def test_a_large_base_is_counted_once() -> None:
    small, large = (replace(published("Qwen3-0.6B"), parameters=n) for n in (LARGE - 1, LARGE))
    settings = Settings(dtype="bfloat16")
    assert memory.merged_copy(small, settings) == 2 * small.linear
    assert memory.merged_copy(large, settings) == large.head


def test_a_server_counts_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, cpu = torch.device("cuda"), torch.device("cuda", 1), torch.device("cpu")
    served = parse({"engine": {"kind": "vllm"}})
    monkeypatch.setattr(environment, "gpus", list[str])
    assert placement(served, cpu) == "awake"  # the CPU build
    monkeypatch.setattr(environment, "gpus", lambda: ["one", "another"])
    assert placement(served, first) == "awake"
    assert placement(parse({"engine": {"kind": "vllm", "sleep": True}}), first) == "paused"
    assert placement(preset("two-gpus"), second) == "apart"
    assert placement(served, cpu) == "apart"
    assert placement(parse({"engine": {"base_url": "http://127.0.0.1:8000/v1"}}), first) == "apart"
    assert placement(parse({"engine": {"kind": "embedded"}}), first) == "embedded"


@pytest.mark.parametrize(
    ("engine", "pipeline", "expected"),
    [
        ({"kind": "embedded"}, "auto", "off"),
        ({"kind": "vllm"}, "auto", "on"),
        ({"kind": "vllm", "sleep": True}, "auto", "off"),
        ({"base_url": "http://127.0.0.1:8000/v1"}, "auto", "on"),
        ({"kind": "vllm"}, "off", "off"),
        ({"kind": "embedded"}, "on", "on"),
    ],
)
def test_the_next_step_is_sampled_meanwhile_where_vllm_has_a_device_of_its_own(
    engine: dict[str, Any], pipeline: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "gpus", lambda: ["one"])  # vLLM's; the trainer is on the CPU
    given = parse({"engine": engine, "model": {"device": "cpu"}, "training": {"pipeline": pipeline}})
    assert resolve(given).training.pipeline == expected


def test_what_loads_the_model_is_written_down_for_a_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsloth, "find_spec", lambda _: True)
    on_a_gpu, on_a_cpu = parse({}), parse({"model": {"device": "cpu"}})
    monkeypatch.setattr(
        "mcprl.engines.machine.find_device", lambda name: torch.device("cuda" if name == "auto" else name)
    )
    monkeypatch.setattr("mcprl.engines.machine.placement", lambda *_: "embedded")
    assert [resolve(config).model.loader for config in (on_a_gpu, on_a_cpu)] == ["unsloth", "transformers"]


def test_a_server_on_a_gpu_of_its_own_must_fit_there() -> None:
    size, given = published("Qwen3-4B"), replace(Settings(dtype="bfloat16", gpu=True), place="apart")
    assert memory.verdict(size, given, 100 * GIB, "cuda:1", 60 * GIB).endswith("and vLLM about 27.0 GiB of 60.0 GiB")
    assert "it would fit with --max-batch" in memory.verdict(size, given, 100 * GIB, "cuda:1", 20 * GIB)


def test_what_does_not_fit_is_said_with_the_fewest_changes_that_make_it_fit() -> None:
    size, given = published("Qwen3-4B"), Settings(dtype="bfloat16", gpu=True)
    assert "--gradient-checkpointing" in memory.verdict(size, given, 40 * GIB, "cuda")
    for gib in (80, 40, 24, 16, 12):
        found = nearest(size, given, gib * GIB)
        assert found
        assert need(size, found).train <= gib * GIB
        changed = changes(given, found)
        for name in changed:  # none of them is idle
            back = replace(found, **{name: getattr(given, name)})
            assert need(size, back).train > gib * GIB
    assert nearest(size, given, 2 * GIB) is None


def test_it_is_refused_only_where_not_even_the_weights_fit() -> None:
    size, given = published("Qwen3-8B"), Settings(dtype="bfloat16", gpu=True)
    with pytest.raises(ConfigError, match=r"before the first token; it would fit with .*--quantization nf4"):
        memory.verdict(size, given, 16 * GIB, "cuda:0")
    with pytest.raises(ConfigError, match="take a smaller model"):
        memory.verdict(size, given, 4 * GIB, "cuda:0")
    assert "may run out of it; it would fit with" in memory.verdict(size, given, 48 * GIB, "cuda:0")
    assert memory.verdict(size, given, 200 * GIB, "cuda:0").endswith("of 200.0 GiB free (cuda:0)")


def test_what_is_advised_are_flags_of_train() -> None:
    size, given = published("Qwen3-14B"), memory.settings(Config(), torch.device("cuda"), "embedded")
    found = nearest(size, given, 16 * GIB)
    assert found
    for name in changes(given, found):
        leaf = options.flags()[name.replace("_", "-")]
        section, _, key = leaf.key.partition(".")
        changed = parse({section: {key: getattr(found, name)}})
        assert getattr(memory.settings(changed, torch.device("cuda"), "embedded"), name) == getattr(found, name)


def test_train_refuses_what_cannot_fit_in_one_line_and_leaves_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "free", lambda _: 2**20)
    done = mcprl("train", "--server", "never-started", "--device", "cpu")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "of 0.0 GiB free (cpu)" in done.err
    assert not (tmp_path / "runs").exists()


def test_free_memory_is_no_more_than_the_machine_has() -> None:
    free = memory.free(torch.device("cpu"))
    total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    assert 0 < free < 1024 * int(total.split()[1])


@pytest.mark.parametrize(("limit", "free"), [("max", None), (str(3 * 2**20), 2 * 2**20)])
def test_a_containers_limit_counts(
    limit: str, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{2**21}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {2**20}\nactive_file 7\n")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    found = memory.free(torch.device("cpu"))
    assert found == free if free else found > 2**20


# What each preset is for: its model, where that is sampled, and GiB that are free there (a bit less than the card's).
PRESETS = {
    "laptop": ("Qwen3-0.6B", "embedded", 11),
    "gpu-16gb": ("Qwen3-4B", "paused", 15),
    "gpu-24gb": ("Qwen3-4B", "paused", 23),
    "h100": ("Qwen3-8B", "embedded", 78),
    "h200": ("Qwen3-14B", "embedded", 138),
    "two-gpus": ("Qwen3-4B", "apart", 23),
}
MORE = [
    ("gpu-16gb", "Qwen3-0.6B", "paused", 15),
    ("h100", "Qwen3-8B", "awake", 78),
    ("h200", "Qwen3-14B", "awake", 138),
    ("two-gpus", "Qwen3-14B", "apart", 78),
]


def preset(name: str) -> Config:
    file = find_bundled("presets", name)
    return parse(read_toml(file), str(file))


def needed(name: str, model: str, place: Any) -> Need:
    device = torch.device("cpu" if name == "laptop" else "cuda")
    return need(published(model), memory.settings(preset(name), device, place))


@pytest.mark.parametrize(("name", "model", "place", "free"), [*((n, *rest) for n, rest in PRESETS.items()), *MORE])
def test_each_preset_fits_its_machine(name: str, model: str, place: str, free: float) -> None:
    found = needed(name, model, place)
    assert found.train < free * GIB
    assert found.serve < free * GIB


@pytest.mark.parametrize(("name", "card"), [("gpu-16gb", 16), ("gpu-24gb", 24)])
def test_the_part_of_a_card_that_a_preset_gives_to_vllm_is_enough_and_is_free(name: str, card: float) -> None:
    size, settings = published("Qwen3-4B"), memory.settings(preset(name), torch.device("cuda"), "paused")
    lora = memory.LORA * size.lora * settings.lora_rank
    trainer = memory.PROCESS + memory.LEFT + memory.base_weights(size, settings) + lora
    server = memory.SERVER + memory.BYTES[settings.dtype] * size.parameters + memory.cache(size, settings) / 2
    assert server < preset(name).engine.gpu_memory * card * GIB < (card - 0.5) * GIB - trainer


def test_the_presets_table_says_what_the_planner_counts() -> None:
    folder = bundled_folder("presets")
    assert {path.stem for path in folder.glob("*.toml")} == set(PRESETS)
    for line in (folder / "README.md").read_text().splitlines()[-len(PRESETS) :]:
        name = line.split("`")[1]
        model, place, _ = PRESETS[name]
        assert preset(name).model.name in (f"Qwen/{model}", "nano")
        assert model in line
        counted = needed(name, model, place)
        assert all(f"{count / GIB:.1f} GiB" in line for count in (counted.train, counted.serve) if count)


def test_a_preset_lies_beneath_the_file_and_the_flags(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[training]\nbin_tokens = 4096\n[engine]\nmax_batch = 8\n")
    tree = effective("train", "--preset", "gpu-16gb", "--config", str(file), "--max-batch", "4")
    assert tree["model"]["quantization"] == "nf4"
    assert (tree["training"]["bin_tokens"], tree["engine"]["max_batch"]) == (4096, 4)
    assert tree["training"]["gradient_checkpointing"] is True
    assert effective("train", "--preset", str(file))["engine"]["max_batch"] == 8
    done = mcprl("train", "--preset", "a100")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "bundled are: gpu-16gb, gpu-24gb, h100, h200, laptop, two-gpus" in done.err
