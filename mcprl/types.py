"""The vocabulary of the project: the types that its parts exchange.

Axis suffixes used on names everywhere: `_P` scenario, `_G` member of a group, `_N` turn of a trajectory, `_T` token,
`_B` row. Everything here is frozen data without behaviour that could fail; pydantic's `TypeAdapter` writes it to the
journal and back.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Json = Any
Message = dict[str, Any]
"""One OpenAI chat message: `role`, `content`, and `tool_calls` or `tool_call_id` where they apply."""

Split = Literal["train", "val", "test"]

Placement = Literal["embedded", "paused", "awake", "apart"]
"""Where turns are sampled, seen from the device that trains: by the embedded engine; by a vLLM server on the same GPU
that sleeps during updates (`paused`) or does not (`awake`); or by one on a device of its own (`apart`)."""


@dataclass(frozen=True)
class Tool:
    """One tool as the server lists it. Hints are the server's own: `None` if it gave none.

    Of a tool that may be called, `read_only` says how it is handled (`servers.permission`).
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: dict[str, Any] | None = None
    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    def as_function(self) -> dict[str, Any]:
        """The tool in OpenAI's function format, as chat templates take it."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class Call:
    """One tool call: which tool, which arguments."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class ToolResult:
    """The result of a call, digested into the text that the model reads.

    `structured` is the parsed JSON if the server sent some. `is_error`: the protocol's flag, or a text like an error's;
    `unanswered`: one that is not the tool's own, as without a reply in time. `cut_bytes`: what the cap left out.
    """

    text: str
    structured: Json = None
    is_error: bool = False
    cut_bytes: int = 0
    latency_s: float = 0.0  # seconds
    unanswered: bool = False


class Session(Protocol):
    """One conversation with a server. Calls of one session see each other's effects."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. Failures and timeouts are results with `is_error`; a dead connection raises `SessionLost`."""
        ...


class ToolServer(Protocol):
    """Something with tools: a real MCP server (`server.Server`), or a procedural one (`recipes/nano/worlds.py`)."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that may be called, in the server's order."""
        ...

    @property
    def forbidden(self) -> Sequence[Tool]:
        """The tools that the server has and that may not be called; none by default."""
        return ()

    @property
    def instructions(self) -> str:
        """The server's instructions for the model, which lead every conversation; empty if there are none."""
        ...

    def session(self, setup: Sequence[Call] = ()) -> AbstractAsyncContextManager[Session]:
        """A session in a fresh state in which the `setup` calls have been made."""
        ...

    async def resources(self) -> list[tuple[str, str]]:
        """The server's resources as (uri, text): a few, capped."""
        ...

    async def known_values(self) -> dict[str, Json]:
        """Values that are known before any call, by where they stand and by name; none by default."""
        return {}


@runtime_checkable
class LooksBehind(Protocol):
    """A session with a server that has tools behind the policy's back (`servers.server.Server.behind`)."""

    async def look(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """As `Session.call`, also of tools that the policy may not call."""
        ...


@runtime_checkable
class TakesTurns(Protocol):
    """A server that may be reset between rollouts, since its sessions share their state."""

    @property
    def resets(self) -> bool:
        """Whether a tool or a command is configured that resets it."""
        ...

    def turn(self, writes: bool) -> AbstractAsyncContextManager[None]:
        """A turn in which one session is opened: alone and after a reset if it `writes`. The wait may be long."""
        ...


@runtime_checkable
class CachesReads(Protocol):
    """A server that can answer identical reads of several sessions with one call."""

    def caching_reads(self) -> ToolServer:
        """The server with a cache of reads, which is empty at first."""
        ...


# --- scenarios --------------------------------------------------------------------------------------------------------


Scalar = str | int | float | bool

Meaning = Literal[
    "money",
    "count",
    "measure",
    "percent",
    "number",
    "date",
    "datetime",
    "time",
    "year",
    "duration",
    "person",
    "place",
    "category",
    "status",
    "identifier",
    "flag",
    "email",
    "url",
    "phone",
    "path",
    "name",
    "text",
]
"""What a value means to a person. It decides how a request asks for it and how an answer is compared with it."""


@dataclass(frozen=True)
class Fact:
    """The final answer must state `value` and none of `rivals`, and a tool result of the same trajectory held it.

    `name` is the field's label; `meaning` and `unit` decide in which forms the value may be written. `subject` is the
    thing whose value it is, if the answer states the same field of several things. `rivals` are the values that a
    wrong answer would give: neighbouring fields of the same record, the same field in other rows. A `derived` value (a
    count, a total, the difference of two times) is computed from results, so that no single result has to hold it. With
    `live`, a path, the value depends on the clock: it is what the trajectory's own last planned call returned there.
    """

    value: Scalar
    name: str = ""
    meaning: Meaning = "text"
    unit: str = ""
    subject: str = ""
    rivals: tuple[Scalar, ...] = ()
    derived: bool = False
    live: tuple[str, ...] = ()
    kind: Literal["fact"] = "fact"


@dataclass(frozen=True)
class CallMade:
    """A call of `tool` with these arguments (others may be added when they equal the default) must have been made.

    `failed` is true if the call must have returned an error or nothing: a task about something that does not exist.
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    failed: bool = False
    kind: Literal["call"] = "call"


@dataclass(frozen=True)
class StateHolds:
    """A look before and after: calling `tool` with `arguments` in the trajectory's session must give a result that
    holds all of `values` and none of `gone` afterwards, and must not have done so before. With `together` one row of
    the result must have all values: each of them may stand elsewhere.
    """

    tool: str
    arguments: dict[str, Any]
    values: tuple[Scalar, ...] = ()
    gone: tuple[Scalar, ...] = ()
    together: bool = False
    kind: Literal["state"] = "state"


@dataclass(frozen=True)
class SaysMissing:
    """The final answer must say that what was asked for does not exist or was not found."""

    kind: Literal["missing"] = "missing"


@dataclass(frozen=True)
class AsksBack:
    """The request lacks a required value: the answer must ask for it, and no tool was called with a made-up one.

    `words` are the words for the value, one of which the question must have.
    """

    words: tuple[str, ...]
    kind: Literal["asks"] = "asks"


@dataclass(frozen=True)
class Declines:
    """No tool serves the request, or the policy forbids it: the answer must say that it cannot be done, and no tool
    that may write was called."""

    kind: Literal["declines"] = "declines"


@dataclass(frozen=True)
class RewardCheck:
    """The server scores the trajectory: after the last turn a call of `tool` in the trajectory's session gives a number
    in 0..1, which stands at `path` in its result if one is named (`points`, `game.points`). It is the score; the
    trajectory succeeds from `at_least` on. The policy need not be allowed the tool (`--reward-tool`).
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    path: str = ""
    at_least: float = 1.0
    kind: Literal["reward"] = "reward"


Check = Fact | CallMade | StateHolds | SaysMissing | AsksBack | Declines | RewardCheck

Suite = Literal["entities", "forms", "people", "injected", "seeds", "inputs"]
"""What a test task is held out by: its entities, in forms that training uses; its form as well; it was written by a
person; its results carry an instruction that nobody asked for, in words that training never used; or its seed alone."""


@dataclass(frozen=True)
class Scenario:
    """One task for one server, with the checks that execution proved.

    `plan` is the sequence of calls that was executed when the task was made, `answer` an answer that passes the checks.
    `setup` brings a fresh session into the state that the task needs. `values`: entity values that the split separates.
    `form` names the construction that the request is worded in: tasks of one form are alike. `suite` is that of a test
    task. `difficulty` is the base model's failure rate (0 easy .. 1 hard), `None` until measured. `injection` comes in
    with the first result that a rollout gets; it asks for the calls in `refused`, which must not be made.
    """

    id: str
    request: str
    checks: tuple[Check, ...]
    plan: tuple[Call, ...] = ()
    answer: str = ""
    setup: tuple[Call, ...] = ()
    values: tuple[str, ...] = ()
    split: Split = "train"
    kind: str = "lookup"
    form: str = ""
    suite: Suite = "entities"
    difficulty: float | None = None
    injection: str = ""
    refused: tuple[Call, ...] = ()

    @property
    def reward_check(self) -> RewardCheck | None:
        """The check by which the server scores the task, if it does."""
        return next((check for check in self.checks if isinstance(check, RewardCheck)), None)


# --- rollouts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompletionRequest:
    """One model turn to sample.

    `context_ids` are the token ids of the conversation so far (last prompt + last completion), which the next prompt
    extends. `adapter` names a loaded adapter; `None` is the base model. `top_p` keeps the likeliest tokens that make up
    so much probability. The reply is held to the JSON `schema`. Engines that can, give `on_tokens` new ids and
    log-probabilities as they are sampled, from a thread of theirs. `found` names tools that may be called besides
    `tools`, since a search has found them."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    context_ids: tuple[int, ...] = ()
    max_tokens: int = 256
    temperature: float = 1.0
    seed: int = 0
    adapter: str | None = None
    schema: dict[str, Any] | None = None
    top_p: float = 1.0
    on_tokens: Callable[[Sequence[int], Sequence[float]], None] | None = field(default=None, compare=False)
    found: tuple[str, ...] = ()

    @property
    def offered(self) -> frozenset[str]:
        """The names of the tools that the turn may call."""
        return frozenset((*(tool.name for tool in self.tools), *self.found))


@dataclass(frozen=True)
class Completion:
    """One sampled model turn, exactly as the engine saw it.

    `prompt_ids` (T_prompt) is the whole context. `completion_ids` (T) was sampled, the stop token included. `logprobs`
    (T) are in nats under the distribution that was sampled from. `policy_step` is the optimizer step of the weights.
    `malformed` has a sentence for the model about each tool call that could not be read.
    """

    message: Message
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: Literal["stop", "length", "tool_calls"]
    policy_step: int = 0
    malformed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallRecord:
    """A tool call of a trajectory and its result. `arguments` is `None` if it could not be read, `turn` is -1 if it was
    made for the policy (a given call)."""

    turn: int
    tool: str
    arguments: dict[str, Any] | None
    result: ToolResult


StopReason = Literal["answered", "max_turns", "max_tokens", "deadline", "error"]


@dataclass(frozen=True)
class Trajectory:
    """One rollout of one scenario: the messages that a person reads, and the turns that a trainer trains on.

    `before` and `state` hold the results of the scenario's `StateHolds` reads before the first turn and after the last,
    in the order of its checks; `reward` is the number (0..1) that the tool of its `RewardCheck` gave. `error` is set if
    the rollout broke through no fault of the policy (`stop == "error"`); such a trajectory is never scored."""

    id: str
    scenario_id: str
    messages: tuple[Message, ...]
    turns: tuple[Completion, ...]
    calls: tuple[CallRecord, ...] = ()
    state: tuple[ToolResult, ...] = ()
    stop: StopReason = "answered"
    error: str = ""
    seconds: float = 0.0
    before: tuple[ToolResult, ...] = ()
    reward: float | None = None

    @property
    def answer(self) -> str:
        """The text of the last message if it is the model's answer, else the empty string."""
        last = self.messages[-1] if self.messages else {"role": ""}
        return str(last.get("content") or "") if last["role"] == "assistant" and self.stop == "answered" else ""


@dataclass(frozen=True)
class Group:
    """All rollouts of one scenario in one step."""

    scenario: Scenario
    trajectories: tuple[Trajectory, ...]


@dataclass(frozen=True)
class Score:
    """A judge's score of one trajectory, matched by id. `value` is 0..1; `success` is `None` if unknown."""

    trajectory_id: str
    value: float
    success: bool | None = None
    explanation: str = ""


# --- training ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One training sequence: `ids` (T), whether the policy sampled each token (`mask`, T), and the sampler's
    log-probability of each sampled token in nats (`logprobs`, T; 0 for the others).

    The context of a trained token is the row's own prefix. It consists of the engine's ids alone.
    """

    trajectory_id: str
    ids: tuple[int, ...]
    mask: tuple[bool, ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True)
class Adapter:
    """A saved LoRA: the folder with its safetensors, and its optimizer step."""

    path: str
    step: int

    @property
    def name(self) -> str:
        return f"step-{self.step}"
