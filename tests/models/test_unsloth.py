"""A base loaded through unsloth against the same base through transformers: log-probabilities and gradients.

Unsloth changes classes of transformers and peft for good, so each side is computed by a process of its own: this file,
run as a script. On a CPU it computes with the layers that unsloth makes for a GPU: its test switch UNSLOTH_ALLOW_CPU
does that, and what it asks of the GPU (name, memory) is answered here.
"""

import os
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from mcprl.config import ModelConfig  # noqa: E402
from mcprl.errors import MissingExtra  # noqa: E402
from mcprl.models import unsloth  # noqa: E402
from mcprl.models.load import load_model  # noqa: E402
from mcprl.training.forward import Forward  # noqa: E402
from mcprl.types import Row  # noqa: E402

installed = pytest.mark.skipif(find_spec("unsloth") is None, reason="make test-unsloth installs unsloth")

Setting = tuple[dict[str, Any], dict[str, bool]]
SETTINGS: dict[str, list[Setting]] = {  # of the model, and of the forward pass
    "cpu": [({}, {}), ({}, {"checkpoint": True}), ({}, {"share": False})],
    "cuda": [
        ({}, {}),
        ({"dtype": "bfloat16"}, {"checkpoint": True}),
        ({"dtype": "bfloat16", "quantization": "nf4"}, {}),
    ],
}
no_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.unsloth
@installed
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, no_cuda])])
def test_its_layers_give_the_log_probabilities_and_gradients_of_transformers(
    device: str, tiny_model: Path, tmp_path: Path
) -> None:
    sides = [_measured(loader, device, tiny_model, tmp_path) for loader in ("transformers", "unsloth")]
    for (options, forward), ours, theirs in zip(SETTINGS[device], *sides, strict=True):
        assert [ours["of_unsloth"], theirs["of_unsloth"]] == [False, True]
        assert theirs["shares"] == ours["shares"] == forward.get("share", True)
        near = 3e-2 if options.get("dtype") == "bfloat16" else 1e-4
        for name in ("logprobs", "gradients"):
            off = float((theirs[name] - ours[name]).norm() / ours[name].norm())
            assert off < near, f"{name} with {options} {forward}"
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["transformers", "unsloth"], "unsloth wrote into the working directory"


def test_it_is_chosen_where_it_is_installed_and_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda", 0)
    for there, expected in ((True, [False, True]), (False, [False, False])):
        monkeypatch.setattr(unsloth, "find_spec", lambda name, there=there: there or None)
        assert [unsloth.wanted(ModelConfig(), device) for device in (cpu, cuda)] == expected
        assert not unsloth.wanted(ModelConfig(loader="transformers"), cuda)
    with pytest.raises(MissingExtra, match=r"pip install 'mcprl\[unsloth\]'"):
        unsloth.wanted(ModelConfig(loader="unsloth"), cuda)


def _measured(loader: str, device: str, model: Path, folder: Path) -> list[dict[str, Any]]:
    out = folder / loader
    out.mkdir()
    env = {**os.environ, "XDG_CACHE_HOME": str(out)}
    if device == "cpu":
        env |= {"UNSLOTH_ALLOW_CPU": "1", "TORCHDYNAMO_DISABLE": "1"}  # it compiles for a GPU only
    done = subprocess.run(
        [sys.executable, __file__, loader, device, str(model), str(out / "found.pt")],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout, "what unsloth prints belongs into the log"
    return torch.load(out / "found.pt")


def _gpu_in_words() -> None:
    """What unsloth asks of a GPU before it loads a model."""
    device = SimpleNamespace(name="none", total_memory=2**36, major=8, minor=0, multi_processor_count=108)
    torch.cuda.get_device_properties = lambda *_: device
    torch.cuda.get_device_capability = lambda *_: (8, 0)
    torch.cuda.max_memory_reserved = lambda *_: 0
    torch.cuda.current_stream = lambda *_: SimpleNamespace(cuda_stream=0)
    torch.cuda.device = lambda *_: nullcontext()


def _measure(options: dict[str, Any], share: bool = True, checkpoint: bool = False) -> dict[str, Any]:
    model: Any = load_model(ModelConfig(lora_rank=4, **options)).model.eval()
    draw = torch.Generator().manual_seed(1)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data = (torch.randn(parameter.shape, generator=draw) / 10).to(parameter)
    forward = Forward(model, share, checkpointing=checkpoint)
    trained = (False,) * 29 + (True,) * 20
    rows = [Row(f"t{n}", (*range(1, 30), *range(40 + n, 60 + n)), trained, (0.0,) * 49) for n in range(3)]
    found = torch.cat([logprobs for computed in forward.bins(rows) for logprobs in computed.logprobs_B])
    found.sum().backward()
    gradients = [parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]
    return {
        "of_unsloth": type(model.get_base_model().model.layers[0].mlp).__module__.startswith("unsloth"),
        "shares": forward.shares,
        "logprobs": found.detach().float().cpu(),
        "gradients": torch.cat(gradients).float().cpu(),
    }


if __name__ == "__main__":
    loader, device, model, file = sys.argv[1:]
    if device == "cpu":
        _gpu_in_words()
    common = {"loader": loader, "device": device, "name": model}
    torch.save([_measure({**common, **options}, **forward) for options, forward in SETTINGS[device]], file)
