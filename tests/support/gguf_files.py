"""GGUF files of tiny random models, as llama.cpp's converter (convert_hf_to_gguf.py) writes them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import MODEL_ARCH, GGMLQuantizationType, GGUFWriter
from numpy.typing import NDArray
from transformers import Gemma3ForCausalLM, LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM

from support.models import byte_level_tokenizer, random_model

Array = NDArray[np.float32]
ARCHITECTURES: dict[str, tuple[Any, MODEL_ARCH]] = {
    "llama": (LlamaForCausalLM, MODEL_ARCH.LLAMA),
    "qwen2": (Qwen2ForCausalLM, MODEL_ARCH.QWEN2),
    "qwen3": (Qwen3ForCausalLM, MODEL_ARCH.QWEN3),
    "gemma3": (Gemma3ForCausalLM, MODEL_ARCH.GEMMA3),
}


def tiny(architecture: str, seed: int = 0) -> Any:
    """A random model of two layers, 32 wide, whose vocabulary is that of `byte_level_tokenizer`."""
    tokenizer = byte_level_tokenizer()
    settings: dict[str, Any] = {"tie_word_embeddings": architecture in ("qwen2", "gemma3"), "intermediate_size": 64}
    if architecture == "qwen3":
        settings["head_dim"] = 128  # that of all published ones, which transformers 5.23 takes for granted
    ends = {
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = random_model(ARCHITECTURES[architecture][0], seed=seed, max_position_embeddings=512, **ends, **settings)
    for name, parameter in model.named_parameters():  # fresh norms are constant, which hides what happens to them
        if "norm" in name:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model


def quantized(array: Array) -> Array:
    """The values of an array after they were rounded to 8 bits (Q8_0), as matrices of the quantized file are."""
    packed = gguf.quants.quantize(array, GGMLQuantizationType.Q8_0)
    return gguf.quants.dequantize(packed, GGMLQuantizationType.Q8_0)


def write_gguf(
    model: Any, file: Path, *, bits: int = 32, template: str = "", splits: str = "gpt-2", without: str = ""
) -> None:
    """Write a model of `tiny` with its tokenizer. `bits` is 32 or 8, `splits` the pre-tokenizer's name, `without` the
    name of a tensor that is left out."""
    config, arch = model.config, ARCHITECTURES[model.config.model_type.removesuffix("_text")][1]
    writer = GGUFWriter(file, gguf.MODEL_ARCH_NAMES[arch])
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(_head_size(config))
    writer.add_value_length(_head_size(config))
    writer.add_rope_dimension_count(_head_size(config))
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if arch == MODEL_ARCH.GEMMA3:
        writer.add_sliding_window(config.sliding_window)
    writer.add_vocab_size(config.vocab_size)
    _write_tokenizer(writer, splits, template)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        own = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if own is None or own == without or (name == "lm_head.weight" and config.tie_word_embeddings):
            continue
        array = _reordered(arch, config)(name, tensor).float().numpy()
        if bits == 8 and array.ndim == 2:
            packed = gguf.quants.quantize(array, GGMLQuantizationType.Q8_0)
            writer.add_tensor(own, packed, raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(own, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _head_size(config: Any) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _write_tokenizer(writer: GGUFWriter, splits: str, template: str) -> None:
    tokenizer: Any = byte_level_tokenizer()
    by_id = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    added = tokenizer.get_added_vocab()
    merges: list[list[str]] = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splits)
    writer.add_token_list(by_id)
    writer.add_token_types([3 if token in added else 1 for token in by_id])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    if template:
        writer.add_chat_template(template)


def _reordered(arch: MODEL_ARCH, config: Any) -> Callable[[str, torch.Tensor], torch.Tensor]:
    """What llama.cpp does to values: it interleaves Llama's rotary halves, and Gemma's norms are 1 + weight."""

    def reorder(name: str, tensor: torch.Tensor) -> torch.Tensor:
        if arch == MODEL_ARCH.LLAMA and ("q_proj" in name or "k_proj" in name):
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            halves = tensor.reshape(heads, 2, tensor.shape[0] // heads // 2, *tensor.shape[1:])
            return halves.swapaxes(1, 2).reshape(tensor.shape)
        return tensor + 1 if arch == MODEL_ARCH.GEMMA3 and "norm" in name else tensor

    return reorder
