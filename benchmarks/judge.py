"""What several orders, ties and centring buy with a judge whose faults are known: a simulation, no model, no key.

    python benchmarks/judge.py            a table, benchmarks/results/judge.json and judge.png; a minute

Groups of eight tries have true qualities: half of the groups have some good and some bad tries, the other half have
tries that are all alike, of which nothing should be learnt. The judge is `mcprl.judges.ruler.Ruler` itself; what it
asks is a simulated model that reads the tries off the record and scores each with noise, with a liking for those that
stand early, and in steps of a tenth. What counts is how well advantages point to the better tries (their cosine with
those of the true qualities) and how large they are where there is nothing to learn (root mean square).
"""

import json
import math
import random
import re
from pathlib import Path
from statistics import fmean

import anyio
import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

from mcprl.judges.ruler import Ruler, load_rubric
from mcprl.llm import Chat
from mcprl.llm.litellm import ChatModel
from mcprl.training.advantages import advantages
from mcprl.types import Message

RESULTS = Path(__file__).parent / "results"
TRIES, GROUPS = 8, 150
ORDERS = (1, 2, 3, 5, 8)
JUDGES = {
    "noise 0.1": (0.1, 0.0),
    "noise 0.3": (0.3, 0.0),
    "a liking for the first, 0.4": (0.05, 0.4),
    "noise 0.3 and a liking for the first, 0.4": (0.3, 0.4),
}
"""Standard deviation of a score's noise, and how much more the first place gets than the last."""


class Simulated(ChatModel):
    """Scores what the tries say of their own quality: it may, it is the simulation's truth."""

    def __init__(self, noise: float, bias: float, seed: int) -> None:
        super().__init__(f"simulated, noise {noise}, bias {bias}")
        self.noise, self.bias, self.rng = noise, bias, random.Random(seed)

    async def reply(self, messages: Chat, schema: object = None) -> str:
        found = re.findall(r'<trajectory id="(\w+)">[^<]*quality (-?[\d.]+) of try', messages[1]["content"])
        scores: list[dict[str, object]] = []
        for place, (name, quality) in enumerate(found):
            liking = self.bias * (0.5 - place / max(1, len(found) - 1))
            score = float(quality) + liking + self.rng.gauss(0, self.noise)
            kept = round(10 * min(1.0, max(0.0, score))) / 10
            scores.append({"trajectory_id": name, "explanation": "", "score": kept})
        return json.dumps({"scores": scores})


def main() -> None:
    found = {label: anyio.run(measured, *faults) for label, faults in JUDGES.items()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "judge.json").write_text(json.dumps(found, indent=1) + "\n")
    print("| judge | orders | cosine | all alike: centred | scaled by std | dropped |")
    print("|---|---|---|---|---|---|")
    for label, rows in found.items():
        for row in rows:
            cells = (row["cosine"], row["idle_none"], row["idle_std"], row["dropped"])
            print(f"| {label} | {row['orders']:.0f} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    draw(found)


async def measured(noise: float, bias: float) -> list[dict[str, float]]:
    """For each number of orders: the mean cosine of groups with a difference, and the size of advantages without."""
    rows: list[dict[str, float]] = []
    for orders in ORDERS:
        rng = random.Random(0)
        judge = Ruler(Simulated(noise, bias, seed=orders), load_rubric("default"), permutations=orders)
        cosines: list[float] = []
        idle: dict[str, list[float]] = {"none": [], "std": []}
        for number in range(GROUPS):
            alike = number % 2 == 1
            true = [0.5 if alike else rng.choice((0.25, 0.75)) for _ in range(TRIES)]
            scores = [verdict.score for verdict in await judge.judge([tried(q, n) for n, q in enumerate(true)])]
            for scale, sizes in idle.items():
                centred = advantages(scores, scale, tolerance=0.05)
                if alike:
                    sizes.append(math.sqrt(fmean(a * a for a in centred)) if centred else 0.0)
                elif scale == "none" and (wanted := advantages(true)):
                    cosines.append(cosine(centred, wanted) if centred else 0.0)
        dropped = fmean(size == 0 for size in idle["none"])
        sizes = {f"idle_{scale}": fmean(values) for scale, values in idle.items()}
        rows.append({"orders": orders, "cosine": fmean(cosines), **sizes, "dropped": dropped})
    return rows


def tried(quality: float, number: int) -> list[Message]:
    answer: Message = {"role": "assistant", "content": f"quality {quality} of try {number}"}
    return [{"role": "user", "content": "Do it."}, answer]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def draw(found: dict[str, list[dict[str, float]]]) -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for label, rows in found.items():
        orders = [row["orders"] for row in rows]
        (line,) = left.plot(orders, [row["cosine"] for row in rows], marker="o", label=label)
        right.plot(orders, [row["idle_none"] for row in rows], marker="o", color=line.get_color())
        right.plot(orders, [row["idle_std"] for row in rows], marker="x", color=line.get_color(), linestyle="--")
    left.set(
        xlabel="orders averaged", ylabel="cosine with the true advantages", title="Tries that differ", ylim=(0, 1.02)
    )
    right.set(
        xlabel="orders averaged", ylabel="size of the advantages", title="Tries that are all alike", ylim=(0, 1.1)
    )
    left.legend(fontsize=8)
    right.plot([], [], color="grey", marker="o", label="centred")
    right.plot([], [], color="grey", marker="x", linestyle="--", label="divided by the standard deviation")
    right.legend(fontsize=8)
    figure.savefig(RESULTS / "judge.png", dpi=80)


if __name__ == "__main__":
    main()
