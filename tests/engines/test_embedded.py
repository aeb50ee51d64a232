"""The embedded engine against transformers and peft themselves, on a tiny random model."""

import gc
import json
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from support.models import save_random_model
from support.sampling import complete_all
from transformers import (
    AutoModelForCausalLM,
    DeepseekV3ForCausalLM,
    Gemma2ForCausalLM,
    Lfm2ForCausalLM,
    LlamaForCausalLM,
    Qwen3_5ForCausalLM,
)

from mcprl.chat import families, hermes, prompts
from mcprl.config import ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.engines.embedded.kv_cache import KVCache
from mcprl.engines.embedded.weights import bare_model, merged_model
from mcprl.errors import EngineError, ModelError
from mcprl.models.adapters import load_adapter_weights, save_adapter
from mcprl.models.load import LoadedModel, load_model
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Adapter, Completion, CompletionRequest, Message, Tool, Trajectory

pytestmark = pytest.mark.anyio

TOOLS = tuple(
    Tool(
        name, f"Look up {name}.", {"type": "object", "properties": {"id": {"type": "integer", "description": "Which."}}}
    )
    for name in ("get_order", "get_customer", "list_items")
)
SYSTEM: Message = {"role": "system", "content": "You answer questions about the shop."}


@pytest.fixture(scope="module")
def loaded(tiny_model: Path) -> LoadedModel:
    return load_model(ModelConfig(name=str(tiny_model), lora_rank=4))


@asynccontextmanager
async def running(loaded: LoadedModel, **options: Any) -> AsyncGenerator[EmbeddedEngine]:
    engine = EmbeddedEngine(loaded, **options)
    try:
        yield engine
    finally:
        await engine.close()


def ask(text: str, **options: Any) -> CompletionRequest:
    return CompletionRequest((SYSTEM, {"role": "user", "content": text}), TOOLS, **options)


def reference_logprobs(model: Any, completion: Completion, temperature: float = 1.0) -> torch.Tensor:
    """log softmax(logits / temperature) of the sampled ids, from one plain forward over prompt and completion."""
    ids = torch.tensor([completion.prompt_ids + completion.completion_ids], device=model.device)
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, len(completion.prompt_ids) - 1 : -1]
    return (logits / temperature).log_softmax(-1).gather(1, ids[0, len(completion.prompt_ids) :, None])[:, 0].cpu()


def assert_exact(model: Any, completion: Completion, temperature: float = 1.0, nats: float = 1e-4) -> None:
    reference = reference_logprobs(model, completion, temperature)
    torch.testing.assert_close(torch.tensor(completion.logprobs), reference, atol=nats, rtol=0)


def ids_of(completions: list[Completion]) -> list[tuple[int, ...]]:
    return [completion.completion_ids for completion in completions]


def randomized(loaded: LoadedModel, folder: Path, step: int, scale: float = 0.2) -> Adapter:
    """An adapter that changes the policy: B is not zero."""
    adapter = Adapter(str(save_adapter(loaded, folder)), step)
    file = folder / "adapter_model.safetensors"
    generator = torch.Generator().manual_seed(step)
    weights = load_file(file)
    save_file({key: scale * torch.randn(value.shape, generator=generator) for key, value in weights.items()}, file)
    return adapter


async def test_logprobs_equal_an_unbatched_forward_of_transformers(loaded: LoadedModel) -> None:
    requests = [
        ask(f"question {n % 3}", seed=n, max_tokens=5 + 3 * n, temperature=(1.0, 0.7, 1.6)[n % 3]) for n in range(12)
    ]
    async with running(loaded) as engine:
        for request, completion in zip(requests, await complete_all(engine, requests), strict=True):
            assert len(completion.completion_ids) == len(completion.logprobs) <= request.max_tokens
            assert_exact(loaded.model, completion, request.temperature)


async def test_a_seed_gives_the_same_tokens_in_any_company(loaded: LoadedModel) -> None:
    requests = [ask(f"question {n % 2}", seed=n, max_tokens=24) for n in range(10)]
    async with running(loaded) as engine:
        together = await complete_all(engine, requests)
        alone = [await engine.complete(request) for request in requests[:4]]
        other = await engine.complete(replace(requests[0], seed=99))
    async with running(loaded, max_batch=3) as engine:
        few = await complete_all(engine, requests)
    assert ids_of(alone) == ids_of(together)[:4]
    assert ids_of(few) == ids_of(together)
    assert len(set(ids_of(together))) == len(together)
    assert other.completion_ids != together[0].completion_ids


async def test_greedy_equals_generate_of_transformers(loaded: LoadedModel) -> None:
    requests = [ask(text, temperature=0.0, max_tokens=20) for text in ("one", "another question", "")]
    async with running(loaded) as engine:
        completions = await complete_all(engine, [*requests, ask("sampled beside them", max_tokens=20)])
    for completion in completions[:3]:
        prompt = torch.tensor([completion.prompt_ids], device=loaded.model.device)
        whole = loaded.model.generate(
            input_ids=prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=20
        )
        assert isinstance(whole, torch.Tensor)
        assert completion.completion_ids == tuple(whole[0, prompt.shape[1] :].tolist())
        assert_exact(loaded.model, completion)


async def test_samples_follow_the_softmax_over_the_whole_vocabulary(loaded: LoadedModel) -> None:
    count = 1500
    async with running(loaded) as engine:
        completions = await complete_all(engine, [ask("which?", seed=n, max_tokens=1) for n in range(count)])
    with torch.no_grad():
        prompt = torch.tensor([completions[0].prompt_ids], device=loaded.model.device)
        logits = loaded.model(input_ids=prompt).logits[0, -1]
    expected = logits.softmax(-1).cpu() * count
    found = torch.bincount(torch.tensor([ids[0] for ids in ids_of(completions)]), minlength=len(expected))
    common = expected > 5
    chi2 = ((found - expected)[common] ** 2 / expected[common]).sum()
    assert common.sum() > 20
    assert chi2 < common.sum() + 4 * (2 * common.sum()) ** 0.5  # four standard deviations of chi-square


async def test_a_merged_adapter_equals_the_peft_forward_and_the_base_stays(loaded: LoadedModel, tmp_path: Path) -> None:
    adapter = randomized(loaded, tmp_path / "step-3", 3)
    trained = load_model(ModelConfig(name=loaded.path, lora_rank=4))
    load_adapter_weights(trained, adapter.path)
    request = ask("which order?", max_tokens=16)
    async with running(loaded) as engine:
        (before,) = await complete_all(engine, [request])
        await engine.load_adapter(adapter)
        tuned, base = await complete_all(engine, [replace(request, adapter=adapter.name), request])
        assert (tuned.policy_step, base.policy_step) == (3, 0)
        assert (base.completion_ids, base.logprobs) == (before.completion_ids, pytest.approx(before.logprobs, abs=1e-5))
        assert tuned.completion_ids != base.completion_ids
        assert_exact(trained.model, tuned)
        assert_exact(loaded.model, base)
        await engine.load_adapter(randomized(loaded, tmp_path / "step-4", 4))
        (newer,) = await complete_all(engine, [replace(request, adapter="step-4")])
        assert newer.completion_ids != tuned.completion_ids
        (again,) = await complete_all(engine, [replace(request, adapter="step-3")])
        assert (again.completion_ids, again.policy_step) == (tuned.completion_ids, 3)
        await engine.load_adapter(randomized(loaded, tmp_path / "step-5", 5))
        with pytest.raises(EngineError, match="'step-3' is not loaded; loaded: step-4, step-5"):
            await engine.complete(replace(request, adapter="step-3"))


async def test_a_nucleus_holds_the_likeliest_tokens_alone(loaded: LoadedModel) -> None:
    with torch.no_grad():
        ids = [prompts.prompt_ids(loaded.tokenizer, ask("which?").messages, TOOLS)]
        logits = loaded.model(input_ids=torch.tensor(ids, device=loaded.model.device)).logits[0, -1]
        probabilities, tokens = logits.softmax(-1).sort(descending=True)
    size = int((probabilities.cumsum(-1) < 0.6).sum()) + 1
    mass = probabilities[:size].sum()
    expected = {int(token): float((p / mass).log()) for token, p in zip(tokens[:size], probabilities, strict=False)}
    requests = [replace(ask("which?", seed=n, max_tokens=1), top_p=0.6) for n in range(300)]
    async with running(loaded) as engine:
        completions = await complete_all(engine, requests)
    found = {each.completion_ids[0]: each.logprobs[0] for each in completions}
    assert found == {token: pytest.approx(expected[token], abs=1e-3) for token in found}
    assert 3 < len(found) <= size


async def test_tokens_are_given_away_as_they_are_sampled(loaded: LoadedModel) -> None:
    pieces: list[tuple[list[int], list[float]]] = []
    request = replace(
        ask("which order?", max_tokens=12), on_tokens=lambda ids, logprobs: pieces.append((list(ids), list(logprobs)))
    )
    async with running(loaded) as engine:
        (completion,) = await complete_all(engine, [request])
    assert tuple(token for ids, _ in pieces for token in ids) == completion.completion_ids
    assert tuple(logprob for _, logprobs in pieces for logprob in logprobs) == completion.logprobs
    assert len(pieces) > 1


@pytest.mark.parametrize("variant", [{"rslora": True}, {"dora": True}])
async def test_variants_of_lora_are_merged_as_peft_computes_them(
    loaded: LoadedModel, tmp_path: Path, variant: dict[str, Any]
) -> None:
    trained = load_model(ModelConfig(name=loaded.path, lora_rank=4, **variant))
    adapter = randomized(trained, tmp_path / "step-1", 1)
    load_adapter_weights(trained, adapter.path)
    async with running(loaded) as engine:
        await engine.load_adapter(adapter)
        (tuned,) = await complete_all(engine, [ask("which order?", max_tokens=16, adapter=adapter.name)])
    assert_exact(trained.model, tuned)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "patterns",
    [
        {"alpha_pattern": {"q_proj": 64}},
        {"rank_pattern": {"v_proj": 2}, "use_rslora": True},
        {"rank_pattern": {r"layers\.0\..*\.v_proj": 2}, "alpha_pattern": {"q_proj": 64, "v_proj": 1}},
    ],
)
def test_ranks_and_alphas_of_single_modules_count_as_peft_has_them(
    tiny_model: Path, tmp_path: Path, patterns: dict[str, Any]
) -> None:
    def base() -> Any:
        return AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32).eval()

    lora = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], init_lora_weights=False, **patterns)
    tuned: Any = get_peft_model(base(), lora)
    tuned.save_pretrained(tmp_path)
    expected = _logits(tuned)
    assert (expected - _logits(base())).abs().max() > 1e-3
    assert (expected - _logits(merged_model(base(), str(tmp_path)))).abs().max() < 1e-4
    with pytest.raises(ModelError, match=r"_pattern, which training does not keep"):
        load_adapter_weights(load_model(ModelConfig(name=str(tiny_model), lora_rank=4)), tmp_path)
    about = tmp_path / "adapter_config.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"r": 16, "rank_pattern": {}}))
    with pytest.raises(EngineError, match=r"has rank \d at .*; its configuration says 16"):
        merged_model(base(), str(tmp_path))


@pytest.mark.parametrize("variant", [{}, {"rslora": True}, {"dora": True}])
def test_a_small_update_of_bfloat16_weights_is_sampled_with_as_it_is_trained(
    tiny_model: Path, tmp_path: Path, variant: dict[str, Any]
) -> None:
    trained = load_model(ModelConfig(name=str(tiny_model), lora_rank=4, dtype="bfloat16", **variant))
    base = bare_model(trained.model)
    for name, weight in trained.model.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.normal_(weight, std=1e-2)
    folder = save_adapter(trained, tmp_path / "step-1")
    expected = _logits(trained.model)
    update = (expected - _logits(base)).abs().mean()
    apart = (_logits(merged_model(base, str(folder))) - expected).abs().mean()
    assert apart < 0.05 * update


def _logits(model: Any) -> torch.Tensor:
    model.config._attn_implementation = "eager"
    with torch.no_grad():
        return model(input_ids=torch.arange(3 * 64, device=model.device).reshape(3, 64) % 370).logits.float()


async def converse(engine: EmbeddedEngine, text: str, seed: int, turns: int = 3) -> Trajectory:
    messages: list[Message] = [SYSTEM, {"role": "user", "content": text}]
    said: list[Completion] = []
    for turn in range(turns):
        context = (*said[-1].prompt_ids, *said[-1].completion_ids) if said else ()
        request = CompletionRequest(tuple(messages), TOOLS, context, max_tokens=8 + seed % 9, seed=seed * 10 + turn)
        said.append(await engine.complete(request))
        result = {"role": "tool", "tool_call_id": "call_0", "content": f'{{"result": {seed * turn}, "of": "{text}"}}'}
        messages += [said[-1].message, result]
    return Trajectory(f"{text}/{seed}", text, tuple(messages), tuple(said))


async def converse_all(engine: EmbeddedEngine) -> list[Trajectory]:
    done: dict[int, Trajectory] = {}

    async def one(n: int) -> None:
        done[n] = await converse(engine, f"Where is order {n // 4}?", seed=n)

    async with anyio.create_task_group() as tasks:
        for n in range(12):
            tasks.start_soon(one, n)
    return [done[n] for n in range(12)]


async def test_conversations_side_by_side_give_one_exact_row_each(loaded: LoadedModel) -> None:
    async with running(loaded) as engine:
        trajectories = await converse_all(engine)
    rows = [row for trajectory in trajectories for row in training_rows(trajectory)]
    assert len(rows) == len(trajectories)
    proof = certificate(rows, trajectories)
    assert proof.exactness == 1.0
    assert proof.trained == sum(len(turn.completion_ids) for t in trajectories for turn in t.turns)
    for trajectory in trajectories:
        for turn in trajectory.turns:
            assert_exact(loaded.model, turn)


async def test_what_is_kept_of_earlier_turns_changes_no_result(loaded: LoadedModel) -> None:
    async with running(loaded) as engine:
        cached = await converse_all(engine)
        again = await converse_all(engine)
    async with running(loaded, prefix_cache=False) as engine:
        whole = await converse_all(engine)
    async with running(loaded, memory=2**20, max_batch=5) as engine:  # a few hundred tokens: turns wait and are evicted
        tight = await converse_all(engine)
    for others in (again, whole, tight):
        for one, other in zip(cached, others, strict=True):
            assert ids_of(list(one.turns)) == ids_of(list(other.turns))
            for turn, same in zip(one.turns, other.turns, strict=True):
                assert turn.logprobs == pytest.approx(same.logprobs, abs=1e-4)


async def test_rows_that_grow_push_out_finished_turns_so_that_memory_holds_while_they_are_copied(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old rows, new rows and finished turns together took half as much again as the engine may have."""
    held: list[tuple[int, int]] = []
    reserve = KVCache.reserve

    def watched(cache: Any, running: Any, length: int, expected: int) -> bool:
        old, finished = cache.rows, cache._finished_tokens
        done = reserve(cache, running, length, expected)
        if cache.rows is not old and running:
            tokens = sum(rows.shape[2] * rows.shape[4] for rows in (old, cache.rows))
            held.append((tokens + cache._finished_tokens, finished - cache._finished_tokens))
            assert held[-1][0] <= 2 * cache._capacity
        return done

    monkeypatch.setattr(KVCache, "reserve", watched)
    async with running(loaded, memory=2**22) as engine:
        for texts in (["Go on."], [f"Tell me of {n}. " * n for n in range(1, 40)]):
            await complete_all(engine, [ask(text, max_tokens=8 * len(texts), seed=n) for n, text in enumerate(texts)])
    assert held
    assert any(forgotten for _, forgotten in held)


def kept_tokens() -> int:
    """Tokens whose keys and values lie in the rows of any decoder."""
    gc.collect()
    return sum(cache.rows.shape[4] for cache in gc.get_objects() if type(cache) is KVCache)


async def test_a_paused_engine_holds_no_keys_and_values_and_samples_the_same_afterwards(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    adapter = randomized(loaded, tmp_path / "adapter", 1)
    requests = [ask(f"What is in order {n}?", max_tokens=8, seed=n, adapter=adapter.name) for n in range(3)]
    requests += [replace(request, adapter=None) for request in requests]
    async with running(loaded) as engine:
        await engine.load_adapter(adapter)
        before = await complete_all(engine, requests)
        assert kept_tokens() > 0
        async with engine.paused():
            assert kept_tokens() == 0
        assert ids_of(await complete_all(engine, requests)) == ids_of(before)


async def test_what_had_no_turn_for_long_makes_room_and_samples_the_same_afterwards(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test samples the base and then the adapter: the keys and values of both were held to its end."""
    adapter = randomized(loaded, tmp_path / "adapter", 1)
    base = [ask(f"What is in order {n}?", max_tokens=8, seed=n) for n in range(3)]
    tuned = [replace(request, adapter=adapter.name) for request in base]
    async with running(loaded) as engine:
        await engine.load_adapter(adapter)
        before = await complete_all(engine, base)
        held = kept_tokens()
        await complete_all(engine, tuned)
        assert kept_tokens() > held  # a minute has not passed: both are held
        monkeypatch.setattr("mcprl.engines.embedded.engine.IDLE_S", 0.0)
        await complete_all(engine, tuned)
        assert kept_tokens() <= held
        assert ids_of(await complete_all(engine, base)) == ids_of(before)


async def test_turns_that_run_while_the_engine_is_paused_go_on(loaded: LoadedModel) -> None:
    request = ask("Tell me everything.", max_tokens=200, temperature=1.0, seed=1)
    done: list[Completion] = []
    async with running(loaded) as engine, anyio.create_task_group() as tasks:

        async def one() -> None:
            done.append(await engine.complete(request))

        tasks.start_soon(one)
        while not kept_tokens():  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.001)
        async with engine.paused():
            assert kept_tokens() > 0 or done
    assert_exact(loaded.model, done[0])


async def test_different_tools_side_by_side_do_not_mix(loaded: LoadedModel) -> None:
    requests = [replace(ask("what?", seed=n, max_tokens=12), tools=TOOLS[: n % 4]) for n in range(8)]
    async with running(loaded) as engine:
        for completion in await complete_all(engine, requests):
            assert_exact(loaded.model, completion)


async def test_a_llama_decodes_exactly_too(loaded: LoadedModel, tmp_path: Path) -> None:
    sizes = {"num_key_value_heads": 4, "initializer_range": 0.3}
    save_random_model(tmp_path, loaded.tokenizer, LlamaForCausalLM, seed=1, **sizes)
    llama = load_model(ModelConfig(name=str(tmp_path), lora_targets="q_proj, v_proj"))
    async with running(llama) as engine:
        for trajectory in await converse_all(engine):
            for turn in trajectory.turns:
                assert_exact(llama.model, turn)


async def test_a_model_with_sliding_windows_decodes_conversations_exactly(loaded: LoadedModel, tmp_path: Path) -> None:
    window = {"use_sliding_window": True, "sliding_window": 50, "max_window_layers": 1, "initializer_range": 0.3}
    save_random_model(tmp_path, loaded.tokenizer, **window)
    sliding = load_model(ModelConfig(name=str(tmp_path), lora_rank=4))
    async with running(sliding) as engine:
        for trajectory in await converse_all(engine):
            for turn in trajectory.turns:
                assert_exact(sliding.model, turn)


LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
}
LINEAR = {
    "num_hidden_layers": 4,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
CONVOLUTIONS = {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2}
KIMI = families.family("kimi-k2")
UNBATCHED: list[tuple[Any, dict[str, Any], str, str, float]] = [
    (Gemma2ForCausalLM, {}, "auto", "capped scores", 1e-4),
    (Qwen3_5ForCausalLM, LINEAR, "auto", "linear_attention layers", 1e-3),  # whole prompts are computed in chunks
    (Lfm2ForCausalLM, CONVOLUTIONS, "auto", "conv layers", 1e-4),
    (DeepseekV3ForCausalLM, LATENT, KIMI.lora_targets if KIMI else "", "", 1e-4),  # Kimi K2's architecture
]


@pytest.mark.parametrize(("architecture", "settings", "targets", "why", "nats"), UNBATCHED)
async def test_a_model_that_cannot_be_batched_is_decoded_with_its_own_cache(
    architecture: Any,
    settings: dict[str, Any],
    targets: str,
    why: str,
    nats: float,
    loaded: LoadedModel,
    tmp_path: Path,
) -> None:
    save_random_model(tmp_path, loaded.tokenizer, architecture, initializer_range=0.3, **settings)
    other = load_model(ModelConfig(name=str(tmp_path), lora_rank=4, lora_targets=targets))
    adapter = randomized(other, tmp_path / "adapter", 3)
    load_adapter_weights(other, adapter.path)
    requests = [ask(f"question {n % 3}", seed=n, max_tokens=5 + 3 * n, adapter=adapter.name) for n in range(6)]
    async with running(other) as engine:
        assert f"cannot batch a {architecture.__name__}" in engine.note
        assert why in engine.note
        await engine.load_adapter(adapter)
        for completion in await complete_all(engine, requests):
            assert_exact(other.model, completion, nats=nats)
        assert ids_of([await engine.complete(requests[5])]) == ids_of(await complete_all(engine, requests))[5:]


async def test_a_model_that_cannot_be_decoded_exactly_is_refused(loaded: LoadedModel) -> None:
    loaded.model.config.layer_types[1] = "linear_attention"
    try:
        with pytest.raises(EngineError, match="cannot decode a Qwen3ForCausalLM"):
            EmbeddedEngine(loaded)
    finally:
        loaded.model.config.layer_types[1] = "full_attention"


async def test_bfloat16_decodes_close_to_its_own_forward(tiny_model: Path) -> None:
    policy = load_model(ModelConfig(name=str(tiny_model), dtype="bfloat16"))
    async with running(policy) as engine:
        completion = await engine.complete(ask("which?", max_tokens=12))
    reference = reference_logprobs(policy.model, completion)
    torch.testing.assert_close(torch.tensor(completion.logprobs), reference.float(), atol=0.3, rtol=0)


async def test_a_turn_stops_at_its_length_and_at_the_model_s_context(loaded: LoadedModel) -> None:
    async with running(loaded) as engine:
        short = await engine.complete(ask("count", max_tokens=3, seed=5))
        assert (len(short.completion_ids), short.finish_reason) == (3, "length")
        filler = ask("1 " * 940, max_tokens=600, seed=1)
        full = await engine.complete(filler)
        assert len(full.prompt_ids) + len(full.completion_ids) <= 2048
        with pytest.raises(EngineError, match=r"the prompt has \d+ tokens; the model reads 2047 at most"):
            await engine.complete(ask("1 " * 2100))


async def test_a_cancelled_turn_makes_room_for_the_next(loaded: LoadedModel) -> None:
    long = ask("a long one", max_tokens=1500, seed=3)
    async with running(loaded, max_batch=1) as engine:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.complete, long)
            tasks.start_soon(engine.complete, replace(long, seed=4))
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        short = await engine.complete(ask("a short one", max_tokens=4))
        assert_exact(loaded.model, short)


async def test_weights_that_have_diverged_fail_their_own_callers_and_no_others(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    broken = randomized(loaded, tmp_path / "step-1", 1, scale=float("nan"))
    requests = [ask("which?", max_tokens=8, seed=n, adapter=name) for n in range(3) for name in (None, broken.name)]
    outcomes: dict[str | None, list[object]] = {None: [], broken.name: []}
    async with running(loaded) as engine:
        await engine.load_adapter(broken)

        async def one(request: CompletionRequest) -> None:
            try:
                outcomes[request.adapter].append(await engine.complete(request))
            except EngineError as error:
                outcomes[request.adapter].append(str(error))

        async with anyio.create_task_group() as tasks:
            for request in requests:
                tasks.start_soon(one, request)
    assert all(isinstance(outcome, Completion) for outcome in outcomes[None])
    assert outcomes[broken.name] == ["the policy's logits are not finite; the adapter's weights have diverged"] * 3


async def test_closing_reaches_whoever_waits(loaded: LoadedModel) -> None:
    engine = EmbeddedEngine(loaded)
    errors: list[str] = []

    async def wait() -> None:
        try:
            await engine.complete(ask("long", max_tokens=1500, temperature=0.0))
        except EngineError as error:
            errors.append(str(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        await engine.close()
    assert errors == ["the engine was closed before the turn was done"]
    with pytest.raises(EngineError, match="the engine is closed"):
        await engine.complete(ask("more"))
    await engine.close()


async def test_an_adapter_that_is_missing_or_no_lora_is_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    odd = randomized(loaded, tmp_path / "odd", 1)
    file = Path(odd.path) / "adapter_model.safetensors"
    save_file(load_file(file) | {"base_model.model.lm_head.weight": torch.zeros(2)}, file)
    async with running(loaded) as engine:
        with pytest.raises(EngineError, match="no LoRA adapter can be read"):
            await engine.load_adapter(Adapter(str(tmp_path / "nothing"), 1))
        with pytest.raises(EngineError, match=r"lm_head\.weight, which is not a plain LoRA weight"):
            await engine.load_adapter(odd)


async def test_parallel_calls_come_back_as_tool_calls(tiny_model: Path) -> None:
    calls = [{"name": "get_order", "arguments": {"id": n}} for n in (1, 2)]
    said = "".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)
    taught = load_model(ModelConfig(name=str(tiny_model)))
    request = ask("which?", temperature=0.0, max_tokens=120)
    memorize(taught, prompts.prompt_ids(taught.tokenizer, request.messages, TOOLS), said)
    async with running(taught) as engine:
        completion = await engine.complete(request)
        cut = await engine.complete(replace(request, max_tokens=len(completion.completion_ids) - 8))
    assert completion.finish_reason == "tool_calls"
    assert [call["function"]["arguments"] for call in completion.message["tool_calls"]] == ['{"id": 1}', '{"id": 2}']
    assert completion.completion_ids[-1] in taught.end_ids
    assert cut.finish_reason == "length"
    assert len(hermes.parse_reply(cut.message["content"]).malformed) == 1


def memorize(loaded: LoadedModel, prompt: tuple[int, ...], said: str) -> None:
    """Train every weight of the model until it greedily says this."""
    base = loaded.model.get_base_model()
    own = [parameter.requires_grad_() for name, parameter in base.named_parameters() if ".lora_" not in name]
    said_ids = loaded.tokenizer.encode(said + "<|im_end|>", add_special_tokens=False)
    ids = torch.tensor([[*prompt, *said_ids]], device=own[0].device)
    optimizer = torch.optim.AdamW(own, lr=1e-2)
    for _ in range(200):
        logits = base(input_ids=ids).logits[0, len(prompt) - 1 : -1]
        if (logits.argmax(-1) == ids[0, len(prompt) :]).all():
            return
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, ids[0, len(prompt) :]).backward()
        optimizer.step()
    raise AssertionError("the tiny model did not learn the reply")


async def test_a_failure_between_turns_costs_the_running_turns_and_the_engine_goes_on(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [await complete_alone(loaded, ask(f"Where is order {n}?", seed=n)) for n in range(2)]
    async with running(loaded) as engine:
        fails = iter([True, True])
        retire = engine._retire
        monkeypatch.setattr(engine, "_retire", lambda: 1 / 0 if next(fails, False) else retire())
        for _ in range(2):
            with pytest.raises(EngineError, match="ZeroDivisionError"):
                await engine.complete(ask("Where is order 0?", seed=0))
        done = [await engine.complete(ask(f"Where is order {n}?", seed=n)) for n in range(2)]
    assert [each.completion_ids for each in done] == [each.completion_ids for each in alone]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_an_engine_that_fails_again_and_again_says_so_to_all_who_ask(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(loaded) as engine:
        monkeypatch.setattr(engine, "_retire", lambda: 1 / 0)
        for _ in range(6):
            with pytest.raises(EngineError, match=r"ZeroDivisionError|died|closed"):
                await engine.complete(ask("Where is order 0?"))


async def test_a_hung_engine_does_not_keep_a_run_from_ending(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor an update from saying so, which waits for the engine to pause."""
    monkeypatch.setattr("mcprl.engines.embedded.engine.CLOSE_S", 0.2)
    monkeypatch.setattr("mcprl.engines.PAUSE_S", 0.3)
    hung = threading.Event()
    async with running(loaded) as engine:
        monkeypatch.setattr(engine, "_retire", lambda: hung.wait(60))
        with anyio.move_on_after(1.0):
            await engine.complete(ask("Where is order 0?", max_tokens=200))
        began = time.monotonic()
        with pytest.raises(EngineError, match="the engine hangs: it has not paused"):
            async with engine.paused():
                pass
        assert 0.3 <= time.monotonic() - began < 0.3 + 2
        began = time.monotonic()
    assert time.monotonic() - began < 2
    hung.set()


async def complete_alone(loaded: LoadedModel, request: CompletionRequest) -> Completion:
    async with running(loaded) as engine:
        return await engine.complete(request)
