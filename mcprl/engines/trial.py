"""A trial of a model: how it writes calls, and with which wording it answers after a result.

Eight little tasks of a house with lamps are all that it is judged by, and never whether an answer is right. The wording
is the one of a fixed list with which the model answers and makes the most second calls where they are needed. What was
found is kept in the user's cache; that of packaged models comes with mcprl (`recipes/trials.py` makes it).
"""

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import torch

from mcprl.chat import families, wording
from mcprl.chat.prompts import opening_messages
from mcprl.chat.wording import WORDED, Wording
from mcprl.config import Config, EngineConfig, RolloutConfig
from mcprl.engines import Engine, uses_tinker
from mcprl.engines.conversation import Conversation
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.engines.tinker import TinkerEngine
from mcprl.errors import EngineError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import cache_folder, write_whole
from mcprl.models import packaged
from mcprl.models.heap import collect_and_trim
from mcprl.models.load import LoadedModel, load_model, version_of
from mcprl.models.tinker.model import RemoteModel, open_remote
from mcprl.runs.cards import public_name
from mcprl.text import counted, only_data, shortened
from mcprl.types import CompletionRequest, Tool, ToolResult

SHIPPED = Path(packaged.__file__).with_name("trials.json")
ENOUGH = 6
"""Tasks of the eight that must end in an answer."""
_TURNS = 4
_EITHER = "If the result answers my question, answer it in one sentence. If not, make the next call."
_ANSWER = "If this is enough, answer my question now in one sentence; else make the next call."
_SYSTEM = (
    "Find out what you need with the tools. After each result make the next call if something is still missing; "
    "otherwise answer in one sentence."
)
WORDINGS = (Wording(), Wording(after_result=_EITHER), Wording(after_result=_ANSWER), Wording(_SYSTEM, _ANSWER))
"""Chosen on tasks of this house, of seventeen that Qwen2.5-Coder-1.5B was given: with most of them it either
answers after its first result or calls until its turns end (docs/history.md)."""


# --- the tasks --------------------------------------------------------------------------------------------------------


def _tool(name: str, description: str, /, **parameters: str) -> Tool:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return Tool(name, description, {"type": "object", "properties": properties, "required": [*parameters]})


TOOLS = (
    _tool("find_room", "Find a room by its name. Returns its id.", name="string"),
    _tool("get_room", "The size, the floor and the lamps of a room.", room_id="string"),
    _tool("get_lamp", "How many watts a lamp has, and whether it is on.", lamp_id="string"),
    _tool("switch_lamp", "Switch a lamp on or off.", lamp_id="string", on="boolean"),
)
_NAMES = {"library": "R-12", "kitchen": "R-31"}
_ROOMS: Mapping[str, Any] = {
    "R-12": {"room_id": "R-12", "floor": 2, "square_metres": 34, "lamps": ["L-7"]},
    "R-31": {"room_id": "R-31", "floor": 0, "square_metres": 19, "lamps": ["L-3", "L-9"]},
}
_LAMPS = {"L-3": (40, True), "L-7": (60, False), "L-9": (25, False)}
TASKS = (
    ("How many square metres does room R-12 have?", 1),
    ("On which floor is room R-31?", 1),
    ("How many watts does lamp L-7 have?", 1),
    ("Is lamp L-3 on?", 1),
    ("Please switch lamp L-9 on.", 1),
    ("Which lamps are in room R-31?", 1),
    ("How many square metres does the library have?", 2),
    ("On which floor is the kitchen?", 2),
)
"""Requests, and how many different calls each needs."""


class _Repeated(Exception):
    """The model has made the same call twice: it does not read results."""


class House:
    """A session with the house, in its first state. Raises `_Repeated` at a call that was made before."""

    def __init__(self) -> None:
        self._on = {lamp: on for lamp, (_, on) in _LAMPS.items()}
        self._made = set[str]()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        call = json.dumps([tool, arguments], sort_keys=True)
        if call in self._made:
            raise _Repeated
        self._made.add(call)
        try:
            return ToolResult(json.dumps(self._result(tool, arguments)))
        except (LookupError, TypeError, AttributeError):
            return ToolResult(f"Error: {tool} found nothing for {json.dumps(dict(arguments))}", is_error=True)

    def _result(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        if tool == "find_room":
            return {"room_id": _NAMES[arguments["name"].lower()]}
        if tool == "get_room":
            return _ROOMS[arguments["room_id"]]
        lamp = arguments["lamp_id"]
        if tool == "switch_lamp":
            self._on[lamp] = bool(arguments["on"])
        return {"lamp_id": lamp, "watts": _LAMPS[lamp][0], "on": self._on[lamp]}


# --- the trial --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordingTrial:
    """What a model did with one wording, of `len(TASKS)` tasks: those with a call that was read, those that ended in an
    answer in words after one, and those that need several calls and got different ones. `forms` counts the turns with
    calls by their form. `tokens` were sampled in `seconds`, prompts included."""

    wording: Wording
    called: int
    answered: int
    chained: int
    forms: Mapping[str, int]
    tokens: int
    seconds: float

    @property
    def answers(self) -> bool:
        return self.answered >= ENOUGH


CHAINS = sum(calls > 1 for _, calls in TASKS)


def choose(trials: Sequence[WordingTrial]) -> WordingTrial:
    """Of those that answer the first with the most second calls; if none does, the first with the most answers."""
    answering = [trial for trial in trials if trial.answers]
    if answering:
        return max(answering, key=lambda trial: trial.chained)
    return max(trials, key=lambda trial: trial.answered)


def described(trial: WordingTrial) -> str:
    """What a wording brought, in a sentence."""
    forms = ", ".join(trial.forms) or "none"
    return (
        f"calls in {trial.called} of {counted(len(TASKS), 'little task')} ({forms}), an answer after them in "
        f"{trial.answered}, a second call in {trial.chained} of the {CHAINS} that need one"
    )


def named(chosen: Wording) -> str:
    """A wording in the words of the settings."""
    parts = [f"{name} {shortened(text, 100)!r}" for name, text in chosen._asdict().items() if text]
    return " and ".join(parts) or "no system_prompt and no after_result"


def summary(name: str, trials: Sequence[WordingTrial], mended: Sequence[str]) -> str:
    """The sentences about a trial that a run begins with, and that its report repeats."""
    chosen = choose(trials)
    text = f"{name} was given {counted(len(trials), 'wording')}; chosen: {named(chosen.wording)}. It makes "
    text += described(chosen)
    if chosen.wording != trials[0].wording:
        text += f"; without a wording it answers in {trials[0].answered}"
    if not chosen.answers:
        text += "; with no wording it answers in most of them: that is for training to teach"
    elif not chosen.chained:
        text += "; with no wording that answers it makes a second call: chains are for training to teach"
    for fault in mended:
        text += f"; {fault}"
    return text + ". Base and trained model are read and prompted alike"


async def load_worded(config: Config, emit: Emit = ignore) -> tuple[Config, LoadedModel]:
    """The configured model, with the wording that its trial chooses where the configuration leaves it open, and the
    configuration with that wording. What was chosen is the model's `note`. Raises as `load_model` does."""
    opened = partial(open_remote, config) if uses_tinker(config) else partial(load_model, config.model)
    model = await anyio.to_thread.run_sync(opened)
    stated = config.model.model_fields_set & {"system_prompt", "after_result"}
    if stated or config.model.call_form == "template":
        return config, model
    if WORDED in str(model.tokenizer.chat_template):  # a merged export: its prompts stand in its template
        return config, model
    try:
        trials = await run_trials(model, config.rollout, emit)
    except EngineError as error:  # what vLLM serves need not be a model that the embedded engine decodes
        return config, replace(model, note=f"{config.model.name} had no trial, and has no wording: {error}")
    settings = config.model.model_copy(update=choose(trials).wording._asdict())
    model = replace(model, settings=settings, note=summary(public_name(config.model.name), trials, model.mended))
    return config.model_copy(update={"model": settings}), model


async def run_trials(
    model: LoadedModel, config: RolloutConfig, emit: Emit = ignore, anew: bool = False
) -> list[WordingTrial]:
    """The trials of a model that has no wording yet; unless `anew`, those that come with mcprl or are in the cache. Its
    tokenizer has the chosen wording afterwards."""
    plain = str(model.tokenizer.chat_template)
    place = cache_folder() / "trials" / f"{_key(model, plain, config)}.json"
    trials = [] if anew else _shipped(model) or _kept(place)
    if not trials:
        trials = await _sampled(model, plain, config, emit)
        with suppress(OSError):  # the next run has a trial again
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, json.dumps(dumped(trials), indent=2).encode())
    model.tokenizer.chat_template = wording.worded(plain, choose(trials).wording)
    return trials


async def _sampled(model: LoadedModel, plain: str, config: RolloutConfig, emit: Emit) -> list[WordingTrial]:
    """The trials of the wordings, up to the first with which the model answers and chains."""
    remote = isinstance(model, RemoteModel)
    engine = TinkerEngine(EngineConfig(), model) if remote else EmbeddedEngine(model)
    trials: list[WordingTrial] = []
    try:
        for n, each in enumerate(WORDINGS, 1):
            emit(
                InstallStep(
                    f"trial of {model.name}: wording {n} of {len(WORDINGS)}, {counted(len(TASKS), 'little task')}"
                )
            )
            model.tokenizer.chat_template = wording.worded(plain, each)
            trials.append(await trial_of(engine, model.tokenizer, config, each))
            if trials[-1].answers and trials[-1].chained == CHAINS:
                break
    finally:
        if not remote:  # its connection is the run's
            await engine.close()
        collect_and_trim()
        torch.cuda.empty_cache()  # vLLM may want that memory next; does nothing without a GPU
        model.tokenizer.chat_template = plain
    return trials


async def trial_of(engine: Engine, tokenizer: Any, config: RolloutConfig, chosen: Wording) -> WordingTrial:
    """The trial of the wording that the tokenizer's template has. Greedy."""
    short = config.model_copy(update={"max_turns": _TURNS, "tool_search": 0})
    talks = [
        Conversation(engine, short, TOOLS, opening_messages(request), seed=0, adapter=None, temperature=0.0)
        for request, _ in TASKS
    ]
    stops = [""] * len(talks)

    async def answer(n: int) -> None:
        with suppress(_Repeated, EngineError):  # a turn that fails is no answer
            stops[n] = await talks[n].answer(House())

    began = time.perf_counter()
    with anyio.move_on_after(config.deadline_s):
        async with anyio.create_task_group() as tasks:
            for n in range(len(talks)):
                tasks.start_soon(answer, n)
    seconds = time.perf_counter() - began
    turns = [turn for talk in talks for turn in talk.turns]
    request = CompletionRequest((), TOOLS)
    forms = Counter(families.form(tokenizer, turn.completion_ids, request) for turn in turns)
    made = [{json.dumps([call.tool, call.arguments]) for call in talk.calls if call.tool} for talk in talks]
    needed = [calls for _, calls in TASKS]
    return WordingTrial(
        chosen,
        called=sum(bool(calls) for calls in made),
        answered=sum(
            bool(calls) and stop == "answered" and not only_data(str(talk.messages[-1].get("content")))
            for talk, calls, stop in zip(talks, made, stops, strict=True)
        ),
        chained=sum(len(calls) >= many > 1 for calls, many in zip(made, needed, strict=True)),
        forms={name: count for name, count in forms.most_common() if name},
        tokens=sum(len(turn.completion_ids) for turn in turns),
        seconds=round(seconds, 1),
    )


def dumped(trials: Sequence[WordingTrial]) -> list[Any]:
    """The trials as JSON values."""
    return [asdict(trial) | {"wording": trial.wording._asdict()} for trial in trials]


def _loaded(trials: list[Any]) -> list[WordingTrial]:
    return [WordingTrial(**each | {"wording": Wording(**each["wording"])}) for each in trials]


def _kept(place: Path) -> list[WordingTrial]:
    """The trials in the cache; none if there are none that can be read."""
    try:
        return _loaded(json.loads(place.read_text()))
    except (OSError, ValueError, TypeError, LookupError):
        return []


def _shipped(model: LoadedModel) -> list[WordingTrial]:
    """The trials of a packaged model that come with mcprl; none if they are of other tasks or wordings."""
    shipped = json.loads(SHIPPED.read_text()).get(packaged.name_of(model.path))
    return _loaded(shipped["trials"]) if shipped and shipped["of"] == asked() else []


def asked() -> str:
    """A digest of the wordings, the tasks and the tools."""
    return sha256(json.dumps([WORDINGS, TASKS, [tool.as_function() for tool in TOOLS]]).encode()).hexdigest()[:16]


def _key(model: LoadedModel, template: str, config: RolloutConfig) -> str:
    """Of what the trial depends on: the model and how it is loaded, its template, the tasks and the wordings."""
    parts = (version_of(model), config.max_tokens, config.max_total_tokens, template, asked())
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]
