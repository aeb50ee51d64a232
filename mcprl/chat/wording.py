"""What a chat template says besides the conversation: how calls are written, a system prompt, a sentence after results.

All of it stands in the template, so that it is rendered alike in training, by every engine and by who loads an export.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mcprl.chat.families import ANY_FORM
from mcprl.chat.prompts import Tokenizer, render
from mcprl.types import Tool

WORDED = "mcprl_worded"
"""What stands in a template that has a wording."""
_PROBE = Tool("probe_tool", "A tool.")
_DOUBLED = re.compile(r'\{\{(?=\s*\\?"name\\?")(?P<inside>[^{}\n]*)\}\}')


class Wording(NamedTuple):
    """`system_prompt` stands before the servers' instructions, `after_result` behind the last result of a turn."""

    system_prompt: str = ""
    after_result: str = ""


def mended(tokenizer: Tokenizer) -> str:
    """The chat template. If it shows calls with doubled braces, which models copy, with single ones.

    Qwen's own file of Qwen2.5-Coder-1.5B-Instruct has that fault. What counts is what the template renders.
    """
    template = str(tokenizer.chat_template)
    shown = _shown(tokenizer, template)
    if not _DOUBLED.search(shown):
        return template
    single = _DOUBLED.sub(r"{\g<inside>}", template)
    return single if _shown(tokenizer, single) == _DOUBLED.sub(r"{\g<inside>}", shown) else template


def worded(template: str, wording: Wording, any_form: bool = False) -> str:
    """The template with the wording, and with the mark of calls that are read in any form."""
    head = ANY_FORM if any_form and ANY_FORM not in template else ""
    if any(wording):
        for name, text in wording._asdict().items():
            head += f"{{%- set mcprl_{name} = {json.dumps(text, ensure_ascii=False)} -%}}"
        head += _prelude()
    return head + template


@cache
def _prelude() -> str:
    return (Path(__file__).parent / "templates" / "prompts.jinja").read_text()


def _shown(tokenizer: Tokenizer, template: str) -> str:
    """What a template renders of a tool. The tokenizer keeps its own."""
    own, tokenizer.chat_template = tokenizer.chat_template, template
    try:
        return render(tokenizer, [{"role": "user", "content": "hello"}], [_PROBE])
    finally:
        tokenizer.chat_template = own
