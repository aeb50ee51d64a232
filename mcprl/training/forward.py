"""The forward pass of a step: log-probabilities of the rows' trained tokens, every distinct token computed once.

MCP prompts are long, all rollouts of a step share them, and each turn's prompt begins with the turn before. So the rows
are computed as a trie (`trie`), in bins of bounded size that share what all rows begin with (`trunk`). The output layer
is applied only to tokens that predict a trained one, once for all rows that share the prediction. Log-probabilities and
gradients equal those of the rows computed one by one.

Works with any transformers decoder whose attention goes through `AttentionInterface`, with or without a LoRA; other
models compute whole rows, padded. `model` is untyped because of that.
"""

import inspect
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from mcprl.errors import ModelError, TrainingError
from mcprl.training import trie
from mcprl.training.binning import by_length, context, padded_tokens, trained_places
from mcprl.training.lm_head import entropies, target_logprobs
from mcprl.training.parts import causal, checkpointed_layers, parts, with_attention
from mcprl.training.trie_attention import TRIE_ATTENTION
from mcprl.training.trunk import KeysValues, StepTrunk, trunk_length
from mcprl.types import Row

PerRow = list[Float[Tensor, " _T_trained"]]
"""One number for each of a row's trained tokens, for each row of a bin."""


@dataclass(frozen=True)
class Work:
    """Token counts of a step's rows. `forwarded`: tokens computed. `unique`: tokens of one trie of all rows. `padded`:
    tokens of whole rows, each padded to the longest."""

    forwarded: int
    unique: int
    padded: int


@dataclass(frozen=True)
class Bin:
    """One forward pass. `logprobs_B[i]` (T_trained, nats): log-probabilities of row `indices[i]`'s trained tokens.
    `entropies_B[i]` (T_trained, nats): entropies of the predictions of the same tokens; empty unless requested."""

    indices: list[int]
    logprobs_B: PerRow
    entropies_B: PerRow


SHARING_GAP = 1e-4
"""Nats by which a trie's log-probabilities may differ from those of whole rows in float32; 30 layers make 2e-5."""
ROUNDING = 4.0
"""Times the mean difference that another order of rounding makes, where that is more: in bfloat16, in 8 bits."""

TRUNK_COST, TRUNK_GAIN = 1.5, 0.1
"""Bins whose shares of the trunk take as long as computing it, which is two passes forward and one backward; the
fraction of a step's tokens that it must save."""
ROTATED_BY_LENGTH = ("longrope", "dynamic")
"""Kinds of rotary embeddings whose frequencies depend on the longest position of a forward pass."""


class Forward:
    """The forward pass of one model. `shares` says whether rows share prefixes; if they do not although `share` is set,
    `note` says why. `halvings` counts how often `max_tokens` was too large for the memory.

    With `bf16` the matrix products run in bfloat16 (autocast), except the output layer of shared rows, to which
    log-probabilities are most sensitive. With `checkpointing` backward computes each layer again instead of keeping its
    activations; without, it does so of a row or a trunk that is longer than `max_tokens` by itself. Raises `ModelError`
    if the model cannot be run at all.
    """

    def __init__(
        self,
        model: Any,
        share: bool = True,
        max_tokens: int = 8192,
        bf16: bool = False,
        checkpointing: bool = False,
    ) -> None:
        self.model, self.max_tokens, self.bf16, self.checkpointing = model, max_tokens, bf16, checkpointing
        self.halvings = 0
        for module in model.modules():  # as another forward pass may have left them
            if getattr(module, "gradient_checkpointing", False):
                module.gradient_checkpointing = False
        self.shares, self.note = share, ""
        if share:
            try:
                self.try_sharing(self._examples())
            except (AttributeError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
                name = type(causal(model)).__name__
                why = f"{name} cannot be computed as a trie ({str(error).splitlines()[0]})"
                self.shares, self.note = False, f"prefixes are not shared: {why}"

    def bins(self, rows: Sequence[Row], temperature: float = 1.0, entropy: bool = False) -> Iterator[Bin]:
        """The rows, bin after bin. To bound memory the caller runs backward on one bin before it takes the next; the
        gradients are whole when the bins are taken to their end.

        Raises `TrainingError` if a row has no trained token, or trains its first one.
        """
        for row in rows:
            if not any(row.mask) or row.mask[0]:
                raise TrainingError(f"a row of {row.trajectory_id} has no trained token, or one without a context")
        length, bins = self._plan(rows)
        trunk = self._trunk(rows, length) if length else None
        compute = partial(self._as_trie, trunk=trunk) if self.shares else self._padded
        for indices in bins:
            self._keep(max(len(context(rows[i])) for i in indices) - length)
            yield Bin(indices, *compute([rows[i] for i in indices], temperature, entropy))
        if trunk and torch.is_grad_enabled():
            trunk.backward(self._keys_values(rows, length))

    def halve(self, rows: Sequence[Row]) -> bool:
        """Halve `max_tokens` until these rows are in more bins; false if each has a bin of its own already."""
        bins = len(self._plan(rows)[1])
        if bins == len(rows):
            return False
        while len(self._plan(rows)[1]) == bins:
            self.max_tokens //= 2
        self.halvings += 1
        return True

    def work(self, rows: Sequence[Row]) -> Work:
        """How many tokens `bins` computes for these rows; a trunk's count twice."""
        contexts = [context(row) for row in rows]
        length, bins = self._plan(rows)
        behind = [[contexts[i][length:] for i in indices] for indices in bins]
        forwarded = sum(trie.unique_tokens(ids_B) if self.shares else padded_tokens(ids_B) for ids_B in behind)
        return Work(forwarded + 2 * length, trie.unique_tokens(contexts), padded_tokens(contexts))

    def _plan(self, rows: Sequence[Row]) -> tuple[int, list[list[int]]]:
        """The length of the rows' trunk, 0 without one, and the indices of each bin's rows."""
        contexts = [context(row) for row in rows]
        if not self.shares:
            return 0, by_length(contexts, self.max_tokens)
        bins = trie.bins(contexts, self.max_tokens)
        length = self._trunk_length(rows)
        saved = (len(bins) - TRUNK_COST) * length
        if saved < TRUNK_GAIN * sum(trie.unique_tokens([contexts[i] for i in indices]) for indices in bins):
            return 0, bins
        return length, trie.bins([ids[length:] for ids in contexts], self.max_tokens)

    def _as_trie(
        self, rows: Sequence[Row], temperature: float, entropy: bool = False, trunk: StepTrunk | None = None
    ) -> tuple[PerRow, PerRow]:
        """Log-probabilities and entropies of each row's trained tokens, from one pass over the trie of the rows behind
        the trunk."""
        start = trunk.length if trunk else 0
        layout = trie.build([context(row)[start:] for row in rows])
        # A prediction is the place of the token before a trained one, and the trained one; rows may share it.
        trained = [(b, t) for b, row in enumerate(rows) for t in trained_places(row)]
        predictions = [(layout.place(b, t - 1 - start), rows[b].ids[t]) for b, t in trained]
        numbers = {prediction: n for n, prediction in enumerate(dict.fromkeys(predictions))}
        hidden, head = self._decode(layout, trunk), parts(self.model)[1]
        places, targets = torch.tensor(list(numbers), device=hidden.device).T
        of_rows = torch.tensor([numbers[prediction] for prediction in predictions], device=hidden.device)
        lengths = [len(trained_places(row)) for row in rows]
        logprobs = target_logprobs(head, hidden[places], targets, temperature)
        logprobs_B = list(logprobs[of_rows].split(lengths))
        if not entropy:
            return logprobs_B, []
        entropy_T = entropies(head, hidden[places], temperature)
        return logprobs_B, list(entropy_T[of_rows].split(lengths))

    def _trunk_length(self, rows: Sequence[Row]) -> int:
        """The number of tokens in a trunk of these rows; none where its tokens would be rotated unlike those behind."""
        decoder, head = parts(self.model)
        kinds = {str(getattr(module, "rope_type", "")) for module in decoder.modules()}
        if head.weight.is_cuda or any(word in kind for kind in kinds for word in ROTATED_BY_LENGTH):
            return 0  # on CUDA bins are larger, and FlexAttention's masks have no trunk
        return trunk_length([row.ids for row in rows], [trained_places(row)[0] for row in rows])

    def _trunk(self, rows: Sequence[Row], length: int) -> StepTrunk:
        """The first tokens of all rows, computed without gradients."""
        with torch.no_grad():
            computed = self._keys_values(rows, length)
        return StepTrunk(length, computed)

    def _keys_values(self, rows: Sequence[Row], length: int) -> dict[int, KeysValues]:
        """The keys and values of the first tokens of all rows, by layer."""
        kept = dict[int, KeysValues | None]()
        self._keep(length)
        self._decode(trie.build([rows[0].ids[:length]]), kept=kept)
        found = {layer: pair for layer, pair in kept.items() if pair}
        kept.update(dict.fromkeys(kept))  # gradient checkpointing holds `kept`, and would hold the tensors in it
        return found

    def _decode(
        self, layout: trie.Trie, trunk: StepTrunk | None = None, kept: dict[int, KeysValues | None] | None = None
    ) -> Float[Tensor, "N hidden"]:
        """The decoder's last hidden states of the layout's N tokens, behind those of a trunk. Their keys and values are
        put into `kept`, by layer."""
        decoder, head = parts(self.model)
        device, layers_called = head.weight.device, list[int]()
        start = trunk.length if trunk else 0
        with with_attention(self.model, TRIE_ATTENTION), self._autocast(device):
            output = decoder(
                input_ids=torch.tensor([layout.ids], device=device),
                position_ids=torch.tensor([layout.positions], device=device) + start,
                use_cache=False,
                trie=layout,
                trunk=trunk,
                kept=kept,
                layers_called=layers_called,
            )
        layers = decoder.config.num_hidden_layers
        if len(layers_called) < layers:
            raise NotImplementedError(f"attention in {len(layers_called)} of {layers} layers")
        return output.last_hidden_state[0]

    def _padded(self, rows: Sequence[Row], temperature: float, entropy: bool = False) -> tuple[PerRow, PerRow]:
        """The same from one pass over whole rows, padded to the longest."""
        device = self.model.get_input_embeddings().weight.device
        ids_B = [torch.tensor(row.ids, device=device) for row in rows]
        ids = torch.nn.utils.rnn.pad_sequence(ids_B, batch_first=True)  # (B, L), on the right
        real = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in ids_B], batch_first=True)
        places = sorted({t - 1 for row in rows for t in trained_places(row)})
        options: dict[str, Any] = {}
        if self._keeps_logits:  # only those that predict a trained token in any row are made
            options["logits_to_keep"] = torch.tensor(places, device=device)
        with self._autocast(device):
            logits_B = self.model(input_ids=ids, attention_mask=real, use_cache=False, **options).logits
        logprobs_B: list[Tensor] = []
        entropies_B: list[Tensor] = []
        for b, row in enumerate(rows):
            trained = torch.tensor(trained_places(row), device=device)
            kept = [bisect_left(places, t - 1) for t in trained_places(row)] if options else trained - 1
            logits = logits_B[b, kept].float() / temperature  # (T_trained, V)
            logprobs_B.append(-functional.cross_entropy(logits, ids[b, trained], reduction="none"))
            if entropy:
                entropies_B.append(torch.distributions.Categorical(logits=logits).entropy())
        return logprobs_B, entropies_B

    def _keep(self, longest: int) -> None:
        """Have the next pass keep the activations of its layers for backward, unless one row has too many tokens."""
        recomputed = self.checkpointing or longest > self.max_tokens
        if recomputed or "_layers" in vars(
            self
        ):  # most runs never recompute, and transformers warns of what it sets up
            for layer in self._layers:
                layer.gradient_checkpointing = recomputed

    @cached_property
    def _layers(self) -> list[Any]:
        return checkpointed_layers(self.model)

    def _autocast(self, device: torch.device) -> AbstractContextManager[Any]:
        return torch.autocast(device.type, torch.bfloat16, enabled=self.bf16)

    def _examples(self) -> list[Row]:
        """Three short rows that branch twice, of tokens from all over the vocabulary."""
        try:
            vocabulary = int(self.model.get_input_embeddings().weight.shape[0])
        except AttributeError as error:
            raise _not_a_language_model(self.model, error) from error
        examples = [(*range(1, 9), *end) for end in ((1, 2, 3), (1, 2, 4), (5, 6, 7))]
        mask = (False,) * 6 + (True,) * 5
        return [Row("check", tuple(n * vocabulary // 10 for n in ids), mask, (0.0,) * 11) for ids in examples]

    @torch.no_grad()
    def try_sharing(self, rows: Sequence[Row]) -> float:
        """Compute these rows whole and as a trie, without autocast, and share no prefixes if the results differ.

        Returns the largest difference in nats. Raises `ModelError` if the model cannot be computed at all, and what
        its layers raise if it cannot be computed as a trie.
        """
        bf16, self.bf16 = self.bf16, False
        try:
            whole = self._whole(rows)
            length = self._trunk_length(rows)
            found_B, _ = self._as_trie(rows, 1.0, trunk=self._trunk(rows, length) if length else None)
            apart = (torch.cat(found_B) - whole).abs()
            gap = float(apart.max())
            self.shares = gap <= SHARING_GAP or float(apart.mean()) <= ROUNDING * self._rounding(rows, whole)
        finally:
            self.bf16 = bf16
        off = f"as a trie {type(causal(self.model)).__name__} is {gap:.2g} nats off its own log-probabilities"
        self.note = "" if self.shares else f"prefixes are not shared: {off}"
        return gap

    def _whole(self, rows: Sequence[Row]) -> Tensor:
        """The log-probabilities of all rows' trained tokens, each row computed by itself."""
        try:
            return torch.cat([self._padded([row], 1.0)[0][0] for row in rows])
        except (AttributeError, TypeError, ValueError) as error:
            raise _not_a_language_model(self.model, error) from error

    def _rounding(self, rows: Sequence[Row], whole: Tensor) -> float:
        """The mean difference in nats that rounding otherwise makes: transformers' plain attention, or all rows at
        once, which 8-bit layers round together."""
        with with_attention(self.model, "eager"):
            plain = self._whole(rows)
        together = torch.cat(self._padded(rows, 1.0)[0])
        return max(float((other - whole).abs().mean()) for other in (plain, together))

    @cached_property
    def _keeps_logits(self) -> bool:
        """Whether the model can be asked for the logits of some places only."""
        return "logits_to_keep" in inspect.signature(causal(self.model).forward).parameters


def _not_a_language_model(model: Any, error: Exception) -> ModelError:
    name = type(causal(model)).__name__
    return ModelError(f"a {name} cannot be trained here: {error}; expected a causal language model")
