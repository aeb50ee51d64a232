"""A language model that costs nothing: OpenAI's chat completions and embeddings over real HTTP on loopback, answering
as told."""

import json
import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcprl.text import compact

Request = dict[str, Any]


@dataclass
class Reply:
    """What the server answers: `content` as the assistant's, or a status with headers; after `hang_s` seconds."""

    content: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hang_s: float = 0.0
    finish: str = "stop"
    refusal: str | None = None
    thought: str = ""
    """What the model thought before, as some servers return it beside the content."""
    vectors: list[list[float]] = field(default_factory=list[list[float]])
    tokens: tuple[int, int] = (1000, 100)
    """Tokens of the prompt and of the reply, as charged."""
    empty: bool = False
    """Whether it has no choices."""
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Tools to call, each with its arguments as text."""


@dataclass
class FakeLlm:
    """`answer` is called with each request and its number, from 0 on. `requests` holds them all."""

    answer: Callable[[Request, int], Reply]
    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    times: list[float] = field(default_factory=list[float])
    keys: list[str] = field(default_factory=list[str])


@contextmanager
def serving(answer: Callable[[Request, int], Reply]) -> Generator[FakeLlm]:
    fake = FakeLlm(answer)
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            number = len(fake.requests)
            fake.requests.append(request)
            fake.times.append(time.monotonic())
            fake.keys.append(self.headers.get("authorization", ""))
            reply = fake.answer(request, number)
            closing.wait(reply.hang_s)
            body: dict[str, Any] = {"error": {"message": f"status {reply.status} as told", "type": "fake"}}
            if reply.status == 200:
                message: dict[str, Any] = {"role": "assistant", "content": reply.content or None}
                message["refusal"] = reply.refusal
                message |= {"reasoning_content": reply.thought} if reply.thought else {}
                if reply.calls:
                    functions = [{"name": name, "arguments": text} for name, text in reply.calls]
                    message["tool_calls"] = [
                        {"id": f"call_{number}_{n}", "type": "function", "function": function}
                        for n, function in enumerate(functions)
                    ]
                choices = [{"index": 0, "message": message, "finish_reason": reply.finish}]
                prompt, completion = reply.tokens
                usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": sum(reply.tokens)}
                body = {"id": "x", "object": "chat.completion", "created": 0, "model": request["model"]}
                body |= {"choices": [] if reply.empty else choices, "usage": usage}
                if reply.vectors:
                    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(reply.vectors)]
                    body = {"object": "list", "model": request["model"], "data": data, "usage": usage}
            sent = json.dumps(body).encode()
            try:
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)
            except OSError:
                pass  # the client gave up

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield fake
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


BLOCK = re.compile(
    r'<(tools|context|evidence|step|trajectory)( id="[^"<>]*")?>((?:[^<>]|<evidence>[^<>]*</evidence>)*)</\1>'
)


def heard(request: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What all tries begin with, and the tools, as a judge finds them in a request."""
    found = {
        kind: json.loads(body) for kind, _, body in BLOCK.findall(_record(request)) if kind in ("context", "tools")
    }
    return spoken(found["context"], {}), found.get("tools", [])


def tries(request: Request) -> dict[str, Any]:
    """What a judge finds in a request: each trajectory's messages by id, references filled in."""
    found: dict[str, Any] = {}
    steps: dict[str, Any] = {}
    for kind, name, body in BLOCK.findall(_record(request)):
        if kind == "step":
            steps[name[5:-1]] = json.loads(body)
        if kind == "trajectory":
            own: list[Any] = json.loads(body.partition("<evidence>")[0])
            found[name[5:-1]] = spoken(own, steps)
    return found


def _record(request: Request) -> str:
    """What is to be judged: nothing, where the judge is only asked whether it is there."""
    return "".join(str(message["content"]) for message in request["messages"][1:2])


def spoken(steps: list[Any], elsewhere: dict[str, Any]) -> list[dict[str, Any]]:
    """Steps of the record as OpenAI's messages; numbers stand for what is written elsewhere."""
    found: list[dict[str, Any]] = []
    for given in steps:
        step = elsewhere[str(given)] if isinstance(given, int) else given
        if isinstance(step, str):
            found.append({"role": "assistant", "content": step})
        elif isinstance(step, dict):
            found += [{"role": role, "content": text} for role, text in step.items()]
        else:
            found.append({"role": "assistant", "content": "", "tool_calls": [{"name": step[0], "arguments": step[1]}]})
            results = [elsewhere[str(r)] if isinstance(r, int) else r for r in step[2:]]
            found += [{"role": "tool", "content": r if isinstance(r, str) else compact(r)} for r in results]
    return found


def scored(scores: dict[str, float]) -> str:
    """A reply in the form that RULER asks for."""
    entries = [
        {"trajectory_id": name, "explanation": f"worth {score}", "score": score} for name, score in scores.items()
    ]
    return json.dumps({"scores": entries})
