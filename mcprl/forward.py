"""The forward pass over rows that begin alike: their common prefix is computed once, with gradient.

MCP prompts are long and shared by every rollout of a step, so the prefix's keys and values are computed for one row,
(1, P), expanded (a view) to B rows, and the suffixes (B, L), padded on the right, continue from them. Right padding
needs no mask: causal attention never looks at it from a real token, and the loss leaves it out. Log-probabilities and
gradients equal those of whole rows. Works with every transformers decoder that keeps keys and values in a cache, with
or without a LoRA; `model` is untyped because of that.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from mcprl.errors import ModelError, TrainingError
from mcprl.types import Row


@dataclass(frozen=True)
class Prefix:
    """A computed common prefix: final hidden states (P, H), and each layer's keys and values (1, heads, P, D)."""

    hidden: Tensor
    cache: Any

    def __len__(self) -> int:
        return len(self.hidden)

    def tensors(self) -> list[Tensor]:
        layers = self.cache.layers if self.cache is not None else []
        return [tensor for layer in layers for tensor in (layer.keys, layer.values)]


def common_prefix(ids_B: Iterable[Sequence[int]]) -> int:
    """How many tokens all rows have in common at their start."""
    ordered = sorted(map(list, ids_B))
    first, last = ordered[0], ordered[-1]
    return next((t for t, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def encode_prefix(model: Any, ids: Sequence[int]) -> Prefix:
    """Compute a prefix once; an empty one is fine."""
    decoder, head = _parts(model)
    if not ids:
        return Prefix(head.weight.new_zeros(0, head.weight.shape[1]), None)
    output = decoder(input_ids=torch.tensor([list(ids)], device=head.weight.device), use_cache=True)
    return Prefix(output.last_hidden_state[0], output.past_key_values)


def suffix_hidden(model: Any, prefix: Prefix, ids_B: Sequence[Sequence[int]]) -> list[Tensor]:
    """Final hidden states (L_b, H) of each row's tokens after the prefix, computed as one padded batch."""
    decoder, head = _parts(model)
    suffix_B = [torch.tensor(list(ids[len(prefix) :]), device=head.weight.device) for ids in ids_B]
    padded = torch.nn.utils.rnn.pad_sequence(suffix_B, batch_first=True)  # (B, L)
    cache = _map_cache(prefix.cache, lambda tensor: tensor.expand(len(ids_B), *tensor.shape[1:]))
    output = decoder(input_ids=padded, past_key_values=cache, use_cache=cache is not None)
    hidden = output.last_hidden_state  # (B, L, H)
    return [hidden[b, : len(suffix)] for b, suffix in enumerate(suffix_B)]


def shared_prefix_hidden(model: Any, ids_B: Sequence[Sequence[int]]) -> tuple[Tensor, list[Tensor]]:
    """Final hidden states of the rows' common prefix (P, H) and of each row's suffix (L_b, H), all in one graph.

    Every row keeps at least one token of its own.
    """
    prefix = encode_prefix(model, ids_B[0][: min(common_prefix(ids_B), min(map(len, ids_B)) - 1)])
    return prefix.hidden, suffix_hidden(model, prefix, ids_B)


def row_logprobs(model: Any, rows: Sequence[Row], temperature: float = 1.0) -> list[Tensor]:
    """Log-probabilities (T_trained) in nats of each row's trained tokens, as one batch in one graph."""
    return _suffix_logprobs(model, encode_prefix(model, _trained_prefix(rows)), rows, temperature)


def micro_batches(
    model: Any, rows: Sequence[Row], temperature: float = 1.0, max_tokens: int = 8192
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """The same in micro-batches of at most `max_tokens` padded suffix tokens: row indices and their log-probabilities.

    With gradients on, the caller runs backward on what it makes of each micro-batch before it takes the next; the
    gradients of the prefix gather at its keys and values and are run through it once, at the end.
    """
    prefix = encode_prefix(model, _trained_prefix(rows))
    leaves = _map_cache(prefix.cache, lambda tensor: tensor.detach().requires_grad_(tensor.requires_grad))
    cut = Prefix(prefix.hidden, leaves)
    for indices in _by_length([len(row.ids) - len(prefix) for row in rows], len(prefix), max_tokens):
        yield indices, _suffix_logprobs(model, cut, [rows[i] for i in indices], temperature)
    pairs = zip(prefix.tensors(), cut.tensors(), strict=True)
    reached = [(whole, leaf.grad) for whole, leaf in pairs if leaf.grad is not None]
    if reached:
        torch.autograd.backward([whole for whole, _ in reached], [gradient for _, gradient in reached])


def computed_tokens(rows: Sequence[Row]) -> int:
    """How many tokens a forward of these rows computes, padding aside: the common prefix counts once."""
    return sum(len(row.ids) for row in rows) - (len(rows) - 1) * len(_trained_prefix(rows))


@torch.no_grad()
def check(model: Any) -> None:
    """Raise `ModelError` where a model's own logits are not what its output layer makes of a shared-prefix forward.

    So it is where a model rescales or caps its logits, or keeps a state that is not keys and values.
    """
    ids, mask = tuple(range(8)), (False,) * 5 + (True,) * 3
    rows = [Row("check", ids, mask, (0.0,) * 8), Row("check", (*ids[:6], 0, 1), mask, (0.0,) * 8)]
    try:
        shared = torch.stack(row_logprobs(model, rows))
        whole_ids = torch.tensor([row.ids for row in rows], device=shared.device)
        logits = model(input_ids=whole_ids).logits.float()
    except (AttributeError, TypeError) as error:
        what = f"a {type(model).__name__} cannot be trained here: {error}"
        raise ModelError(f"{what}; expected a decoder with a key-value cache") from error
    whole = logits[:, :-1].log_softmax(-1).gather(-1, whole_ids[:, 1:, None])[:, 4:, 0]
    gap = float((whole - shared).abs().max())
    if not gap < 0.1:  # nats; bfloat16's rounding stays well below
        raise ModelError(f"the shared-prefix forward is {gap:.2g} nats off this model's own; it is not supported")


def _suffix_logprobs(model: Any, prefix: Prefix, rows: Sequence[Row], temperature: float) -> list[Tensor]:
    """The output layer is applied only where a trained token is predicted: at the position before it."""
    trained_B = [[t for t, trained in enumerate(row.mask) if trained] for row in rows]
    hidden_B = suffix_hidden(model, prefix, [row.ids[: at[-1]] for row, at in zip(rows, trained_B, strict=True)])
    hidden = torch.cat([h[[t - 1 - len(prefix) for t in at]] for h, at in zip(hidden_B, trained_B, strict=True)])
    logits = _parts(model)[1](hidden).float() / temperature  # (T_trained of all rows, V)
    targets = [row.ids[t] for row, at in zip(rows, trained_B, strict=True) for t in at]
    logprobs = -functional.cross_entropy(logits, torch.tensor(targets, device=logits.device), reduction="none")
    return list(logprobs.split([len(at) for at in trained_B]))


def _trained_prefix(rows: Sequence[Row]) -> tuple[int, ...]:
    """The common prefix, ended before the position that predicts any row's first trained token."""
    for row in rows:
        if not any(row.mask) or row.mask[0]:
            raise TrainingError(f"a row of {row.trajectory_id} has no trained token, or one without a context")
    return rows[0].ids[: min(common_prefix([row.ids for row in rows]), *(row.mask.index(True) - 1 for row in rows))]


def _by_length(lengths: Sequence[int], context: int, max_tokens: int) -> Iterator[list[int]]:
    """Indices in micro-batches of like length (padding at most a quarter), longest first.

    A row's copy of the context's keys and values takes about a sixteenth of the memory of as many tokens' activations.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = lengths[batch[0]] if batch else 0
        if batch and ((longest + context // 16) * (len(batch) + 1) > max_tokens or lengths[index] < 0.8 * longest):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _map_cache(cache: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A copy of the cache that later updates do not write through, its keys and values changed."""
    if cache is None:
        return None
    mapped = copy.copy(cache)
    mapped.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in mapped.layers:
        layer.keys, layer.values = change(layer.keys), change(layer.values)
    return mapped


def _parts(model: Any) -> tuple[Any, Any]:
    """The decoder without its output layer, and the output layer, of a causal LM or a PeftModel around one."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    return causal.get_decoder(), causal.get_output_embeddings()
