"""Sliding windows and attention sinks: what is decoded has the model's own log-probabilities."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.models import SIZES as WIDTHS
from support.models import random_model
from transformers import (
    Gemma3Config,
    Gemma3ForCausalLM,
    Gemma3ForConditionalGeneration,
    GptOssForCausalLM,
    MistralForCausalLM,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
)

from mcprl.engines.embedded.attention import DecodeStep
from mcprl.engines.embedded.decoder import Decoder
from mcprl.engines.embedded.streams import Stream
from mcprl.engines.embedded.weights import bare_model
from mcprl.errors import EngineError

VOCABULARY = 24
SIZES: dict[str, Any] = {"vocab_size": VOCABULARY, "num_hidden_layers": 3, "initializer_range": 0.3}
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
QWEN = {"use_sliding_window": True, "max_window_layers": 1}


def with_sinks(model: Any) -> Any:
    for layer in model.model.layers:
        torch.nn.init.normal_(layer.self_attn.sinks, mean=2.0)
    return model


def with_vision(window: int) -> Any:
    """What the checkpoints of Gemma 3 from 4 B on are: its text model inside one that reads images, too."""
    text = WIDTHS | SIZES | {"sliding_window": window, "layer_types": LAYERS}
    vision = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(0)
    return Gemma3ForConditionalGeneration(Gemma3Config(text_config=text, vision_config=vision))


MODELS: dict[str, Callable[[int], Any]] = {
    "gemma 3": lambda window: random_model(
        Gemma3ForCausalLM, **SIZES, sliding_window=window, layer_types=LAYERS, query_pre_attn_scalar=5
    ),
    "gemma 3 with vision": with_vision,
    "gpt-oss": lambda window: with_sinks(random_model(GptOssForCausalLM, **SIZES, **EXPERTS, sliding_window=window)),
    "mistral": lambda window: random_model(MistralForCausalLM, **SIZES, sliding_window=window),
    "qwen 2": lambda window: random_model(Qwen2ForCausalLM, **SIZES, **QWEN, sliding_window=window),
    "qwen 3": lambda window: random_model(Qwen3ForCausalLM, **SIZES, **QWEN, sliding_window=window),
}


def own_logprobs(model: Any, stream: Stream) -> list[float]:
    ids = torch.tensor([[*stream.prompt, *stream.ids]])
    start = len(stream.prompt)
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, start - 1 : -1]
    return (logits / stream.temperature).log_softmax(-1).gather(1, ids[0, start:, None])[:, 0].tolist()


def decode(decoder: Decoder, streams: list[Stream]) -> int:
    """The number of passes that the streams took part in, all together."""
    decoder.waiting.extend(streams)
    passes = 0
    while decoder.busy:
        decoder.step()
        passes += len(decoder.rows)
    return passes


def conversations(lengths: list[int], trunks: list[int], rng: random.Random) -> list[Stream]:
    """A first turn for each length of a suffix and each length of a trunk, of few tokens, so that guesses come true."""
    streams: list[Stream] = []
    for trunk in trunks:
        head = tuple(rng.choices(range(VOCABULARY), k=trunk))
        for length in lengths:
            suffix = rng.choices(range(6), k=length)
            streams.append(Stream((*head, *suffix), lambda head=head: head, 16, 0.7, len(streams)))
    return streams


def next_turn(stream: Stream, rng: random.Random) -> Stream:
    said = (*stream.prompt, *stream.ids, *rng.choices(range(6), k=9))
    return Stream(said, stream.head, 16, 0.7, stream.seed + 100)


def assert_exact(model: Any, streams: list[Stream]) -> None:
    for stream in streams:
        assert stream.logprobs == pytest.approx(own_logprobs(model, stream), abs=1e-4)


@pytest.mark.parametrize("window", [1, 7, 64])
@pytest.mark.parametrize("name", MODELS)
def test_conversations_side_by_side_have_the_model_s_own_log_probabilities(name: str, window: int) -> None:
    rng = random.Random(window)
    model = MODELS[name](window).eval()
    model.set_attn_implementation("eager")
    decoder = Decoder(bare_model(model), (), 32, 2**26)
    first = conversations([1, 5, 30, 90], [0, 40, 100], rng)  # trunks shorter and longer than the longest window
    second = [next_turn(stream, rng) for stream in first]
    decode(decoder, first)
    assert decode(decoder, second) < sum(len(stream.ids) for stream in second)  # some guesses came true
    assert_exact(model, [*first, *second])


@pytest.mark.parametrize("name", MODELS)
def test_prompts_far_longer_than_the_window_are_exact_alone_and_with_a_new_turn(name: str) -> None:
    rng = random.Random(0)
    model = MODELS[name](20).eval()
    model.set_attn_implementation("eager")
    decoder = Decoder(bare_model(model), (), 4, 2**26)
    first = conversations([600], [0, 700], rng)
    second = [next_turn(stream, rng) for stream in first]
    for stream in (*first, *second):
        decode(decoder, [stream])
    assert_exact(model, [*first, *second])


@pytest.mark.parametrize("name", MODELS)
def test_a_context_within_the_window_takes_no_masks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS[name](500).eval()
    model.set_attn_implementation("eager")
    decoder = Decoder(bare_model(model), (), 16, 2**26)
    monkeypatch.setattr(DecodeStep, "_cut", None)
    streams = conversations([1, 30, 90], [0, 100], random.Random(0))
    decode(decoder, streams)
    assert_exact(model, streams)


@pytest.mark.parametrize("name", MODELS)
def test_the_check_sees_a_window_however_long_that_is_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS[name](4096)
    bare = bare_model(model)
    assert bare.config.get_text_config().sliding_window == 4096
    assert {getattr(module, "sliding_window", None) for module in bare.modules()} <= {None, 4096}
    monkeypatch.setattr(DecodeStep, "within", lambda step, _: step)
    with pytest.raises(EngineError, match="log-probabilities are off"):
        bare_model(model)
