"""The supervised phase: which adapter it ends with, when it ends, and that a stopped one goes on."""

import json
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.configs import small
from support.paths import ROOT

from mcprl.config import Config, ModelConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ModelError, ServerError
from mcprl.events import Event, Note, WarmStartEnded, WarmStartStep
from mcprl.models.adapters import load_adapter_weights, save_adapter
from mcprl.models.load import LoadedModel, load_model
from mcprl.runs.journal import Journal
from mcprl.runs.starting import with_start
from mcprl.servers.server import connect
from mcprl.training.demonstrations import Demonstrations
from mcprl.training.selection import best_step
from mcprl.training.warm_start import WarmStart, rl_is_spent
from mcprl.types import Adapter, Call, Row, Scenario

LENGTH = 8
SHOWN = Row("shown", tuple(range(10, 10 + LENGTH)), (False,) * 4 + (True,) * 4, (0.0,) * LENGTH)


@dataclass
class Shown:
    """Demonstrations of one row. From the step `until` on the server is gone."""

    until: int = 1_000
    asked: list[int] = field(default_factory=list[int])

    async def rows(self, step: int) -> list[Row]:
        self.asked.append(step)
        if step >= self.until:
            raise ServerError("gone")
        return [SHOWN]


@dataclass
class Phase:
    """A warm start with scripted validation scores, by step."""

    config: Config
    journal: Journal
    scores: Mapping[int, float]
    val_tasks: int = 50
    events: list[Event] = field(default_factory=list[Event])
    validated: list[int] = field(default_factory=list[int])
    told: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.loaded: LoadedModel = load_model(self.config.model)

    async def run(self, shown: Shown) -> Adapter | None:
        async def validate(step: int, adapter: Adapter | None) -> float:
            assert (adapter is None) == (step == 0 and not self.config.training.start)
            self.validated.append(step)
            self.told.append("validates")
            return self.scores[step]

        phase = WarmStart(self.config, self.journal, self.loaded, validate, self.val_tasks, self.paused, self._emit)
        return await phase.run(cast(Demonstrations, shown))

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        self.told.append("pauses")
        yield
        self.told.append("goes on")

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, WarmStartStep):
            self.told.append("step")

    @property
    def weights(self) -> torch.Tensor:
        parts = [p.detach().flatten().clone() for name, p in self.loaded.model.named_parameters() if "lora_" in name]
        return torch.cat(parts)


Begin = Callable[..., Phase]


@pytest.fixture
def begin(tiny_model: Path, tmp_path: Path) -> Begin:
    """Begins a warm start of six steps, validated after every second, in a run folder of this name."""

    def _begin(scores: Mapping[int, float], name: str = "run", **training: Any) -> Phase:
        settings = {"warm_start_steps": 6, "eval_every": 2, "warm_start_learning_rate": 1e-2, "autocast": "off"}
        config = small(tiny_model, tmp_path, training=settings | training)
        folder = tmp_path / name
        exists = folder.exists()
        return Phase(config, Journal.open(folder, write=True) if exists else Journal.create(folder, config), scores)

    return _begin


async def test_the_steps_end_with_the_adapter_that_validated_best(begin: Begin) -> None:
    phase = begin({0: 0.0, 2: 0.2, 4: 0.5, 6: 0.3})
    adapter = await phase.run(Shown())
    assert adapter == Adapter(str(phase.journal.folder / "adapters" / "warm"), 0)
    assert [event.step for event in phase.events if isinstance(event, WarmStartEnded)] == [4]
    assert [event.step for event in phase.events if isinstance(event, WarmStartStep)] == [1, 2, 3, 4, 5, 6]
    assert [path.name for path in (phase.journal.folder / "adapters").iterdir()] == ["warm"]
    shorter = begin({0: 0.0, 2: 0.2, 4: 0.5}, "shorter", warm_start_steps=4)
    await shorter.run(Shown())
    assert torch.equal(phase.weights, shorter.weights)


async def test_validation_that_no_longer_rises_ends_them(begin: Begin) -> None:
    phase = begin({0: 0.1, 2: 0.5, 4: 0.4, 6: 0.4}, patience=1)
    assert await phase.run(Shown())
    assert phase.validated == [0, 2, 4]


async def test_among_few_validation_tasks_one_more_or_less_does_not_decide(begin: Begin) -> None:
    for tasks, kept in ((5, 6), (50, 4)):
        phase = begin({0: 0.2, 2: 0.2, 4: 0.4, 6: 0.2}, f"{tasks}")
        phase.val_tasks = tasks
        await phase.run(Shown())
        assert [event.step for event in phase.events if isinstance(event, WarmStartEnded)] == [kept]


async def test_supervised_steps_that_will_take_hours_say_so_once(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    for hours, told in ((2.0, 0), (0.0, 1)):
        monkeypatch.setattr("mcprl.training.warm_start._LONG_HOURS", hours)
        phase = begin({0: 0.0, 2: 0.2, 4: 0.5, 6: 0.6}, f"{hours}", warm_start_plans=16)
        await phase.run(Shown())
        notes = [event.text for event in phase.events if isinstance(event, Note) and "hours more" in event.text]
        assert len(notes) == told
    assert "--warm-start-plans 4" in notes[0]


async def test_a_model_that_only_gets_worse_stays_the_base_model(begin: Begin) -> None:
    phase = begin({0: 0.3, 2: 0.2, 4: 0.1, 6: 0.2})
    fresh = phase.weights
    assert await phase.run(Shown()) is None
    assert torch.equal(phase.weights, fresh)
    assert not phase.journal.adapters("warm")
    phase.journal.write_event("warmed", step=0, score=0.3)  # as a run records it
    phase.journal.close()
    again, shown = begin({}), Shown()
    assert await again.run(shown) is None
    assert shown.asked == []


async def test_the_engine_is_paused_for_the_steps_between_validations(begin: Begin) -> None:
    phase = begin({0: 0.0, 2: 0.2, 4: 0.5}, warm_start_steps=4)
    await phase.run(Shown())
    assert phase.told == ["validates", *["pauses", "step", "step", "goes on", "validates"] * 2]


async def test_auto_leaves_out_what_the_base_model_needs_not(begin: Begin) -> None:
    phase = begin({0: 0.5}, recipe="auto")
    assert await phase.run(Shown()) is None
    assert [event.text for event in phase.events if isinstance(event, Note)] == [
        "no warm start: the base model scores 0.50 in validation"
    ]


async def test_a_stopped_one_goes_on_from_its_last_validation_and_ends_as_if_it_had_not_been(begin: Begin) -> None:
    scores = {0: 0.0, 2: 0.2, 4: 0.3, 6: 0.4}
    whole = begin(scores, "whole")
    await whole.run(Shown())
    stopped = begin(scores, "stopped")
    with pytest.raises(ServerError):
        await stopped.run(Shown(until=5))
    stopped.journal.close()
    resumed, shown = begin(scores, "stopped"), Shown()
    await resumed.run(shown)
    assert shown.asked[0] == 3
    assert torch.equal(resumed.weights, whole.weights)
    assert resumed.journal.fact("warm_start_tokens") == whole.journal.fact("warm_start_tokens")
    resumed.journal.close()
    again = begin(scores, "stopped")
    assert await again.run(Shown(until=0))  # a phase that has ended is not begun again
    assert again.validated == []
    assert torch.equal(again.weights, whole.weights)


async def test_one_that_is_stopped_while_it_validates_has_counted_the_tokens_before(begin: Begin) -> None:
    scores = {0: 0.0, 2: 0.2, 4: 0.3, 6: 0.4}
    stopped = begin(scores, "stopped")
    del cast("dict[int, float]", stopped.scores)[2]
    with pytest.raises(KeyError):
        await stopped.run(Shown())
    stopped.journal.close()
    resumed, shown = begin({0: 0.0, 2: 0.2, 4: 0.3, 6: 0.4}, "stopped"), Shown()
    await resumed.run(shown)
    assert shown.asked[0] == 3
    tokens = resumed.journal.fact("warm_start_tokens")
    assert tokens == {str(step): step * (LENGTH - 1) for step in (2, 4, 6)}


async def test_in_auto_rl_computes_no_more_tokens_than_the_warm_start_did(begin: Begin) -> None:
    phase = begin({0: 0.0, 2: 0.2, 4: 0.3, 6: 0.4}, recipe="auto")
    assert not rl_is_spent(phase.config, phase.journal)  # no warm start yet
    await phase.run(Shown())
    tokens = float(max(phase.journal.fact("warm_start_tokens").values()))
    assert tokens == 6 * (LENGTH - 1)
    assert not rl_is_spent(phase.config, phase.journal)
    phase.journal.write_step(1, {"sampled_tokens": tokens - 1}, None, {})
    assert not rl_is_spent(phase.config, phase.journal)
    phase.journal.write_step(2, {"sampled_tokens": 0, "forwarded_tokens": 1}, None, {})
    assert rl_is_spent(phase.config, phase.journal)
    control = phase.config.model_copy(update={"control": "shuffle-rewards"})
    assert not rl_is_spent(control, phase.journal)


# --- a start that is not the base model -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "training", "same"),
    [
        ({}, {"recipe": "rl", "warm_start_steps": 0}, True),
        ({0: 0.6}, {"recipe": "auto"}, True),
        ({0: 0.5, 2: 0.2, 4: 0.4, 6: 0.3}, {}, True),
        ({0: 0.5, 2: 0.6, 4: 0.4, 6: 0.3}, {}, False),
    ],
    ids=["no supervised steps", "it solves enough", "no step is better", "a step is better"],
)
async def test_training_begins_with_another_runs_adapter_and_ends_no_worse(
    scores: Mapping[int, float], training: dict[str, Any], same: bool, begin: Begin
) -> None:
    first = begin({0: 0.0, 2: 0.2}, "first", warm_start_steps=2)
    start = await first.run(Shown())
    assert start
    phase = begin(scores, "further", start=start.path, **training)
    for again in (False, True):  # the second time as a resume does, which needs the other run no longer
        adapter = await phase.run(Shown())
        assert adapter == Adapter(str(phase.journal.folder / "adapters" / "warm"), 0)
        assert torch.equal(phase.weights, first.weights) == same, again
        shutil.rmtree(start.path, ignore_errors=True)
    assert [saved.adapter for saved in phase.journal.adapters("warm")] == [adapter]


def test_a_start_is_found_with_its_lora_or_refused_in_one_line(tiny_model: Path, tmp_path: Path) -> None:
    def given(start: str, **model: Any) -> Config:
        config = small(tiny_model, tmp_path, training={"start": start})
        return config.model_copy(update={"model": ModelConfig(name=str(tiny_model), **model)})

    lora = {"r": 4, "lora_alpha": 8.0, "use_rslora": False, "use_dora": False}
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(lora))
    found = with_start(given(str(folder)))
    assert found.training.start == str(folder)
    assert (found.model.lora_rank, found.model.lora_alpha) == (4, 8.0)
    assert with_start(given("exported")) == found, "by its name in runs_dir, too"
    assert with_start(given("")) == given("")
    with pytest.raises(ConfigError, match=r"^the start 'exported' has lora_rank 4, and 16 is asked for$"):
        with_start(given("exported", lora_rank=16))
    with pytest.raises(ConfigError, match=r"^the start 'nosuch' is no run in .* and no folder of an adapter"):
        with_start(given("nosuch"))
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"is no LoRA's: 'r'$"):
        with_start(given("exported"))


def test_an_adapter_of_a_wider_model_is_refused_in_one_line(tiny_model: Path, tmp_path: Path) -> None:
    loaded = load_model(ModelConfig(name=str(tiny_model), lora_rank=4))
    save_adapter(loaded, tmp_path / "wide")
    weights = load_file(tmp_path / "wide" / "adapter_model.safetensors")
    save_file({name: torch.cat([w, w], 1) for name, w in weights.items()}, tmp_path / "wide/adapter_model.safetensors")
    with pytest.raises(ModelError, match="does not fit") as refused:
        load_adapter_weights(loaded, tmp_path / "wide")
    assert "\n" not in str(refused.value)


def test_a_later_step_that_validates_hardly_worse_is_kept() -> None:
    scores = {0: 0.2, 40: 0.31, 80: 0.64, 120: 0.6}
    assert best_step(scores) == 80
    assert best_step(scores, within=0.05) == 120
    assert best_step({0: 0.2, 40: 0.64, 80: 0.55}, within=0.05) == 40
    assert best_step({0: 0.5, 40: 0.5}) == 40


async def test_plans_that_write_to_a_shared_state_each_begin_with_the_first(tiny_model: Path, tmp_path: Path) -> None:
    """Whatever ran before, and beside it."""
    (tmp_path / "notes.json").write_text(json.dumps({"a": "left over"}))
    write, read = Call("set_note", {"name": "a", "text": "b"}), Call("get_note", {"name": "a"})
    plans = {"reads": (read,), "writes": (write, read), "finds it new": (read, write), "reads too": (read,)}
    read_back, notes = await executed(tiny_model, tmp_path, plans, ToolPolicy(deny=("clear_notes",)))
    empty = "(empty)"
    assert read_back == {"reads": [empty], "reads too": [empty], "writes": ["ok", "b"], "finds it new": [empty, "ok"]}
    assert not any("left out" in note for note in notes)


async def test_a_plan_whose_call_is_not_made_is_not_learnt(tiny_model: Path, tmp_path: Path) -> None:
    plans = {name: (Call("set_note", {"name": name, "text": "b"}),) for name in ("first", "second")}
    policy = ToolPolicy(deny=("clear_notes",), max_calls_per_tool={"set_note": 1})
    read_back, notes = await executed(tiny_model, tmp_path, plans, policy)
    [left_out] = {"first", "second"} - read_back.keys()
    assert f"left out: {left_out!r} got no answer: Error: 'set_note' is not called: the 1 calls of it" in notes[0]


async def executed(
    model: Path, folder: Path, plans: Mapping[str, tuple[Call, ...]], policy: ToolPolicy
) -> tuple[dict[str, list[str]], list[str]]:
    """The tool results of plans on notes that all sessions share, which a reset empties, and what was noted."""
    program = ROOT / "tests" / "support" / "servers" / "shared_notes.py"
    target = f"{sys.executable} {program} {folder / 'notes.json'}"
    scenarios = [Scenario(name, name, (), plan, "Done.") for name, plan in plans.items()]
    config = small(model, folder, training={"warm_start_plans": len(plans)})
    events: list[Event] = []
    with Journal.create(folder / "run", config) as journal:
        async with connect([ServerConfig(target=target, reset_tool='clear_notes {"keep": "none"}')], policy) as server:
            tokenizer = load_model(config.model).tokenizer
            await Demonstrations(config, journal, server, tokenizer, scenarios, events.append).rows(1)
        told = {each.id: each.messages for each in journal.trajectories("demonstration", 1)}
    results = {name: [m["content"] for m in messages if m["role"] == "tool"] for name, messages in told.items()}
    return results, [event.text for event in events if isinstance(event, Note)]
