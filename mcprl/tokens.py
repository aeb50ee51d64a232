"""Token in, token out: from messages to the ids an engine sees, from what it sampled to the rows a trainer trains on.

Nothing that was sampled is ever tokenized again: the next prompt of a conversation is the last context plus the ids of
what was said since, separators included, and a training row is made of the engine's ids alone.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any, Protocol

from mcprl.tree import common_prefix
from mcprl.types import Completion, Message, Row, Tool, Trajectory


class Tokenizer(Protocol):
    """What is needed of a transformers tokenizer."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, /, **options: Any) -> Any: ...
    def encode(self, text: str, /, *, add_special_tokens: bool = True, verbose: bool = True) -> list[int]: ...
    def get_added_vocab(self) -> dict[str, int]: ...


# --- prompts ----------------------------------------------------------------------------------------------------------


def render(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), generation_prompt: bool = True
) -> str:
    """The conversation as text in the model's own chat template.

    Control tokens that stand in what users, tools and schemas say are broken up (`< |im_end|>`), so that no server can
    end a turn or forge one. No tools means `None`, not an empty list: templates tell them apart (TRL 5379).
    """
    control = _pattern(tuple(tokenizer.get_added_vocab()))
    functions = [_inert(tool.as_function(), control) for tool in tools] or None
    said = [_message(tokenizer, message, control) for message in messages]
    return _rendered(tokenizer, str(tokenizer.chat_template), json.dumps([said, functions]), generation_prompt)


@lru_cache(maxsize=256)
def _rendered(tokenizer: Tokenizer, template: str, conversation: str, generation_prompt: bool) -> str:
    """Messages and functions, given as JSON, in the chat template. Kept, since the tries of a task begin alike and a
    template takes milliseconds."""
    said, functions = json.loads(conversation)
    options = {"tools": functions, "tokenize": False, "add_generation_prompt": generation_prompt}
    return str(tokenizer.apply_chat_template(said, **options))


@lru_cache(maxsize=256)
def _encoded(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokenizer.encode(text, add_special_tokens=False, verbose=False))  # engines tell of too long ones


def prompt_ids(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), context_ids: Sequence[int] = ()
) -> tuple[int, ...]:
    """The ids of the next prompt. With `context_ids` (the last prompt and its completion) they extend it.

    Only what was said after the last assistant message is tokenized; it begins right behind that message's end-of-turn
    token, so the template's separator is kept (TRL 5317). Where the template rewrites history (some strip `<think>`),
    the whole conversation is rendered instead and the trainer starts a new row.
    """
    text = render(tokenizer, messages, tools)
    extension = _extension(tokenizer, text, messages, tools, context_ids) if context_ids else None
    if extension is None:
        return _encoded(tokenizer, text)
    return (*context_ids, *_encoded(tokenizer, extension))


def head_ids(tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> tuple[int, ...]:
    """The ids that open every conversation with these tools and these leading system messages, whatever follows."""
    system = list(takewhile(lambda message: message["role"] == "system", messages))
    one, other = (render(tokenizer, [*system, {"role": "user", "content": said}], tools) for said in ("a", "b"))
    return _encoded(tokenizer, one[: common_prefix(one, other)])


def end_of_turn(tokenizer: Tokenizer) -> str | None:
    """The control token with which the template ends a turn, `None` where it has none."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    return last_control(tokenizer, render(tokenizer, said, generation_prompt=False))


def last_control(tokenizer: Tokenizer, text: str) -> str | None:
    """The control token that ends `text`, white space aside."""
    end = _last_control(tokenizer, text)
    return end.group() if end else None


def inert(tokenizer: Tokenizer, text: str) -> str:
    """The text with its control tokens broken up."""
    return _inert(text, _pattern(tuple(tokenizer.get_added_vocab())))


def _last_control(tokenizer: Tokenizer, text: str) -> re.Match[str] | None:
    *_, end = (None, *_pattern(tuple(tokenizer.get_added_vocab())).finditer(text))
    return end if end and not text[end.end() :].strip() else None


def _extension(
    tokenizer: Tokenizer, text: str, messages: Sequence[Message], tools: Sequence[Tool], context_ids: Sequence[int]
) -> str | None:
    """What `text` adds to the context, or `None` where it does not extend it."""
    said = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if said is None:
        return None
    before = render(tokenizer, messages[: said + 1], tools, generation_prompt=False)
    end = _last_control(tokenizer, before)
    if end is None or not text.startswith(before):
        return None
    ended = context_ids[-1] == tokenizer.get_added_vocab()[end.group()]  # not where it was cut at the limit
    return text[end.end() if ended else end.start() :]


def _message(tokenizer: Tokenizer, message: Message, control: re.Pattern[str]) -> Message:
    if message["role"] != "assistant":
        return message | {"content": _inert(message.get("content") or "", control)}
    message = message | {"content": message.get("content") or ""}  # some templates look for words in it
    if not message.get("tool_calls") or _keeps_arguments(tokenizer):
        return message
    calls: list[dict[str, Any]] = message["tool_calls"]
    parsed = [call | {"function": call["function"] | {"arguments": _parsed(call)}} for call in calls]
    return message | {"tool_calls": parsed}


def _parsed(call: Mapping[str, Any]) -> Any:
    arguments = call["function"]["arguments"]
    return json.loads(arguments) if isinstance(arguments, str) else arguments


@lru_cache(maxsize=16)
def _keeps_arguments(tokenizer: Tokenizer) -> bool:
    """Whether the template writes arguments that are JSON text as they are; others quote it twice (Qwen2.5)."""
    call = {"id": "call_0", "type": "function", "function": {"name": "probe", "arguments": '{"probe": 1}'}}
    talk = [{"role": "user", "content": "probe"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    try:
        return '{"probe": 1}' in str(tokenizer.apply_chat_template(talk, tokenize=False))
    except Exception:  # a template may iterate over the mapping: whatever it raises, it does not take text
        return False


@lru_cache(maxsize=16)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(str.strip, tokens), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _inert(value: Any, control: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return control.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", value)
    if isinstance(value, Mapping):
        return {_inert(key, control): _inert(item, control) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_inert(item, control) for item in value]
    return value


def demonstration(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), name: str = "demonstration"
) -> Trajectory:
    """A conversation that somebody wrote, as a trajectory whose turns have the ids that a policy would have had to
    sample.

    What the template puts behind the assistant's words (a line break, say) is left to the next prompt, as in a rollout.
    """
    turns: list[Completion] = []
    end = _pattern(tuple(tokenizer.get_added_vocab()))
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns else ()
        prompt = prompt_ids(tokenizer, messages[:at], tools, context)
        before, after = render(tokenizer, messages[:at], tools), render(tokenizer, messages[: at + 1], tools, False)
        said = after.removeprefix(before)
        last = list(end.finditer(said))[-1]
        ids = _encoded(tokenizer, said[: last.end()])
        turns.append(Completion(message, prompt, ids, (0.0,) * len(ids), "stop"))
    return Trajectory(name, name, tuple(messages), tuple(turns))


# --- rows -------------------------------------------------------------------------------------------------------------


def rows(trajectory: Trajectory) -> list[Row]:
    """The training rows of a trajectory: a row goes on while the next prompt begins with it, else a new one starts."""
    result: list[Row] = []
    for turn in trajectory.turns:
        row = result.pop() if result and _extends(turn.prompt_ids, result[-1].ids) else Row(trajectory.id, (), (), ())
        new = turn.prompt_ids[len(row.ids) :]
        ids = (*row.ids, *new, *turn.completion_ids)
        mask = (*row.mask, *(False,) * len(new), *(True,) * len(turn.completion_ids))
        result.append(Row(trajectory.id, ids, mask, (*row.logprobs, *(0.0,) * len(new), *turn.logprobs)))
    return result


@dataclass(frozen=True)
class Certificate:
    """How many trained tokens stand in the very context in which the engine sampled them. `exactness` must be 1.0."""

    trained: int
    exact: int

    @property
    def mismatches(self) -> int:
        return self.trained - self.exact

    @property
    def exactness(self) -> float:
        """The share of trained tokens whose context, id and log-probability are the engine's own."""
        return self.exact / self.trained if self.trained else 1.0


def certificate(rows: Iterable[Row], trajectories: Iterable[Trajectory]) -> Certificate:
    """Check rows against the turns they claim to come from. A token that is trained twice is a mismatch."""
    turns = {trajectory.id: trajectory.turns for trajectory in trajectories}
    trained = exact = 0
    for trajectory_id, own in groupby(sorted(rows, key=lambda row: row.trajectory_id), lambda row: row.trajectory_id):
        unclaimed = [
            (len(turn.prompt_ids), (*turn.prompt_ids, *turn.completion_ids), turn.logprobs)
            for turn in turns.get(trajectory_id, ())
        ]
        for row in own:
            exact_T: set[int] = set()
            for claim in [claim for claim in unclaimed if any(row.mask[claim[0] : len(claim[1])])]:
                if new := set(_exact(row, *claim)) - exact_T:
                    unclaimed.remove(claim)
                    exact_T |= new
            trained += sum(row.mask)
            exact += len(exact_T)
    return Certificate(trained, exact)


def _exact(row: Row, start: int, seen: tuple[int, ...], logprobs: tuple[float, ...]) -> Iterator[int]:
    """Where the row trains the sampled tokens of a turn in the context that the engine saw."""
    end = len(seen) if _extends(row.ids, seen) else common_prefix(row.ids, seen)
    return (at for at in range(start, end) if row.mask[at] and row.logprobs[at] == logprobs[at - start])


def _extends(ids: tuple[int, ...], prefix: tuple[int, ...]) -> bool:
    return ids[: len(prefix)] == prefix
