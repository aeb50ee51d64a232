"""The one builder of tiny random models, in memory or in a folder, and a tokenizer for them."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers import models as tokenizer_models
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

TEXTS = [
    'Which order did customer C17 place? <tool_call>{"name": "get_order", "arguments": {"order_id": 42}}</tool_call>',
    '{"name": "Ada Lovelace", "city": "London", "total": 12.50, "items": [1, 2, 3]} system user assistant tool\n',
    "get_order(order_id: int, full?: bool) Look an order up. The order does not exist.",
]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
}


def random_model(architecture: Any = Qwen3ForCausalLM, *, seed: int = 0, **settings: Any) -> Any:
    """A causal LM with random weights, 32 wide with two layers unless `settings` of its config say otherwise.

    It seeds torch's own generator, so that a LoRA made next is the same each time, too.
    """
    torch.manual_seed(seed)
    return architecture(architecture.config_class(**SIZES | settings))


def save_random_model(folder: Path, tokenizer: Any, architecture: Any = Qwen3ForCausalLM, **settings: Any) -> None:
    """Write such a model with its tokenizer into a folder. The generator of the caller is left alone."""
    tokenizer.save_pretrained(str(folder))
    ends = {"vocab_size": len(tokenizer), "eos_token_id": tokenizer.eos_token_id}
    with torch.random.fork_rng(devices=[]):
        random_model(architecture, **ends | settings).save_pretrained(str(folder))


def byte_level_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer with few merges and the control tokens of ChatML."""
    bpe = Tokenizer(tokenizer_models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(TEXTS * 4, trainers.BpeTrainer(vocab_size=380, initial_alphabet=alphabet))
    bpe.add_special_tokens([AddedToken(text, special=True) for text in ("<|im_start|>", "<|im_end|>", "<|pad|>")])
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|pad|>")
