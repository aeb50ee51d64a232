"""The forward pass of a step: log-probabilities of the rows' trained tokens, every distinct token computed once.

MCP prompts are long, shared by all tries of a step, and each turn's prompt begins with the turn before. So the rows
are computed as a trie (`trie`), in bins of bounded size; the output layer is applied only where a trained token
is predicted, once for all rows that hold it. Log-probabilities and gradients equal those of the rows alone.

Works with any transformers decoder whose attention goes through `AttentionInterface`, with or without a LoRA; with
others the rows are computed one by one, padded. `model` is untyped because of that.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from mcprl.errors import ModelError, TrainingError
from mcprl.training import trie
from mcprl.training.lm_head import entropies, target_logprobs
from mcprl.training.trie_attention import TREE_ATTENTION
from mcprl.types import Row


@dataclass(frozen=True)
class Work:
    """How many tokens a step's rows make: `forwarded` ones computed, of them `unique`, and `padded` ones of rows whole
    and padded to the longest."""

    forwarded: int
    unique: int
    padded: int


@dataclass(frozen=True)
class Bin:
    """What was computed at once: the indices of its rows and, for each, of its trained tokens the log-probabilities
    (T_trained) and, where asked for, the entropies (T_trained) of what was predicted there, in nats."""

    indices: list[int]
    logprobs_B: list[Tensor]
    entropies_B: list[Tensor]


class Forward:
    """The forward pass of one model. `note` says why rows are not shared, where they are not though asked for. With
    `bf16` its matrices are multiplied in bfloat16 (autocast); the output layer of shared rows, which log-probabilities
    hang on most, stays as it is.

    Raises `ModelError` where the model cannot be run at all.
    """

    def __init__(self, model: Any, share: bool = True, max_tokens: int = 8192, bf16: bool = False) -> None:
        self.model, self.max_tokens, self.bf16 = model, max_tokens, False
        self.shares, self.note = share, ""
        if share:
            self.note = self._why_not()
            self.shares = not self.note
        self.bf16 = bf16  # after the check: its rounding alone took 0.07 of the 0.1 nats that are allowed there

    def bins(self, rows: Sequence[Row], temperature: float = 1.0, entropy: bool = False) -> Iterator[Bin]:
        """The rows, bin after bin; what the caller does with one, backward say, it does before it takes the next."""
        for row in rows:
            if not any(row.mask) or row.mask[0]:
                raise TrainingError(f"a row of {row.trajectory_id} has no trained token, or one without a context")
        for indices in self._indices(rows):
            compute = self._shared if self.shares else self._alone
            yield Bin(indices, *compute([rows[i] for i in indices], temperature, entropy))

    def work(self, rows: Sequence[Row]) -> Work:
        contexts = [_context(row) for row in rows]
        bins = [[contexts[i] for i in indices] for indices in self._indices(rows)]
        forwarded = sum(trie.unique_tokens(ids_B) if self.shares else _padded(ids_B) for ids_B in bins)
        return Work(forwarded, trie.unique_tokens(contexts), _padded(contexts))

    def _indices(self, rows: Sequence[Row]) -> list[list[int]]:
        contexts = [_context(row) for row in rows]
        return trie.bins(contexts, self.max_tokens) if self.shares else _by_length(contexts, self.max_tokens)

    def _shared(
        self, rows: Sequence[Row], temperature: float, entropy: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        laid = trie.build([_context(row) for row in rows])
        asked = [(laid.place(b, t - 1), row.ids[t]) for b, row in enumerate(rows) for t in _trained(row)]
        known = {pair: n for n, pair in enumerate(dict.fromkeys(asked))}
        decoder, head = _parts(self.model)
        device = head.weight.device
        with _attention(self.model, TREE_ATTENTION), self._autocast(device):
            output = decoder(
                input_ids=torch.tensor([laid.ids], device=device),
                position_ids=torch.tensor([laid.positions], device=device),
                use_cache=False,
                tree=laid,
                passed=(passed := []),
            )
        if len(passed) < decoder.config.num_hidden_layers:
            raise NotImplementedError(f"attention in {len(passed)} of {decoder.config.num_hidden_layers} layers")
        places, targets = torch.tensor(list(known), device=device).T
        logprobs = target_logprobs(head, output.last_hidden_state[0, places], targets, temperature)
        held, lengths = (
            torch.tensor([known[pair] for pair in asked], device=device),
            [len(_trained(row)) for row in rows],
        )
        if not entropy:
            return list(logprobs[held].split(lengths)), []
        spread = entropies(head, output.last_hidden_state[0, places], temperature)
        return list(logprobs[held].split(lengths)), list(spread[held].split(lengths))

    def _alone(
        self, rows: Sequence[Row], temperature: float, entropy: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        device = self.model.get_input_embeddings().weight.device
        ids_B = [torch.tensor(row.ids, device=device) for row in rows]
        ids = torch.nn.utils.rnn.pad_sequence(ids_B, batch_first=True)  # (B, L), on the right
        real = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in ids_B], batch_first=True)
        with self._autocast(device):
            logits_B = self.model(input_ids=ids, attention_mask=real, use_cache=False).logits
        found: list[Tensor] = []
        spread: list[Tensor] = []
        for b, row in enumerate(rows):
            at = torch.tensor(_trained(row), device=device)
            logits = logits_B[b, at - 1].float() / temperature
            found.append(-functional.cross_entropy(logits, ids[b, at], reduction="none"))
            if entropy:
                spread.append(torch.distributions.Categorical(logits=logits).entropy())
        return found, spread

    def _autocast(self, device: torch.device) -> AbstractContextManager[Any]:
        return torch.autocast(device.type, torch.bfloat16, enabled=self.bf16)

    @torch.no_grad()
    def _why_not(self) -> str:
        """Why this model's rows cannot be shared: an example that branches twice, computed both ways; else nothing."""
        name = type(self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model).__name__
        examples = [(*range(1, 9), *end) for end in ((1, 2, 3), (1, 2, 4), (5, 6, 7))]
        mask = (False,) * 6 + (True,) * 5
        try:
            vocabulary = int(self.model.get_input_embeddings().weight.shape[0])
            rows = [Row("check", tuple(n % vocabulary for n in ids), mask, (0.0,) * 11) for ids in examples]
            whole = torch.cat(self._alone(rows, 1.0)[0])
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelError(f"a {name} cannot be trained here: {error}; expected a causal language model") from error
        try:
            gap = float((torch.cat(self._shared(rows, 1.0)[0]) - whole).abs().max())
        except (AttributeError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
            return f"prefixes are not shared: {name} cannot be expressed as a tree ({str(error).splitlines()[0]})"
        if not gap < 0.1:  # nats; bfloat16's rounding stays well below
            return f"prefixes are not shared: as a tree a {name} is {gap:.2g} nats off its own log-probabilities"
        return ""


def bf16_pays(model: Any) -> bool:
    """Whether the model computes in float32 on a CPU that has instructions for bfloat16: without them it is slower."""
    here = torch.cpu.get_capabilities()
    native = here.get("avx512_bf16") or here.get("amx_bf16")
    return bool(native) and model.device.type == "cpu" and model.dtype == torch.float32


def checkpoint_layers(model: Any) -> None:
    """Have each layer computed again in backward, with the attention that it had. transformers does so in training mode
    only: the layers are put into it, what is in them (dropout) is not."""
    config = _parts(model)[0].config

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _attention(model, config._attn_implementation)

    renamed = getattr(model, "activation_checkpointing_enable", None)  # its name since transformers 5.23
    (renamed or model.gradient_checkpointing_enable)({"use_reentrant": False, "context_fn": contexts})
    for module in model.modules():
        if getattr(module, "gradient_checkpointing", False):
            module.training = True


@contextmanager
def _attention(model: Any, name: str) -> Generator[None]:
    """Inside, the model's attention is the implementation of that name."""
    config = _parts(model)[0].config
    before, config._attn_implementation = config._attn_implementation, name
    try:
        yield
    finally:
        config._attn_implementation = before


def _context(row: Row) -> tuple[int, ...]:
    """The tokens that predict a row's trained ones: all before the last of them."""
    return row.ids[: _trained(row)[-1]]


def _trained(row: Row) -> list[int]:
    return [t for t, trained in enumerate(row.mask) if trained]


def _by_length(ids_B: Sequence[Sequence[int]], max_tokens: int) -> list[list[int]]:
    """Rows in bins of like length, longest first: at most `max_tokens` with padding, which is at most a quarter."""
    found: list[list[int]] = []
    for row in sorted(range(len(ids_B)), key=lambda b: -len(ids_B[b])):
        longest = len(ids_B[found[-1][0]]) if found else 0
        if not found or longest * (len(found[-1]) + 1) > max_tokens or len(ids_B[row]) < 0.8 * longest:
            found.append([])
        found[-1].append(row)
    return found


def _padded(ids_B: Sequence[Sequence[int]]) -> int:
    return len(ids_B) * max(map(len, ids_B))


def _parts(model: Any) -> tuple[Any, Any]:
    """The decoder without its output layer, and the output layer, of a causal LM or a PeftModel around one."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    return causal.get_decoder(), causal.get_output_embeddings()
