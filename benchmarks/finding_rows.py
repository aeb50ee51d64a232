"""How often a model finds a row by its name: it reads a list and calls another tool with the key of what is asked for.

    python benchmarks/finding_rows.py                        smollm2 with the LoRA that comes with it
    python benchmarks/finding_rows.py --start "" FOLDER      without a LoRA, and with the one in FOLDER

The list has 3, 6 or 12 rows, with the key before the name as in most servers, or behind it. Names share their parts,
keys their first letter. Everything up to the key's digits is given; the three digits are taken greedily. The exercises
that teach it (`recipes/nano/picks.py`) have other names, tools and requests.
"""

import argparse
import json
import random
from typing import Any

import torch

from mcprl.chat.prompts import render
from mcprl.config import Config, ModelConfig
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.defaults import with_defaults
from mcprl.models.load import load_model
from mcprl.models.packaged import starter
from mcprl.types import Message, Tool

ROWS, TIMES, DIGITS = (3, 6, 12), 60, 3
GIVEN = "Ada Ben Carla Dev Elif Finn Gwen Hugo Ines Jonas Kira Leo Mara Nils Olga Pavel Quinn Rosa Sven Tara".split()
SURNAMES = "Abbott Brandt Costa Dufour Eriksen Fischer Garcia Holm Ivanov Jansen Keller Lindt Moreau Novak".split()
ASKED = ("what tier is {} in {}?", "Since when has {} in {} been with us?", "{} from the {} branch - phone number?")
GAP = "M-QQQ"


def tool(name: str, description: str, parameter: str) -> Tool:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return Tool(name, description, schema)


TOOLS = (
    tool("list_members", "Members of a branch.", "branch"),
    tool("get_member", "One member by number.", "member_id"),
)


def called(at: int, name: str, arguments: dict[str, str]) -> Message:
    call = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call{at:05}", "type": "function", "function": call}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def case(rng: random.Random, count: int, key_first: bool) -> tuple[list[Message], str]:
    """A conversation whose last call lacks its key, and the key."""
    names = rng.sample([f"{given} {surname}" for given in GIVEN for surname in SURNAMES], count)
    keys = [f"M-{number}" for number in rng.sample(range(100, 1000), count)]
    pairs = [(("member_id", key), ("name", name)) for key, name in zip(keys, names, strict=True)]
    rows = [dict(pair if key_first else pair[::-1]) for pair in pairs]
    at, branch = rng.randrange(count), rng.choice(("Cork", "Ghent", "Porto", "Graz"))
    listed = json.dumps(rows, separators=(",", ":"))
    messages: list[Message] = [
        {"role": "user", "content": rng.choice(ASKED).format(names[at], branch)},
        called(1, "list_members", {"branch": branch}),
        {"role": "tool", "tool_call_id": "call00001", "content": listed},
        called(3, "get_member", {"member_id": GAP}),
    ]
    return messages, keys[at]


@torch.no_grad()
def found(loaded: Any, messages: list[Message], key: str) -> bool:
    text = render(loaded.tokenizer, messages, TOOLS, False)
    prompt = loaded.tokenizer(text[: text.index(GAP) + 2], return_tensors="pt", add_special_tokens=False)
    ids = loaded.model.generate(**prompt, do_sample=False, max_new_tokens=DIGITS, pad_token_id=0)
    return loaded.tokenizer.decode(ids[0, prompt.input_ids.shape[1] :])[:DIGITS] == key[-DIGITS:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--start", nargs="*", metavar="FOLDER", help='LoRAs, "" for none (the one that comes with it)')
    arguments = parser.parse_args()
    print(f"| found of {TIMES} | {' | '.join(f'{n} rows, {what} first' for what in ('key', 'name') for n in ROWS)} |")
    for folder in arguments.start or [starter(arguments.model)]:
        loaded = load_model(with_defaults(Config(model=ModelConfig(name=arguments.model))).model)
        loaded.model.eval()
        if folder:
            load_adapter_weights(loaded, folder)
        shares: list[str] = []
        for key_first in (True, False):
            for count in ROWS:
                rng = random.Random(f"{count} {key_first}")
                right = sum(found(loaded, *case(rng, count, key_first)) for _ in range(TIMES))
                shares.append(f"{100 * right / TIMES:.0f} %")
        print(f"| {folder or 'no LoRA'} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
