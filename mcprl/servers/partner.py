"""The model that answers a server which asks its client for one (MCP sampling), where the operator lends it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import mcp_types

from mcprl.errors import LlmError
from mcprl.servers.protocol import block_text

Answer = Callable[[Sequence[dict[str, str]], int], Awaitable[str]]
"""The model's reply to a chat, in at most so many tokens. Raises `LlmError`."""
_MOST_TOKENS = 1_024


class Partner:
    """Answers sampling requests of all sessions. Refuses while there is no `answer`: before a model is loaded."""

    def __init__(self) -> None:
        self.answer: Answer | None = None

    async def __call__(
        self, context: Any, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        if self.answer is None:
            return mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message="no model is there to be asked")
        system = [{"role": "system", "content": params.system_prompt}] if params.system_prompt else []
        messages = [{"role": message.role, "content": _text(message.content)} for message in params.messages]
        try:
            said = await self.answer([*system, *messages], min(params.max_tokens, _MOST_TOKENS))
        except LlmError as error:
            return mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message=str(error))
        content = mcp_types.TextContent(type="text", text=said)
        return mcp_types.CreateMessageResult(role="assistant", content=content, model="policy")


def _text(content: Any) -> str:
    """A message's content as text: one block, or several."""
    return "\n".join(block_text(block) for block in (content if isinstance(content, list) else [content]))
