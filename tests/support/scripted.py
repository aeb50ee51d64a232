"""An engine whose replies depend on the request, the seed and the adapter alone, bit for bit.

It chooses between two written replies, the task's next right step and a wrong answer, by how likely the model finds
each. So what a step samples depends on every update before it, as with a real engine; but unlike with one, not on what
else is in the batch.
"""

import json
import random
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import torch
from transformers import AutoModelForCausalLM

from mcprl.chat import families, prompts
from mcprl.config import Config
from mcprl.engines.embedded.weights import merged_model
from mcprl.events import Emit, ignore
from mcprl.models.load import LoadedModel
from mcprl.runs.journal import Journal
from mcprl.types import Adapter, Completion, CompletionRequest, Message, Scenario


class ScriptedEngine:
    """Replies to requests of the tasks in the run of `folder`."""

    def __init__(self, loaded: LoadedModel, folder: Path) -> None:
        self._tokenizer, self._end_ids, self._folder = loaded.tokenizer, loaded.end_ids, folder
        self._base = AutoModelForCausalLM.from_pretrained(loaded.path, dtype=torch.float32).eval()
        self._models: dict[str | None, tuple[Any, int]] = {None: (self._base, 0)}
        self._tasks: dict[str, Scenario] = {}

    async def ready(self) -> None:
        """It always is."""

    async def complete(self, request: CompletionRequest) -> Completion:
        await anyio.lowlevel.checkpoint()
        prompt = prompts.prompt_ids(self._tokenizer, request.messages, request.tools, request.context_ids)
        replies = [self._encoded(request, message) for message in self._replies(request)]
        logprobs = [self._logprobs(request.adapter, prompt, ids) for ids in replies]
        right, wrong = (sum(each) / len(each) for each in logprobs)
        draw = random.Random(request.seed).random()
        chosen = 0 if right - wrong > (4 * (draw - 0.5) if request.temperature else 0.0) else 1
        ids = replies[chosen]
        message, malformed = families.reply(self._tokenizer, ids, self._end_ids, request)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        step = self._models[request.adapter][1]
        return Completion(message, prompt, ids, logprobs[chosen], reason, step, malformed)

    async def load_adapter(self, adapter: Adapter) -> None:
        self._models[adapter.name] = merged_model(self._base, adapter.path), adapter.step

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def close(self) -> None:
        """It holds nothing."""

    def _replies(self, request: CompletionRequest) -> tuple[Message, Message]:
        asked = next(str(message["content"]) for message in request.messages if message["role"] == "user")
        if asked not in self._tasks:
            with Journal.open(self._folder) as journal:
                self._tasks = {task.request: task for task in journal.scenarios()}
        task, made = self._tasks[asked], sum(message["role"] == "tool" for message in request.messages)
        wrong: Message = {"role": "assistant", "content": "I do not know."}
        if made >= len(task.plan):
            return {"role": "assistant", "content": task.answer}, wrong
        call = task.plan[made]
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        calls = [{"id": f"call{made:05}", "type": "function", "function": function}]
        return {"role": "assistant", "content": "", "tool_calls": calls}, wrong

    def _encoded(self, request: CompletionRequest, message: Message) -> tuple[int, ...]:
        before = prompts.render(self._tokenizer, request.messages, request.tools)
        after = prompts.render(self._tokenizer, [*request.messages, message], request.tools, False)
        text = after.removeprefix(before)
        *_, end = prompts.control_pattern(self._tokenizer).finditer(text)
        return prompts.encode(self._tokenizer, text[: end.end()])

    @torch.inference_mode()
    def _logprobs(self, adapter: str | None, prompt: tuple[int, ...], ids: tuple[int, ...]) -> tuple[float, ...]:
        row = torch.tensor([[*prompt, *ids]])
        logits = self._models[adapter][0](input_ids=row, use_cache=False).logits[0, len(prompt) - 1 : -1]
        return tuple(logits.float().log_softmax(-1).gather(1, row[0, len(prompt) :, None])[:, 0].tolist())


@asynccontextmanager
async def open_engine(
    config: Config, loaded: LoadedModel, log: Path, emit: Emit = ignore
) -> AsyncGenerator[ScriptedEngine]:
    """In place of `mcprl.engines.open_engine`."""
    yield ScriptedEngine(loaded, log.parent)
