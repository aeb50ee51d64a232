"""The recipe that makes the nano policy: its tokenizer, its data, its training forward, and a miniature of the
training."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import muon
import picks
import policy
import practice
import pretrain
import pytest
import talks
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import AutoTokenizer

from mcprl.chat.prompts import prompt_ids

MINIATURE = pretrain.Budget(steps=6, tokens=300, practice=900, mix=0.3, warm_up=2, held_out=1)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(pretrain.MODEL)


def ids(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200, deadline=None)
def test_the_tokenizer_loses_nothing(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(ids(tokenizer, text)) == text


@pytest.mark.parametrize(
    "value",
    [
        "Ada Lovelace",
        "O-1042",
        "-3.75",
        "true",
        "ada.b@example.org",
        "docs/old plan.md",
        "2026-11-21T08:30:00Z",
        "Málaga",
    ],
)
def test_a_value_is_spelt_alike_wherever_it_stands(tokenizer: Any, value: str) -> None:
    spelt = ids(tokenizer, value)
    for around in (
        "What is {} for?",
        '{{"name": "{}"}}',
        '{{"name":"{}","x":1}}',
        "name: '{}'.",
        "The name is {}.",
        '["{}", "b"]',
    ):
        found = ids(tokenizer, around.format(value))
        assert any(found[t : t + len(spelt)] == spelt for t in range(len(found))), around


def test_the_tags_of_calls_stay_in_decoded_text_and_control_tokens_do_not(tokenizer: Any) -> None:
    text = '<tool_call>{"name": "a", "arguments": {}}</tool_call><|im_end|>'
    assert tokenizer.decode(ids(tokenizer, text), skip_special_tokens=True) == text.removesuffix("<|im_end|>")
    assert (tokenizer.eos_token, tokenizer.pad_token, len(tokenizer)) == ("<|im_end|>", "<|endoftext|>", 2048)


def test_training_sees_the_ids_that_rollouts_make(tokenizer: Any) -> None:
    tools, conversations = talks.lesson(3)
    group = talks.encode(tokenizer, tools, conversations)
    trained = {tuple(group.prefix + branch.ids): [w > 0 for w in branch.weights] for branch in group.branches}
    assert len(conversations) > 5
    for _, messages in conversations:
        context: tuple[int, ...] = ()
        sampled: list[bool] = []
        for n, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            prompt = prompt_ids(tokenizer, messages[:n], tools, context)
            said = (
                tokenizer.apply_chat_template([message], tokenize=False)
                .removeprefix("<|im_start|>assistant\n")
                .rstrip("\n")
            )
            sampled += [False] * (len(prompt) - len(context)) + [True] * len(ids(tokenizer, said))
            context = (*prompt, *ids(tokenizer, said))
        ending = len(ids(tokenizer, "\n"))
        said = next(said for whole, said in trained.items() if whole[:-ending] == context)
        assert said[:-ending] == sampled[len(group.prefix) :]


def test_the_training_forward_is_the_model(tokenizer: Any) -> None:
    model = pretrain.fresh(tokenizer).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(3 if p.ndim == 2 else torch.rand_like(p) + 0.5)
    groups = [talks.encode(tokenizer, *talks.lesson(5)), talks.encode(tokenizer, *practice.exercises(1))]
    with torch.inference_mode():
        ours = policy.hidden(model, policy.layout([(g.prefix, [branch.ids for branch in g.branches]) for g in groups]))
        start = 0
        for group in groups:
            prefix, at = ours[start : start + len(group.prefix)], start + len(group.prefix)
            for branch in group.branches:
                whole = torch.tensor([group.prefix + branch.ids])
                theirs = model.model(whole).last_hidden_state[0]
                torch.testing.assert_close(
                    torch.cat((prefix, ours[at : at + len(branch.ids)])), theirs, atol=1e-3, rtol=1e-3
                )
                at += len(branch.ids)
            start = at


def test_exercises_name_tools_that_exist_and_answers_that_results_hold() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(120):
        tools, exercises = practice.exercises(seed)
        for kind, messages in exercises:
            kinds[kind] += 1
            assert messages[0]["role"] == "user"
            assert messages[-1]["role"] == "assistant"
            for call in messages[-1].get("tool_calls") or []:
                tool = next(tool for tool in tools if tool.name == call["function"]["name"])
                assert json.loads(call["function"]["arguments"]).keys() <= tool.input_schema["properties"].keys()
    assert {"practice-list", "practice-record", "practice-get", "practice-set"} <= kinds.keys()
    assert all(count > 5 for count in kinds.values())


def test_a_row_is_found_by_its_name_and_its_key_is_called_with() -> None:
    found = key_first = 0
    for seed in range(60):
        (listing, reading), exercises = picks.picks(seed)
        (parameter,) = reading.input_schema["properties"]
        assert exercises
        for _, (_, listed, rows, *rest) in exercises:
            assert listed["tool_calls"][0]["function"]["name"] == listing.name
            assert rest[-1]["role"] == "assistant"
            for message in rest:
                for call in message.get("tool_calls") or []:
                    key = str(json.loads(call["function"]["arguments"])[parameter])
                    assert call["function"]["name"] == reading.name
                    assert key in rows["content"]
                    found += 1
            key_first += rows["content"].count('[{"') and parameter.lower()[:2] in rows["content"][:40].lower()
    assert found > 300
    assert key_first > 60


def test_a_field_that_is_blank_in_some_rows_names_nothing() -> None:
    _, conversations = talks.lesson(569)  # the holder of a free slot is ""
    said = [message for _, messages in conversations for message in messages if message["role"] == "user"]
    assert said
    assert not any('""' in message["content"] or "  " in message["content"] for message in said)


def test_a_server_may_turn_out_to_show_a_thing_by_one_tool_only() -> None:
    _, conversations = talks.lesson(633)  # another tool seemed to show the thing, and lists many
    assert conversations


def test_the_same_exercises_come_again() -> None:
    assert practice.exercises(7) == practice.exercises(7)
    assert practice.exercises(7) != practice.exercises(8)


def test_worlds_from_files_are_those_made_on_the_fly_and_go_on_after_a_stop(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrain, "SHARD", 1)
    budget = replace(MINIATURE, practice=0, mix=0.0)
    pretrain._prepare(0, [0, 1], 1, pretrain.MODEL, budget, tmp_path)
    tools, lists = talks.parts(0)
    whole, first = (talks.encode(tokenizer, tools, own, budget.longest) for own in lists)
    position = {"groups": 0, "worlds": 0, "practice": 0, "own": 0}
    made = pretrain.stream(tokenizer, budget, 0, 1, position, tmp_path)
    four = [next(made) for _ in range(4)]
    assert whole in four
    assert first in four
    fifth, stopped = next(made), dict(position)
    resumed = pretrain.stream(tokenizer, budget, 0, 1, stopped, tmp_path)
    assert fifth in four  # the files begin again
    assert next(resumed) == next(made)


def test_muon_makes_updates_that_turn_all_directions_alike() -> None:
    x = torch.randn(2, 24, 64, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(muon.orthogonal(x))
    assert values.min() > 0.4
    assert values.max() < 1.3


def test_a_killed_training_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    pretrain.train(MINIATURE, tmp_path / "whole", workers=1)
    pretrain.train(replace(MINIATURE, pause=3), tmp_path / "halves", workers=1)
    pretrain.train(MINIATURE, tmp_path / "halves", workers=1)
    whole, halves = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("whole", "halves"))
    for name, tensor in whole.items():
        torch.testing.assert_close(halves[name], tensor, atol=0, rtol=0)
    rows = [json.loads(line) for line in (tmp_path / "halves" / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [3, 6]
    assert "call" in rows[-1]
