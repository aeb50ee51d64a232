"""The prompt tokens that tool schemas and instructions take in every rollout, counted without torch."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from mcprl.chat.prompts import opening_messages
from mcprl.types import Tool


@dataclass(frozen=True)
class Cost:
    """Tokens of each tool by name, and of the whole prompt with an empty request. `how` says how they were counted."""

    tools: dict[str, int]
    prompt: int
    how: str


def prompt_cost(tools: Sequence[Tool], instructions: str = "") -> Cost:
    """The cost by the nano policy's template and tokenizer, or an estimate if these are not installed."""
    try:
        count = _nano_counter(instructions)
    except (ImportError, OSError):
        estimates = {tool.name: len(json.dumps(tool.as_function())) // 4 for tool in tools}
        whole = sum(estimates.values()) + len(instructions) // 4
        return Cost(estimates, whole, "an estimate: a token for every 4 characters of JSON")
    by_tool = {tool.name: count([tool, tool]) - count([tool]) for tool in tools}  # without what stands around tools
    return Cost(by_tool, count(tools), "the nano policy's template and tokenizer")


def _nano_counter(instructions: str) -> Callable[[Sequence[Tool]], int]:
    """A function from tools to the tokens of the prompt around an empty request, by the nano policy's template.

    Raises `ImportError` without the `train` extra, `OSError` if the policy's files are missing.
    """
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from tokenizers import Tokenizer

    home = files("mcprl") / "models" / "nano"
    tokenizer = Tokenizer.from_str((home / "tokenizer.json").read_text())
    # The settings of transformers, so that the text is the same as in rollouts.
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    template = environment.from_string((home / "chat_template.jinja").read_text())

    def count(tools: Sequence[Tool]) -> int:
        functions = [tool.as_function() for tool in tools] or None
        messages = opening_messages("", instructions)
        text = template.render(messages=messages, tools=functions, add_generation_prompt=True)
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
