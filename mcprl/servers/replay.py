"""A server that only repeats what was recorded of it (`--server replay:RUN`): no process, no network.

A call is answered by, in this order,
1. the same call in the same state: the setup and the session's earlier writes are those of a recorded session. If it is
   the k-th such call of the session, the k-th recorded answer is given (the last one if there are fewer);
2. the nearest recorded call of the tool (`nearness`): with the fewest arguments that differ, then with the longest
   common beginning of setup and writes, then the first recorded. It is counted, and the first one is noted;
3. an error that says that nothing was recorded.
An answer depends on its session alone, so that the same sessions get the same answers in any order.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcprl.config import ServerConfig
from mcprl.errors import ServerError, SessionLost, Unavailable
from mcprl.events import Emit, Note, ignore
from mcprl.secrets import hide_in_json
from mcprl.servers.backend import ServerFacts
from mcprl.servers.digest import cap, digest
from mcprl.servers.exchanges import FILE, Answer, Exchange, Exchanges
from mcprl.servers.limits import Pace
from mcprl.servers.nearness import distance, is_same, spelled
from mcprl.servers.protocol import Malformed
from mcprl.servers.routes import Route
from mcprl.text import common_prefix, compact, counted, shortened
from mcprl.types import Call, Json, Scalar, Tool, ToolResult

PREFIX = "replay:"

_State = tuple[str, ...]
"""The setup calls and the session's writes so far, as text."""


@dataclass
class _Recalled:
    """A recorded call: its answers by the state in which it was made, the k-th behind the other."""

    arguments: dict[str, Any]
    answers: dict[_State, list[Exchange]] = field(default_factory=dict[_State, list[Exchange]])


def recorded_servers(config: ServerConfig) -> list[ServerConfig]:
    """The servers that a `replay:RUN` stands for, under their recorded names; any other server is itself.

    RUN is a run's folder, or a name in `runs`. Raises `ServerError` if it holds no recording.
    """
    if not config.target.startswith(PREFIX):
        return [config]
    run = config.target.removeprefix(PREFIX)
    folder = next((folder for folder in (Path(run), Path("runs") / run) if (folder / FILE).is_file()), None)
    if folder is None:
        raise ServerError(f"{shortened(run, 200)} holds no recording ({FILE}); make one with mcprl train --record")
    with Exchanges.open(folder, write=False) as exchanges:
        names = list(exchanges.servers())
    return [config.model_copy(update={"target": f"{PREFIX}{folder}", "name": name}) for name in names]


class Replay:
    """One recorded server; stands where a `Backend` does."""

    processes = 0

    def __init__(self, config: ServerConfig, name: str, emit: Emit | None = None) -> None:
        self.name, self._recorded_name, self._emit = name, config.name, emit or ignore
        self._folder = Path(config.target.removeprefix(PREFIX))
        self._recalled: dict[str, dict[str, _Recalled]] = {}
        self._served = Counter[str]()
        self.listed: list[Tool | Malformed] = []
        self.facts: ServerFacts

    async def start(self) -> None:
        """Read the recording. Raises `JournalError` if it is damaged."""
        with Exchanges.open(self._folder, write=False) as exchanges:
            parts = exchanges.servers()[self._recorded_name]
            setups = exchanges.sessions(self._recorded_name)
            recorded = list(exchanges.read(self._recorded_name))
        self._parts = parts
        self.listed = [_listed(tool) for tool in parts["tools"]]
        told = f"replay of {self._folder}, {counted(len(recorded), 'call')} in {counted(len(setups), 'session')}"
        facts: dict[str, Any] = parts["facts"]
        facts |= {"name": self.name, "notes": tuple(facts["notes"]), "transport": f"{told} over {facts['transport']}"}
        facts |= {"connect_s": 0.0, "list_s": 0.0}
        self.facts = ServerFacts(**facts)
        states: dict[int, _State] = {number: _state(setup) for number, setup in setups.items()}
        made = Counter[tuple[int, _State, str]]()
        for exchange in recorded:
            key, state = _key(exchange.call), states[exchange.session]
            self._keep(exchange, state, made[exchange.session, state, key])
            made[exchange.session, state, key] += 1
            if not exchange.reads:
                states[exchange.session] = (*state, key)

    def _keep(self, exchange: Exchange, state: _State, k: int) -> None:
        """Keep an exchange if it is the first recorded k-th one, or the first that was answered at all."""
        by_call = self._recalled.setdefault(exchange.call.tool, {})
        recalled = by_call.setdefault(spelled(exchange.call.arguments), _Recalled(exchange.call.arguments))
        answers = recalled.answers.setdefault(state, [])
        if k == len(answers):
            answers.append(exchange)
        elif k < len(answers) and exchange.answer.is_the_tools and not answers[k].answer.is_the_tools:
            answers[k] = exchange

    # --- what a backend does ------------------------------------------------------------------------------------------

    @property
    def resets(self) -> bool:
        """Whether the recorded run reset the server; here every session begins in its recorded state."""
        return bool(self._parts["resets"])

    async def reset(self) -> None:
        pass

    def slow_down(self, tool: str, pace: Pace) -> None:
        """Answers from a file need no pace."""

    async def resources(self) -> list[tuple[str, str]]:
        return [(uri, text) for uri, text in self._parts.get("resources", ())]

    async def known_values(self) -> dict[str, dict[str, list[Scalar]]]:
        return self._parts.get("known_values", {})

    def session(self, setup: Sequence[Call]) -> "_ReplayedSession":
        return _ReplayedSession(self, setup)

    def discard(self) -> None:
        if self._served["near"] or self._served["missing"]:
            counts = "calls answered as recorded: {same}, by the nearest recorded call: {near}, not recorded: {missing}"
            self._emit(Note(f"{self.facts.target} replayed: {counts.format_map(self._served)}"))

    async def wait_closed(self) -> None:
        pass

    # --- answers ------------------------------------------------------------------------------------------------------

    def find(self, route: Route, arguments: dict[str, Any], state: _State) -> tuple[_Recalled, _State] | None:
        """The recorded call that answers a call, and the recorded state that it is in."""
        by_call = self._recalled.get(route.tool, {})
        same = by_call.get(spelled(arguments))
        if same is None or state not in same.answers:
            equal = (one for one in by_call.values() if state in one.answers)
            same = next((one for one in equal if is_same(arguments, one.arguments, route.schema)), None)
        if same:
            self._served["same"] += 1
            return same, state
        nearest = min(self._near(by_call, route, arguments, state), key=lambda found: found[0], default=None)
        kind = "near" if nearest else "missing"
        self._served[kind] += 1
        if self._served[kind] == 1:
            how = f"answered by the nearest: {compact(nearest[1].arguments)}" if nearest else "answered with an error"
            call = shortened(f"{route.tool} {compact(arguments)}", 200)
            self._emit(Note(f"replay: {call} was not recorded in this state, and is {shortened(how, 200)}"))
        return nearest[1:] if nearest else None

    def _near(
        self, by_call: Mapping[str, _Recalled], route: Route, arguments: dict[str, Any], state: _State
    ) -> "list[tuple[tuple[int, int, int], _Recalled, _State]]":
        found: list[tuple[tuple[int, int, int], _Recalled, _State]] = []
        for recalled in by_call.values():
            far = 0 if is_same(arguments, recalled.arguments, route.schema) else None
            far = distance(arguments, recalled.arguments, route.schema) if far is None else far
            if far is not None:
                for other in recalled.answers:
                    found.append(((far, -common_prefix(state, other), len(found)), recalled, other))
        return found

    def missing(self, route: Route, arguments: dict[str, Any]) -> str:
        """What is said of a call that nothing recorded answers."""
        others = len(self._recalled.get(route.tool, {}))
        return f"Error: nothing was recorded for {route.tool} {compact(arguments)}; {others} other calls of it were"


class _ReplayedSession:
    """One session: its state, and how often each call was made in it."""

    def __init__(self, replay: Replay, setup: Sequence[Call]) -> None:
        self._replay, self._state = replay, _state(setup)
        self._made = Counter[tuple[_State, str]]()

    async def call(self, route: Route, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        hidden: dict[str, Any] = hide_in_json(dict(arguments))
        found = self._replay.find(route, hidden, self._state)
        if found is None:
            return replace(digest(self._replay.missing(route, hidden), None, True, max_bytes), unanswered=True)
        recalled, state = found
        key = _key(Call(route.tool, recalled.arguments))
        answers, k = recalled.answers[state], self._made[state, key]
        self._made[state, key] += 1
        if not route.reads:  # the session goes on in the state that the recorded write left
            self._state = (*state, key)
        exchange = answers[min(k, len(answers) - 1)]
        return _result(exchange.answer, exchange.latency_s, max_bytes)

    def rest(self) -> None:
        pass

    def release(self) -> None:
        pass


def _result(answer: Answer, latency_s: float, max_bytes: int) -> ToolResult:
    """The recorded result, cut if less may be read now. Raises the recorded error if there was one."""
    if answer.raised:
        raise (Unavailable if answer.raised == Unavailable.__name__ else SessionLost)(answer.text)
    text, cut = cap(answer.text, max_bytes) if not answer.cut_bytes else (answer.text, 0)
    return ToolResult(text, answer.structured, answer.is_error, answer.cut_bytes + cut, latency_s, answer.unanswered)


def _listed(tool: Json) -> Tool | Malformed:
    return Malformed(**tool) if "reason" in tool else Tool(**tool)


def _state(setup: Sequence[Call]) -> _State:
    return tuple(_key(replace(call, arguments=hide_in_json(call.arguments))) for call in setup)


def _key(call: Call) -> str:
    return f"{call.tool} {spelled(call.arguments)}"
