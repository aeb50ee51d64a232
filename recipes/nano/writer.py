"""Teaches a small model to write requests: from the brief of a plan that was executed to what a person would ask.

    python recipes/nano/writer.py briefs                         makes .cache/writer/briefs.jsonl of the written servers
    python recipes/nano/writer.py train --model smollm2 --steps 150      goes on where it was; .cache/writer/MODEL
    python recipes/nano/writer.py sample --model smollm2 --count 80     three draws for briefs it was not taught
    python recipes/nano/writer.py judge                          how well likelihood tells which brief a request is of

Each written request (`written/`) is replayed on its server, and `mcprl.scenarios.brief` makes the brief of it, as for a
run. The servers of `written.HELD_OUT` are never taught.

It is an experiment, and no part of the product: of the requests that it wrote for servers of other people two readers
found 41 % natural and 40 % wrong (docs/results.md).
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
import written
from small import SmallWriter, asking, settings
from starter import CACHE, train

from mcprl.config import Config
from mcprl.models.defaults import with_defaults
from mcprl.models.load import load_model
from mcprl.scenarios.brief import brief, lacking, leaking, style_of, written_for
from mcprl.scenarios.packs.ground import UnfitTask, executed, fill
from mcprl.training.demonstrations import demonstration
from mcprl.training.rows import training_rows
from mcprl.types import Call, Row, Scenario

BRIEFS = CACHE / "writer" / "briefs.jsonl"
LONGEST = 512
"""Tokens of a brief and its request; longer ones are left out."""
ROWS = 64
"""Requests of a step."""


async def make_briefs(servers: Mapping[str, written.Written]) -> None:
    """Write the brief of each request of each written server, and print how many have none, with the reason."""
    counted: Counter[str] = Counter()
    BRIEFS.parent.mkdir(parents=True, exist_ok=True)
    with BRIEFS.open("w") as file:
        for name, server in servers.items():
            tools = {tool.name: tool for tool in server.tools}
            for line in (server.folder / "tasks.jsonl").read_text().splitlines():
                task = json.loads(line)
                plan = tuple(Call(call["tool"], call["arguments"]) for call in task["calls"])
                scenario = Scenario(task["request"], task["request"], (), plan, task["answer"], kind=task["kind"])
                if not plan:
                    counted["no call"] += 1
                    continue
                try:
                    execution = await executed(scenario, server)
                    scenario = fill(scenario, execution, tools)
                except UnfitTask as error:
                    counted[f"unfit: {str(error).split(' (')[0][:40]}"] += 1
                    continue
                made = replace(brief(scenario, execution.calls, tools), kind=task["kind"])  # whoever wrote it knows
                fits = not lacking(task["request"], made) and not leaking(task["request"], made)
                counted["fits" if fits else "lacks or leaks a value"] += 1
                counted["an answer of which no result holds a value"] += not made.asked and task["kind"] != "missing"
                row = {"server": name, "kind": task["kind"], "brief": written_for(made), "request": task["request"]}
                file.write(json.dumps(row | {"fits": fits}, ensure_ascii=False) + "\n")
    print(*(f"{count:5} {what}" for what, count in counted.most_common()), sep="\n")


@lru_cache
def taught(held: bool) -> list[dict[str, Any]]:
    """The briefs whose requests fit them, of the servers that are held out or of the others."""
    rows = [json.loads(line) for line in BRIEFS.read_text().splitlines()]
    return [row for row in rows if row["fits"] and (row["server"] in written.HELD_OUT) == held]


def tokens(tokenizer: Any, rows: Sequence[dict[str, Any]]) -> list[Row]:
    """Rows of tokens: the brief is read, the request is learned."""
    told = (demonstration(tokenizer, [*asking(row["brief"], style_of(row["request"])), reply(row)], ()) for row in rows)
    return [row for trajectory in told for row in training_rows(trajectory) if len(row.ids) <= LONGEST]


def reply(row: dict[str, Any]) -> dict[str, str]:
    return {"role": "assistant", "content": row["request"]}


def rows_of(tokenizer: Any, step: int) -> list[Row]:
    """What a step learns: the requests of shuffled epochs, in their order."""
    rows = taught(held=False)
    per_epoch = len(rows) // ROWS
    epoch, part = divmod(step, per_epoch)
    order = random.Random(epoch).sample(rows, len(rows))
    return tokens(tokenizer, order[part * ROWS : (part + 1) * ROWS])


async def sample(folder: Path, count: int) -> None:
    """Three draws for `count` briefs of the servers that are held out, into a file."""
    rows = random.Random(5).sample(taught(held=True), count)
    kinds = [row["brief"].split("kind: ")[1].split("\n")[0] for row in rows]
    writer = SmallWriter(seed=5, adapter=folder / "adapter")
    drawn = await writer.draw([(str(n), kinds[n], row["brief"]) for n, row in enumerate(rows)], 3)
    with (folder / "samples.jsonl").open("w") as file:
        for row, requests in zip(rows, drawn, strict=True):
            file.write(json.dumps(row | {"drawn": requests}, ensure_ascii=False) + "\n")


def contrasts() -> list[tuple[str, str, str, str]]:
    """Of the servers that are held out: a brief, one that asks for another thing by the same calls, the request of the
    first, and that of the other with the first one's values."""
    by_calls: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in taught(held=True):
        tools = re.findall(r"^([\w-]+)\(", row["brief"], re.MULTILINE)
        by_calls.setdefault((row["server"], *tools), []).append(row)
    found: list[tuple[str, str, str, str]] = []
    for rows in by_calls.values():
        for one, other in zip(rows, [*rows[1:], rows[0]], strict=True):
            mine, theirs = _arguments(one["brief"]), _arguments(other["brief"])
            if one is other or [*mine] != [*theirs] or not all(value in other["request"] for value in theirs.values()):
                continue
            brief, request = other["brief"], other["request"]
            for name, value in theirs.items():
                brief, request = brief.replace(value, mine[name]), request.replace(value, mine[name])
            if _asked(brief) != _asked(one["brief"]):
                found.append((one["brief"], brief, one["request"], request))
    return found


def _arguments(brief: str) -> dict[str, str]:
    """The arguments of the first call by name, as text."""
    call = brief.splitlines()[0].split("  # ")[0]
    return {name: value.strip("'\"") for name, value in re.findall(r"(\w+)=('[^']*'|\"[^\"]*\"|[\d.]+)", call)}


def _asked(brief: str) -> str:
    return "".join(line for line in brief.splitlines() if line.startswith("asked: "))


async def judge(folder: Path) -> None:
    """How often a request passes by likelihood under its own brief, and under a brief that asks for something else."""
    pairs = contrasts()
    writer = SmallWriter(seed=5, adapter=folder / "adapter")
    found = iter(await writer.margins([(said, (own, other)) for own, other, *both in pairs for said in both]))
    margins = [(next(found), next(found)) for _ in pairs]
    print(f"{len(pairs)} pairs of briefs that differ in what they ask for")
    for margin in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5):
        right, wrong = (sum(each[n] > margin for each in margins) for n in (0, 1))
        print(f"margin {margin}: {right / len(pairs):.1%} of the right pass, {wrong / len(pairs):.1%} of the wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("briefs", "train", "sample", "judge"))
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--count", type=int, default=80, help="briefs to sample for")
    given = parser.parse_args()
    folder = CACHE / "writer" / Path(given.model).name
    if given.do == "briefs":
        anyio.run(make_briefs, {name: written.Written(written.FOLDER / name) for name in written.names()})
    elif given.do == "train":
        config = with_defaults(Config(model=settings(given.model)))
        loaded = load_model(config.model)
        held = {"held_out_loss": [tokens(loaded.tokenizer, taught(held=True)[::4])]}
        train(loaded, config, folder, given.steps, rows_of=rows_of, held_out=held)
    elif given.do == "sample":
        anyio.run(sample, folder, given.count)
    else:
        anyio.run(judge, folder)


if __name__ == "__main__":
    main()
