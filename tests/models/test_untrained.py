"""Tokens that no text held are left out of a tokenizer, so that a model writes the marks of its calls in plain text."""

import json
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from mcprl.chat.families import dialect
from mcprl.config import ModelConfig
from mcprl.models.load import load_model, read_info
from mcprl.models.places import NANO

MARKS = ("<tool_call>", "</tool_call>")
PADDED = 64


def padded(folder: Path, untrained: bool, sharded: bool = False) -> Path:
    """nano with rows at its end that no token has; `untrained`: those of its marks equal them."""
    copytree(NANO, folder, ignore=lambda *_: ["starter", "__pycache__"])
    weights = load_file(folder / "model.safetensors")
    rows = weights["model.embed_tokens.weight"]
    numbers = AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(list(MARKS))
    dead = torch.full_like(rows[0], 0.01)
    if untrained:
        rows[numbers] = dead
    weights["model.embed_tokens.weight"] = torch.cat([rows, dead.expand(PADDED, -1)])
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": len(rows) + PADDED}))
    (folder / "model.safetensors").unlink()
    name = "model-00001-of-00001.safetensors" if sharded else "model.safetensors"
    save_file(weights, folder / name, {"format": "pt"})
    if sharded:
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@pytest.mark.parametrize("sharded", [False, True])
def test_marks_that_no_text_held_are_plain_text_and_calls_are_read_as_before(tmp_path: Path, sharded: bool) -> None:
    info = read_info(ModelConfig(name=str(padded(tmp_path / "nano", untrained=True, sharded=sharded))))
    (fault,) = info.mended
    assert fault == "it was never trained on the tokens <tool_call> and </tool_call>, which are plain text now"
    ids = info.tokenizer.encode("<tool_call>")
    assert len(ids) > 1
    assert info.tokenizer.decode(ids) == "<tool_call>"
    assert dialect(info.tokenizer).name == "hermes"
    info.tokenizer.save_pretrained(tmp_path / "saved")
    assert AutoTokenizer.from_pretrained(tmp_path / "saved").encode("<tool_call>") == ids


def test_marks_that_a_model_knows_are_kept(tmp_path: Path) -> None:
    info = read_info(ModelConfig(name=str(padded(tmp_path / "nano", untrained=False))))
    assert info.mended == ()
    assert len(info.tokenizer.encode("<tool_call>")) == 1


def test_the_loaded_model_says_what_was_mended(tmp_path: Path) -> None:
    model = load_model(ModelConfig(name=str(padded(tmp_path / "nano", untrained=True))))
    assert len(model.mended) == 1
    assert len(model.tokenizer.encode("<tool_call>")) > 1
