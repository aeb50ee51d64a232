"""Recorded calls of a server: OpenAI-style chat logs, and JSON-RPC recordings of an MCP inspector or proxy."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcprl.errors import ConfigError
from mcprl.servers.digest import digest
from mcprl.text import parse_json
from mcprl.types import Call, Json


@dataclass(frozen=True)
class Recorded:
    """A recorded call; `result` is its result as JSON, `None` if none was recorded, or if it is text or an error."""

    call: Call
    result: Json = None


def read_traffic(path: Path) -> list[Recorded]:
    """The recorded calls of a JSON or JSONL file. Raises `ConfigError`, which names the line, if it has none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--traffic {path}: cannot be read: {error}") from None
    recorder = _Recorder()
    for record in _documents(path, text):
        recorder.read(record)
    if not recorder.calls:
        raise ConfigError(
            f"--traffic {path}: no tool call in it; expected chat messages with tool_calls, or JSON-RPC messages of "
            "tools/call"
        )
    return [Recorded(call, recorder.results.get(number)) for number, call in enumerate(recorder.calls)]


def _documents(path: Path, text: str) -> Iterator[Json]:
    """The JSON of the whole file, or of each line. A line may have words before its JSON, as logs have."""
    try:
        yield json.loads(text)
        return
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        start = line.find("{")
        if start < 0:
            continue
        try:
            yield json.loads(line[start:])
        except ValueError as error:
            raise ConfigError(f"--traffic {path}:{number}: no JSON: {error}") from None


class _Recorder:
    """Collects calls and their results from any JSON, wherever in it they are. A result is of the latest call with its
    id that has none: conversations count their calls anew."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.results: dict[int, Json] = {}
        self._open: dict[str, int] = {}

    def read(self, value: Json) -> None:
        """Collect from a document: chat messages and JSON-RPC messages at any depth."""
        if isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self.read(item)
        if not isinstance(value, Mapping):
            return
        fields: dict[str, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
        if fields.get("method") == "tools/call" and isinstance(fields.get("params"), Mapping):
            self._call(str(fields.get("id")), fields["params"].get("name"), fields["params"].get("arguments"))
        elif isinstance(fields.get("result"), Mapping) and "content" in fields["result"] and "id" in fields:
            self._result(str(fields["id"]), fields["result"])
        elif isinstance(fields.get("tool_calls"), list):
            for call in fields["tool_calls"]:
                if isinstance(call, Mapping):
                    function = call["function"] if isinstance(call.get("function"), Mapping) else call  # pyright: ignore
                    self._call(str(call.get("id")), function.get("name"), function.get("arguments"))  # pyright: ignore
        elif fields.get("role") == "tool":
            self._keep(str(fields.get("tool_call_id")), str(fields.get("content")))
        else:
            for inner in fields.values():
                self.read(parse_json(inner) if isinstance(inner, str) else inner)

    def _call(self, key: str, name: Any, arguments: Any) -> None:
        if isinstance(arguments, str):
            arguments = parse_json(arguments)
        if isinstance(name, str) and isinstance(arguments or {}, Mapping):
            self._open[key] = len(self.calls)
            self.calls.append(Call(name, dict(arguments or {})))

    def _result(self, key: str, result: Mapping[str, Any]) -> None:
        blocks = result["content"] if isinstance(result["content"], list) else []
        texts = [str(block.get("text", "")) for block in blocks if isinstance(block, Mapping)]
        if result.get("isError"):
            self._open.pop(key, None)
        else:
            structured = result.get("structuredContent")
            self._keep(key, json.dumps(structured) if structured else "\n".join(texts))

    def _keep(self, key: str, text: str) -> None:
        number, result = self._open.pop(key, None), digest(text, max_bytes=100_000)
        if number is not None and not result.is_error and result.structured is not None:
            self.results[number] = result.structured
