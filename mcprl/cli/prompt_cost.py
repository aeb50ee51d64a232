"""What tools and instructions cost in prompt tokens, without loading torch: every rollout pays for them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from mcprl.chat.prompts import opening_messages
from mcprl.types import Tool


@dataclass(frozen=True)
class Cost:
    """Tokens of each tool by name, of the whole prompt around an empty request, and how they were counted."""

    tools: dict[str, int]
    prompt: int
    how: str


def prompt_cost(tools: Sequence[Tool], instructions: str = "") -> Cost:
    """The cost with the nano policy's template and tokenizer; an estimate if those are not installed."""
    try:
        count = _nano_counter(instructions)
    except (ImportError, OSError):
        estimates = {tool.name: len(json.dumps(tool.as_function())) // 4 for tool in tools}
        whole = sum(estimates.values()) + len(instructions) // 4
        return Cost(estimates, whole, "an estimate: a token for every 4 characters of JSON")
    whole = count(tools)
    each = {tool.name: whole - count([other for other in tools if other is not tool]) for tool in tools}
    return Cost(each, whole, "the nano policy's template and tokenizer")


def _nano_counter(instructions: str) -> Any:
    """A function from tools to the tokens of the prompt around an empty request.

    Raises `ImportError` without the `train` extra, `OSError` where the policy's files are not there."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from tokenizers import Tokenizer

    home = files("mcprl") / "models" / "nano"
    tokenizer = Tokenizer.from_str((home / "tokenizer.json").read_text())
    # As transformers sets it up, so that the text is the text that rollouts see.
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    template = environment.from_string((home / "chat_template.jinja").read_text())

    def count(tools: Sequence[Tool]) -> int:
        functions = [tool.as_function() for tool in tools] or None
        messages = opening_messages("", instructions)
        text = template.render(messages=messages, tools=functions, add_generation_prompt=True)
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
