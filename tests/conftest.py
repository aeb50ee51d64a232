"""What many tests need: a tiny random policy with a real tokenizer and the nano policy's own chat template."""

import os
from pathlib import Path
from shutil import copy

import pytest
from jaxtyping import install_import_hook

# Tensor shapes are checked in these modules' functions; the hook works only on modules imported after it. It leaves out
# `flex_attention`, whose mask function torch.compile traces on a GPU, and `models.attention`, which is called so often
# that tests take a quarter longer: `test_shapes` checks it by itself.
SHAPED = ("training.loss", "training.forward", "training.trie_attention", "training.lm_head")
install_import_hook([f"mcprl.{module}" for module in SHAPED], "beartype.beartype")

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # importing litellm must not fetch a price list
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):  # the cores are shared out: more threads than cores crawl
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(workers))))

TEXTS = [
    'Which order did customer C17 place? <tool_call>{"name": "get_order", "arguments": {"order_id": 42}}</tool_call>',
    '{"name": "Ada Lovelace", "city": "London", "total": 12.50, "items": [1, 2, 3]} system user assistant tool\n',
    "get_order(order_id: int, full?: bool) Look an order up. The order does not exist.",
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random two-layer Qwen3, 32 wide, a byte-level BPE tokenizer and the nano policy's template."""
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    import mcprl.models

    folder = tmp_path_factory.mktemp("tiny")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(TEXTS * 4, trainers.BpeTrainer(vocab_size=380, initial_alphabet=alphabet))
    bpe.add_special_tokens([AddedToken(text, special=True) for text in ("<|im_start|>", "<|im_end|>", "<|pad|>")])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|pad|>")
    tokenizer.save_pretrained(str(folder))
    copy(Path(mcprl.models.__path__[0]) / "nano" / "chat_template.jinja", folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        config = Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            max_position_embeddings=2048,
            initializer_range=0.3,  # far enough from uniform for argmax and samples to mean something
            tie_word_embeddings=True,
            eos_token_id=bpe.token_to_id("<|im_end|>"),
            pad_token_id=bpe.token_to_id("<|pad|>"),
        )
        Qwen3ForCausalLM(config).save_pretrained(str(folder))
    return folder
