"""The decoder's parts: sampling by blocks, guessed tokens and packed weights change no result."""

from typing import Any

import pytest
import torch
from support.models import random_model
from transformers import LlamaForCausalLM

from mcprl.engines.embedded.decoder import Decoder
from mcprl.engines.embedded.sampling import sample
from mcprl.engines.embedded.streams import Stream
from mcprl.engines.embedded.weights import bare_model, packed
from mcprl.models.packing import Packed, can_pack


@pytest.mark.parametrize("vocabulary", [7, 256, 1000])
def test_a_draw_inverts_the_cumulative_distribution_of_the_whole_vocabulary(vocabulary: int) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(400, vocabulary, generator=generator)
    draws = [*torch.rand(398, generator=generator, dtype=torch.float64).tolist(), 0.0, 1 - 2**-53]
    temperatures = [(1.0, 0.5, 0.0)[n % 3] for n in range(400)]
    picked, logprobs = sample(logits, temperatures, draws)
    scale = torch.tensor([temperature or 1.0 for temperature in temperatures])[:, None]
    expected = (logits.double() / scale).log_softmax(-1)
    whole = expected.exp().cumsum(-1)
    found = torch.searchsorted(whole, torch.tensor(draws)[:, None] * whole[:, -1:], right=True)[:, 0]
    greedy = torch.tensor(temperatures) == 0
    found = torch.where(greedy, logits.argmax(-1), found.clamp(max=vocabulary - 1))
    assert (picked != found).sum() <= 1  # the last draw lies at the very end, where rounding decides
    torch.testing.assert_close(logprobs.double(), expected.gather(1, picked[:, None])[:, 0], atol=1e-5, rtol=0)


def decode(model: LlamaForCausalLM, speculate: bool, streams: int, temperature: float) -> tuple[list[Stream], int]:
    decoder = Decoder(model, (), 8, 2**26, speculate=speculate)
    head = tuple(range(48))
    running = [Stream((*head, *head[: 10 + n]), lambda: head, 30, temperature, n) for n in range(streams)]
    decoder.waiting.extend(running)
    passes = 0  # summed over streams
    while decoder.busy:
        decoder.step()
        passes += len(decoder.rows)
    return running, passes


def counting_model() -> LlamaForCausalLM:
    """A random model that mostly says the token after the last one, as its context does."""
    model = random_model(LlamaForCausalLM, vocab_size=48, initializer_range=0.3)
    with torch.no_grad():
        said = model.model.embed_tokens.weight
        model.lm_head.weight.copy_(said.div(said.norm(dim=1, keepdim=True)).roll(1, 0) * 1.5)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.mul_(0.2)
            layer.mlp.down_proj.weight.mul_(0.2)
    return model


@pytest.mark.parametrize(("streams", "temperature"), [(1, 1.0), (1, 0.0), (3, 0.3)])
def test_guessed_tokens_change_no_result_and_save_passes(streams: int, temperature: float) -> None:
    bare = bare_model(counting_model())
    guessed, fewer = decode(bare, True, streams, temperature)
    plain, passes = decode(bare, False, streams, temperature)
    for one, other in zip(guessed, plain, strict=True):
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)
    assert fewer < passes


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_packed_weights_decode_with_the_models_own_log_probabilities(dtype: torch.dtype) -> None:
    sizes = {"hidden_size": 256, "intermediate_size": 1024, "vocab_size": 300}
    model = random_model(LlamaForCausalLM, **sizes).to(dtype)
    fast = packed(bare_model(model))
    packs = can_pack(model.lm_head.weight)  # bfloat16 not on every CPU
    assert packs or dtype == torch.bfloat16
    assert sum(isinstance(layer, Packed) for layer in fast.modules()) == (15 if packs else 0)
    streams, _ = decode(fast, True, 6, 1.0)
    for stream in streams:
        ids = torch.tensor([[*stream.prompt, *stream.ids]])
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0, len(stream.prompt) - 1 : -1].float()
        own = logits.log_softmax(-1).gather(1, ids[0, len(stream.prompt) :, None])[:, 0]
        tolerance = 1e-4 if dtype == torch.float32 else 0.1
        torch.testing.assert_close(torch.tensor(stream.logprobs), own, atol=tolerance, rtol=0)


def test_streams_that_cannot_join_for_want_of_memory_still_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = Decoder(bare_model(counting_model()), (), 8, 2**26)
    streams = [Stream((n, n + 1, n + 2), tuple, 3, 1.0, n) for n in range(3)]
    decoder.waiting.extend(streams)
    admit = Decoder._admit

    def fail(self: Decoder, stream: Stream, *given: Any) -> None:
        if stream is streams[1]:
            raise MemoryError
        admit(self, stream, *given)

    monkeypatch.setattr(Decoder, "_admit", fail)
    with pytest.raises(MemoryError):
        decoder.step()
    assert [*decoder.rows, *decoder.waiting] == streams
