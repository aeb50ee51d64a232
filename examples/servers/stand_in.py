"""A stand-in for a language model behind an API: it speaks OpenAI's protocol on loopback, and costs nothing.

It does what `mcprl auto` asks of such a model, without sense: it writes questions, and likes short answers best.
"""

import json
import random
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KINDS = ["a question of price", "a complaint", "praise", "a question of time", "a change of plan", "small talk"]
WORDS = "lamp river ticket garden invoice train coffee window letter bicycle holiday doctor bridge market song".split()


def inputs(kind: str, difficulty: str, written: list[str]) -> list[str]:
    chance = random.Random(f"{kind} {difficulty} {written}")
    length = {"easy": 4, "medium": 7, "hard": 10}[difficulty]
    return [" ".join(chance.sample(WORDS, length)).capitalize() + "?" for _ in range(6)]


def reply(messages: list[dict[str, Any]]) -> dict[str, Any]:
    rules, data = (str(message["content"]) for message in [*messages, {"content": ""}][:2])
    if '"kinds"' in rules:
        return {"kinds": KINDS}
    if '"inputs"' in rules:
        asked = json.loads(data)
        return {"inputs": inputs(asked["kind"], asked["difficulty"], asked["written"])}
    if '"better"' in rules:
        one, two = (len(answer) for answer in json.loads(data)["answers"].values())
        return {"reason": "It is shorter.", "better": "same" if one == two else "1" if one < two else "2"}
    found = re.findall(r'<(step|trajectory) id="([^"]*)">(.*?)</\1>', data)  # what RULER asks to be scored
    shared = {int(name): json.loads(text) for kind, name, text in found if kind == "step"}
    tries = {name: json.loads(text) for kind, name, text in found if kind == "trajectory"}
    texts = {name: [shared[s] if isinstance(s, int) else s for s in steps] for name, steps in tries.items()}
    scores = [{"trajectory_id": name, "explanation": "", "score": 20 / (20 + len(str(t)))} for name, t in texts.items()]
    return {"scores": scores}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": json.dumps(reply(request["messages"]))}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        body = {"id": "stand-in", "object": "chat.completion", "created": 0, "model": request["model"]}
        sent = json.dumps(body | {"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the standard library
        pass


def serving() -> str:
    """Serve until the process ends; returns the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
