"""A language model that writes good tasks about the example shop, as far as a test needs one."""

import json
import random
import re
from typing import Any

from support.fake_llm import Reply, Request

OPENINGS = (
    "Could you tell me",
    "I have a caller on the line who wants to hear",
    "For the weekly letter I have to know",
    "Quick question:",
    "My colleague lost her notes, so look up",
    "Before we close the books, find out",
)
ENDINGS = ("please?", "as of now.", "and nothing else.", "for me today.", "in a word.", "so that I can reply.")


def told(request: Request) -> dict[str, Any]:
    """The data that a generator is given."""
    blocks = re.findall(r"<(tools|resources|values|calls)>([^<]*)</\1>", request["messages"][1]["content"])
    return {kind: json.loads(body) for kind, body in blocks}


def draft(
    request: str, plan: list[tuple[str, Any]], facts: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    calls = [{"tool": tool, "arguments": json.dumps(arguments)} for tool, arguments in plan]
    stated = [{"name": name, "value": value} for name, value in (facts or {}).items()]
    return {"request": request, "plan": calls, "facts": stated, "missing": False, "answer": ""} | more


def reply(*drafts: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"tasks": drafts}))


def author(request: Request, number: int) -> Reply:
    """A model that writes good tasks about what it is given: lookups, a chain, one that is missing, one that writes."""
    rng = random.Random(request["messages"][1]["content"])  # not `number`: batches arrive in any order
    values = told(request)["values"]
    of = {key.rpartition(".")[2]: own for key, own in values.items()}
    drafts: list[dict[str, Any]] = []
    for order in of.get("order_id", ()):
        about = f"{rng.choice(OPENINGS)} {{}} order {order} {rng.choice(ENDINGS)}"
        lookup = [("get_order", {"order_id": order})]
        chain = [*lookup, ("get_product", {"sku": "@1.sku"})]
        kind = rng.randrange(4)
        if kind == 0:
            field = rng.choice(("quantity", "ordered"))
            drafts.append(
                draft(about.format(f"the {field} of"), lookup, {field: f"@1.{field}"}, answer=f"It is {{{field}}}.")
            )
        elif kind == 1:
            drafts.append(draft(about.format("who supplies the thing in"), chain, {"supplier": "@2.supplier"}))
        elif kind == 2:
            missing = [("get_order", {"order_id": f"{order}7"})]
            drafts.append(draft(about.format("what became of") + f" I mean {order}7.", missing, missing=True))
        else:
            change = [("set_order_status", {"order_id": order, "status": "shipped"})]
            drafts.append(
                draft(f"{rng.choice(OPENINGS)} nothing, but mark {order} as shipped {rng.choice(ENDINGS)}", change)
            )
    for sku in of.get("sku", ()):
        about = f"{rng.choice(OPENINGS)} how many pieces of {sku} lie on their shelf {rng.choice(ENDINGS)}"
        drafts.append(draft(about, [("check_stock", {"sku": sku})], {"units": "@1.units"}))
    return reply(*drafts)
