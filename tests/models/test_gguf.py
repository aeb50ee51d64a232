"""`--model FILE.gguf`: the file's model is computed as the one that it was written from, and damage is one line."""

from pathlib import Path
from typing import Any

import pytest
import torch
from support.command_line import mcprl
from support.gguf_files import ARCHITECTURES, quantized, tiny, write_gguf
from support.models import byte_level_tokenizer
from tokenizers import Regex, pre_tokenizers
from transformers import AutoModelForCausalLM
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from mcprl.chat.families import dialect
from mcprl.config import ModelConfig
from mcprl.errors import MissingExtra, ModelError
from mcprl.models import dequantizing, gguf
from mcprl.models.load import LoadedModel, load_model
from mcprl.models.places import NANO, locate

TEMPLATE = (NANO / "chat_template.jinja").read_text()
IDS = torch.arange(40)[None] * 7 % 380
TEXT = 'Which order did "C17" place?\n    12.50 {"id": 42}<|im_end|>\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of converted models."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mcprl" / "models"


def load(file: Path) -> LoadedModel:
    return load_model(ModelConfig(name=str(file)))


def folders(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.glob("*") if path.name != ".lock")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_logits_are_those_of_the_model_that_the_file_was_written_from(architecture: str, tmp_path: Path) -> None:
    model, file = tiny(architecture).eval(), tmp_path / "tiny.gguf"
    write_gguf(model, file)
    gguf.convert(file, tmp_path / "tiny")
    converted: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")
    with torch.no_grad():
        torch.testing.assert_close(converted(IDS).logits, model(IDS).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("architecture", "splits"), [("llama", "gpt-2"), ("qwen2", "qwen2"), ("qwen3", "qwen2")])
def test_the_policy_reads_and_ends_turns_as_the_files_tokenizer_says(
    architecture: str, splits: str, tmp_path: Path
) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(tiny(architecture), file, template=TEMPLATE, splits=splits)
    loaded, tokenizer = load(file), byte_level_tokenizer()
    if splits == "qwen2":  # each digit by itself, words with the sign before them
        parts = [pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"), pre_tokenizers.ByteLevel(False, False)]
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    assert loaded.tokenizer.encode(TEXT) == tokenizer.encode(TEXT)
    assert loaded.end_ids == (tokenizer.eos_token_id,)
    assert dialect(loaded.tokenizer).name == "hermes"


def test_weights_of_eight_bits_are_dequantized_exactly(tmp_path: Path) -> None:
    model, file = tiny("llama").eval(), tmp_path / "tiny.gguf"
    write_gguf(model, file, bits=8, template=TEMPLATE)
    with torch.no_grad():
        exact = model(IDS).logits
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.copy_(torch.from_numpy(quantized(parameter.numpy())))
        loaded = load(file).model
        logits, rounded = loaded(IDS.to(loaded.device)).logits.cpu(), model(IDS).logits
    torch.testing.assert_close(logits, rounded, atol=1e-5, rtol=1e-5)
    assert (logits - exact).abs().max() > 1e-4


def test_a_file_is_converted_once_and_again_if_it_changes(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(tiny("qwen3"), file, template=TEMPLATE)
    first = Path(locate(str(file)))
    made = (first / "model.safetensors").stat().st_mtime_ns
    assert locate(str(file)) == str(first)
    assert (first / "model.safetensors").stat().st_mtime_ns == made
    assert first.parent == cache
    write_gguf(tiny("qwen3", seed=1), file, template=TEMPLATE)
    assert locate(str(file)) != str(first)


def test_each_digit_stands_alone_where_llama_cpp_splits_so(tmp_path: Path) -> None:
    tokens: dict[str, list[str]] = {}
    for splits in ("gpt-2", "smollm"):
        file = tmp_path / f"{splits}.gguf"
        write_gguf(tiny("llama"), file, splits=splits)
        gguf.convert(file, tmp_path / splits)
        tokenizer: Any = dequantizing.AutoTokenizer.from_pretrained(tmp_path / splits)
        parts = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("is   42 a")
        tokens[splits] = [part for part, _ in parts]
    assert tokens == {"gpt-2": ["is", "ĠĠ", "Ġ42", "Ġa"], "smollm": ["is", "ĠĠĠ", "4", "2", "Ġa"]}


def test_a_file_without_a_template_for_tools_is_refused_until_there_is_one(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(tiny("qwen2"), file)
    with pytest.raises(ModelError, match=r"has no chat template; add chat_template.jinja to its folder, /") as error:
        load(file)
    folder = Path(str(error.value).rpartition(" ")[2])
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    with pytest.raises(ModelError, match="does not show tools"):
        load(file)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    assert load(file).path == str(folder)


def damaged(fault: str, file: Path) -> None:
    if fault == "other shapes":
        model = tiny("llama")
        model.config.intermediate_size = 96
        write_gguf(model, file)
        return
    write_gguf(
        tiny("llama"), file, template=TEMPLATE, without="blk.1.ffn_up.weight" if fault == "a tensor less" else ""
    )
    content = file.read_bytes()
    if fault == "no GGUF":
        file.write_bytes(b"PK" + content[2:])
    elif fault == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif fault == "empty":
        file.write_bytes(b"")
    elif fault == "unknown architecture":
        file.write_bytes(content.replace(b"llama", b"loama"))
    elif fault == "no file":
        file.unlink()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("no GGUF", "cannot be read as GGUF: "),
        ("cut", "cannot be read as GGUF: "),
        ("empty", "cannot be read as GGUF: "),
        ("unknown architecture", "loama"),
        ("a tensor less", "lacks 1 weights of a LlamaForCausalLM, such as model.layers.1.mlp.up_proj.weight"),
        ("other shapes", "has weights of other shapes than its metadata says: "),
        ("no file", "cannot be read: No such file or directory"),
    ],
)
def test_a_damaged_file_is_one_line_and_leaves_nothing(fault: str, reason: str, tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "tiny.gguf"
    damaged(fault, file)
    done = mcprl("setup", "model", str(file))
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert str(file) in done.err
    assert reason in done.err
    assert folders(cache) == []


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(tiny("llama"), file)
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"gguf is not installed; install it with: pip install 'mcprl\[gguf\]'"):
        locate(str(file))


def test_a_disk_that_is_full_is_one_line_and_leaves_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(tiny("llama"), file, template=TEMPLATE)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dequantizing.transformers.LlamaForCausalLM, "save_pretrained", full)
    with pytest.raises(ModelError, match=r"tiny.gguf cannot be converted into .*: No space left on device"):
        locate(str(file))
    assert folders(cache) == []
