"""A person's talk with what a run trained, on the run's live server: `mcprl chat RUN`."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcprl.chat.prompts import system_messages
from mcprl.config import Config
from mcprl.engines import Engine, open_engine, uses_tinker
from mcprl.engines.conversation import Conversation
from mcprl.events import Emit, Note, ignore
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import load_model
from mcprl.models.tinker.model import open_remote
from mcprl.runs.journal import Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.runs.settings import with_secrets
from mcprl.scenarios.packs.pack import tool_hash
from mcprl.servers.permission import ToolStatus
from mcprl.servers.server import Server, connect
from mcprl.types import Session, StopReason, Tool, ToolResult

Speaker = Literal["base", "trained"]
Allow = Callable[[Tool, Mapping[str, Any]], Awaitable[bool]]
"""Whether a call of a tool that may write is made."""
Show = Callable[[str, Mapping[str, Any], ToolResult], None]
"""Told of each call: the tool's name, its arguments and its result."""
REFUSED = "Error: the user did not allow this call"


@dataclass
class Talk:
    """A talk with one model or with several that are asked the same, each in a session of its own."""

    config: Config
    server: Server
    engine: Engine
    adapters: Mapping[Speaker, str | None]
    allow: Allow
    show: Show
    _begun: dict[Speaker, tuple[Conversation, Session]] = field(
        default_factory=dict[Speaker, tuple[Conversation, Session]]
    )
    _sessions: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def ask(self, speaker: Speaker, question: str) -> tuple[str, StopReason]:
        """The speaker's answer to the question, with what was said before in mind, and why it ended. Without an answer
        the text is what it said last. Raises `EngineError` and `SessionLost`."""
        if speaker not in self._begun:
            self._begun[speaker] = await self._begin(speaker)
        conversation, session = self._begun[speaker]
        conversation.messages.append({"role": "user", "content": question})
        stop = await conversation.answer(session)
        return str(conversation.turns[-1].message.get("content") or ""), stop

    async def forget(self) -> None:
        """Begin anew: the next question is the first, in fresh sessions."""
        self._begun.clear()
        await self._sessions.aclose()

    async def _begin(self, speaker: Speaker) -> tuple[Conversation, Session]:
        session = await self._sessions.enter_async_context(self.server.session())
        conversation = Conversation(
            self.engine,
            self.config.rollout,
            self.server.tools,
            system_messages(self.server.instructions),
            self.config.seed,
            self.adapters[speaker],
            self.config.eval.temperature,
        )
        return conversation, _Watched(session, self.server.listing, self.allow, self.show)


@asynccontextmanager
async def open_talk(
    run: Path, given: Config, allow: Allow, show: Show, compare: bool = False, emit: Emit = ignore
) -> AsyncGenerator[Talk]:
    """A talk with the model that the run in this folder tested as trained, and to `compare` with its base model too.

    The servers of `given` take the place of the run's. Raises `JournalError` if there is no such model, and what
    connecting and loading raise.
    """
    with Journal.open(run) as journal:
        config, adapter = with_secrets(journal.config, given), chosen_adapter(journal)
        trained_with = journal.fact("tool_hash")
    model = open_remote(config) if uses_tinker(config) else load_model(config.model)
    connecting = connect(config.servers, config.tools, emit=emit, task=config.task)
    async with connecting as server, open_engine(config, model, run / "chat-vllm.log", emit) as engine:
        if tool_hash(server.tools) != trained_with:
            emit(Note("these are not the tools that the model was trained with: it may call what is not there"))
        server.lend(PolicyLlm(engine).partner)
        await engine.ready()
        await engine.load_adapter(adapter)
        adapters: dict[Speaker, str | None] = {"base": None} if compare else {}
        adapters["trained"] = adapter.name
        talk = Talk(config, server, engine, adapters, allow, show)
        try:
            yield talk
        finally:
            await talk.forget()


class _Watched:
    """A session whose calls are shown, and made only if allowed where they may write."""

    def __init__(self, session: Session, listing: Sequence[ToolStatus], allow: Allow, show: Show) -> None:
        self._session, self._allow, self._show = session, allow, show
        # A guess by name is enough for a sandbox, and this may be another server.
        self._writing = {status.name: status.tool for status in listing if status.tool and not status.stateless}

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        may = tool not in self._writing or await self._allow(self._writing[tool], arguments)
        result = await self._session.call(tool, arguments) if may else ToolResult(REFUSED, is_error=True)
        self._show(tool, arguments, result)
        return result
