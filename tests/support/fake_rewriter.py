"""A language model that rewrites requests as told and solves tasks blind as told, as far as a test needs one."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from support.fake_llm import Reply, Request

Solution = tuple[list[tuple[str, dict[str, Any]]], str]
"""The calls and the answer with which a request is solved."""


def items(request: Request) -> list[dict[str, Any]]:
    """The requests that a rewriter is given, each with `id`, `persona`, `request` and `keep`."""
    body = re.search(r"<(requests-\w+)>(.*)</\1>", request["messages"][1]["content"], re.DOTALL)
    assert body
    return json.loads(body[2])


def is_rewriting(request: Request) -> bool:
    return "You put requests" in request["messages"][0]["content"]


def rewriter(rewrites: Mapping[str, str], solutions: Mapping[str, Solution]) -> Callable[[Request, int], Reply]:
    """A model with a rewrite for each request, and with calls and an answer for each request that it can solve."""

    def answer(request: Request, number: int) -> Reply:
        if is_rewriting(request):
            written = [
                {"id": item["id"], "request": rewrites[item["request"]]}
                for item in items(request)
                if item["request"] in rewrites
            ]
            return Reply("Here you are:\n```json\n" + json.dumps({"rewrites": written}) + "\n```")
        messages = request["messages"]
        calls, final = solutions.get(messages[1]["content"], ([], "I cannot tell."))
        if len(messages) == 2 and calls:
            made = [{"tool": tool, "arguments": json.dumps(arguments)} for tool, arguments in calls]
            return Reply(json.dumps({"calls": made, "answer": ""}))
        results = messages[-1]["content"] if calls else ""
        return Reply(json.dumps({"calls": [], "answer": final.replace("{results}", results)}))

    return answer
