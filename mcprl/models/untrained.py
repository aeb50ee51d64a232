"""Marks of calls that a model was never trained on, which its tokenizer then writes in plain text.

A token that no text ever held keeps the row that it began with, as do hundreds of others: their probabilities are
equal, so that none can become likely, however long a LoRA is trained. Qwen2.5-Coder's `<tool_call>` is such a token,
though its chat template asks for it. Without the token the mark is ordinary text, which the model can read and write.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors import safe_open
from torch.nn.functional import normalize
from transformers.utils.hub import cached_file

SAMPLE = 512
"""The last rows, which in padded vocabularies no token has."""
TWINS, EQUAL = 8, 0.999
"""Of these so many with such a cosine leave a token at most a ninth of the probability."""
_EMBEDDINGS, _OUTPUT = "embed_tokens.weight", "lm_head.weight"


def leave_out_untrained(tokenizer: Any, path: str) -> tuple[str, ...]:
    """Take the marks that the model in `path` was never trained on out of its tokenizer. Returns them.

    Marks are the tokens of the chat template that are ordinary text (`special: false`). A model whose weights are not
    on this machine keeps all.
    """
    template, known = str(tokenizer.chat_template or ""), tokenizer.added_tokens_decoder
    marks = {str(token): number for number, token in known.items() if not token.special and str(token) in template}
    if not marks:
        return ()
    rows = _rows(path, sorted(marks.values()))
    if rows is None:
        return ()
    of_marks, others = rows
    twins = (normalize(of_marks, dim=1) @ normalize(others, dim=1).T > EQUAL).sum(1).tolist()
    by_number = dict(zip(sorted(marks.values()), twins, strict=True))
    found = tuple(mark for mark, number in marks.items() if by_number[number] > TWINS)
    if found:
        tokenizer._tokenizer = _without(tokenizer.backend_tokenizer, found)
    return found


def _without(backend: tokenizers.Tokenizer, marks: Sequence[str]) -> tokenizers.Tokenizer:
    state = json.loads(backend.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] not in marks]
    for mark in marks:  # a vocabulary that was converted from GGUF has them, too
        state["model"]["vocab"].pop(mark, None)
    return tokenizers.Tokenizer.from_str(json.dumps(state))


def _rows(path: str, numbers: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The rows (n, hidden) of these tokens, and the last `SAMPLE`; `None` if the weights cannot be read here."""
    for file, names in _files(path):
        name = next((name for end in (_OUTPUT, _EMBEDDINGS) for name in names if name.endswith(end)), None)
        if name is None:
            continue
        with safe_open(file, framework="pt") as weights:
            matrix = weights.get_slice(name)
            size = matrix.get_shape()[0]
            if max(numbers) >= size:
                return None
            of = torch.cat([matrix[number : number + 1] for number in numbers])
            last = torch.arange(max(0, size - SAMPLE), size)
            others = matrix[max(0, size - SAMPLE) : size][~torch.isin(last, torch.tensor(numbers))]
        return of.float(), others.float()
    return None


def _files(path: str) -> Iterator[tuple[str, list[str]]]:
    """The safetensors files on this machine that hold a model's embeddings, with the names of their weights."""

    def here(name: str) -> str | None:
        if Path(path).is_dir():
            return str(file) if (file := Path(path) / name).is_file() else None
        return cached_file(path, name, local_files_only=True, _raise_exceptions_for_missing_entries=False)

    if index := here("model.safetensors.index.json"):
        places: dict[str, str] = json.loads(Path(index).read_text())["weight_map"]
        for end in (_OUTPUT, _EMBEDDINGS):
            for name, place in places.items():
                if name.endswith(end) and (file := here(place)):
                    yield file, [name]
    elif file := here("model.safetensors"):
        with safe_open(file, framework="pt") as weights:
            yield file, list(weights.keys())
