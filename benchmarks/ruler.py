"""What RULER alone brings: `mcprl train` on the shop under a judge that reads, no warm start; tested by the checks.

    python benchmarks/ruler.py                three seeds, some minutes each; finished runs are kept
    python benchmarks/ruler.py --seeds 0      one of them

The judge is `tests/support/reading_judge.py` behind OpenAI's protocol: it follows the rubric on what RULER sends, which
holds no plan, no facts and no checks. Held-out success is what the checks say. Kept in benchmarks/results/ruler.json.
"""

import argparse
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers import BENCHES, ROOT, interval, served
from support.fake_llm import serving
from support.reading_judge import judge

RUNS = ROOT / "runs" / "ruler"
RESULTS = Path(__file__).parent / "results" / "ruler.json"
OPTIONS = ("--train-tasks", "160", "--val-tasks", "48", "--test-tasks", "192", "--steps", "20", "--eval-every", "10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    for seed in parser.parse_args().seeds:
        if not (RUNS / f"shop-{seed}" / "report.json").exists():
            run(seed)
    keep()


def run(seed: int) -> None:
    shop, name = BENCHES[0], f"shop-{seed}"
    with served(shop, dict(os.environ)) as port, serving(judge) as fake:
        asked = ("--judge", "ruler:default", "--judge-model", "openai/fake", "--judge-base-url", fake.url)
        alone = ("--warm-start-steps", "0", "--cache", "")
        again = ("--resume", str(RUNS / name)) if (RUNS / name / "journal.sqlite").exists() else ("--name", name)
        target = ("--server", shop.target.replace("{port}", str(port)))
        options = (*target, *asked, *alone, *OPTIONS, "--seed", str(seed), "--runs-dir", str(RUNS), *again)
        command = (sys.executable, "-m", "mcprl", "train", *options)
        print("$", " ".join(command), flush=True)
        subprocess.run(command, cwd=ROOT, check=False)


def keep() -> None:
    rows: list[dict[str, Any]] = []
    for path in sorted(RUNS.glob("*/report.json")):
        report = json.loads(path.read_text())
        if report["finished"]:
            rows.append({"run": path.parent.name} | {key: report[key] for key in ("steps", "exact_tokens", "test")})
    RESULTS.write_text(json.dumps({"date": date.today().isoformat(), "runs": rows}, indent=1) + "\n")
    print("| run | held-out tasks | base | trained | gain (95 % interval) | steps |\n" + "|---" * 6 + "|")
    for row in rows:
        test = row["test"]
        rates = f"{test['base']['success']:.2f} | {test['trained']['success']:.2f}"
        print(f"| {row['run']} | {test['n']} | {rates} | {interval(test, 'gain')} | {row['steps']} |")


if __name__ == "__main__":
    main()
