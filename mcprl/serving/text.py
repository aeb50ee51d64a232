"""A turn's text while it is sampled, and the end of it at a stop sequence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mcprl.chat import families
from mcprl.chat.forms import FENCE, OPENER, TAGS
from mcprl.types import Completion, CompletionRequest

_CALL, _THOUGHT = "<tool_call>", "</think>"
_BROKEN = "\ufffd"
"""What a part of a letter's bytes decodes to."""


class GrowingText:
    """The content of a turn as far as it is certain: what may become a call, a stop sequence or white space at the end
    is held back. `plain` is text that is no chat turn, without `calls` no tool is offered.

    Of families whose turns only their own parser reads nothing is certain before the end.
    """

    def __init__(
        self, tokenizer: Any, end_ids: Sequence[int], stops: Sequence[str], plain: bool = False, calls: bool = True
    ) -> None:
        self._tokenizer, self._end_ids, self._stops, self._plain = tokenizer, {*end_ids}, stops, plain
        self._whole = plain or families.dialect(tokenizer).parser.response is None
        self._any_form = calls and not plain and families.reads_any_form(tokenizer)
        self._thinks = not plain and "<think>" in str(tokenizer.chat_template)
        self._ids: list[int] = []
        self.given = ""

    def add(self, ids: Sequence[int]) -> str:
        """The text that these ids make certain."""
        self._ids += [token for token in ids if token not in self._end_ids]
        if not self._whole:
            return ""
        return self._give(self._certain(str(self._tokenizer.decode(self._ids, skip_special_tokens=False))))

    def rest(self, content: str) -> str:
        """What is missing of the whole content."""
        return self._give(content)

    def _give(self, content: str) -> str:
        new = content[len(self.given) :] if content.startswith(self.given) else ""
        self.given += new
        return new

    def _certain(self, text: str) -> str:
        held = self._stops
        if not self._plain:
            if self._thinks and _THOUGHT not in text:
                return ""
            text = text.rpartition(_THOUGHT)[2].lstrip().partition(_CALL)[0]
            held = (*held, _CALL)
            if self._any_form:
                text = text[: opener.start()] if (opener := OPENER.search(text)) else text
                held = (*held, FENCE, *TAGS)
        text = before_stop(text, self._stops)
        most = max((n for stop in held for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
        text = text[: len(text) - most].removesuffix(_BROKEN)
        return text if self._plain else text.rstrip()


def before_stop(text: str, stops: Sequence[str]) -> str:
    """The text before the first of the stop sequences."""
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def stopped(
    tokenizer: Any, end_ids: Sequence[int], completion: Completion, stops: Sequence[str], request: CompletionRequest
) -> Completion:
    """The turn up to the token that completes a stop sequence, which its content leaves out.

    What was sampled up to there does not depend on what follows, so that the ids are as exact as those of a whole turn.
    """
    ids = completion.completion_ids
    text = str(tokenizer.decode(ids, skip_special_tokens=False))
    if before_stop(text, stops) == text:
        return completion
    cut = next(
        n
        for n in range(1, len(ids) + 1)
        if before_stop(part := str(tokenizer.decode(ids[:n], skip_special_tokens=False)), stops) != part
    )
    message, malformed = families.reply(tokenizer, ids[:cut], end_ids, request)
    message["content"] = before_stop(str(message.get("content") or ""), stops)
    return replace(
        completion,
        message=message,
        completion_ids=ids[:cut],
        logprobs=completion.logprobs[:cut],
        finish_reason="stop",
        malformed=malformed,
    )
