"""From a clone to an open report in two commands, timed by part: what a newcomer's first hour begins with.

    python benchmarks/first_hour.py                       # a clone of this repository's last commit
    python benchmarks/first_hour.py --train "--steps 80"  # with other options of `mcprl train`

The two commands are `make train` and `mcprl view RUN`. Packages come from pip's index or its cache; which of them, and
what else the machine does, decides most of the time.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
TINY = (
    "--small-pack --train-tasks 16 --val-tasks 4 --test-tasks 8 --test-forms 8 --probe-calls 100 --warm-start-steps 4 "
    "--warm-start-plans 8 --steps 2 --scenarios-per-step 2 --group-size 4 --eval-every 2"
)
PARTS = (
    ("install", r"loading|note |probing"),
    ("load the model", r"probing"),
    ("make tasks", r"tasks "),
    ("base test, warm start", r"step +1/"),
    ("RL and tests", r"look "),
)
"""What `make train` does, each with how the line begins that ends it."""


@contextmanager
def timed(parts: dict[str, float], name: str) -> Generator[None]:
    began = time.monotonic()
    yield
    parts[name] = time.monotonic() - began


def train(clone: Path, options: str, parts: dict[str, float]) -> None:
    """Run `make train` and time its parts by the lines that it prints, which are printed here, too."""
    line = ["make", "train", f"ARGS={options} --name first"]
    free = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS")}
    waiting, began = list(PARTS), time.monotonic()
    with subprocess.Popen(line, cwd=clone, env=free, stdout=subprocess.PIPE, text=True) as make:
        assert make.stdout
        for printed in make.stdout:
            print("   ", printed.rstrip(), flush=True)
            if waiting and re.match(waiting[0][1], printed):
                parts[waiting.pop(0)[0]] = time.monotonic() - began
                began = time.monotonic()
    if make.returncode:
        raise SystemExit(f"make train ended with {make.returncode}")
    parts["report"] = time.monotonic() - began


def view(clone: Path) -> int:
    """Open the run with `mcprl view` and fetch its report; returns the report's bytes."""
    line = [clone / ".venv" / "bin" / "mcprl", "view", "first", "--no-open"]
    with subprocess.Popen(line, cwd=clone, stdout=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout
        address = viewer.stdout.readline().split(" is at ")[1].split()[0]
        with urlopen(urljoin(address, "report.html"), timeout=60) as answer:
            size = len(answer.read())
        viewer.terminate()
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", default=TINY, help="options of mcprl train; a tiny run by default")
    asked = parser.parse_args()
    parts: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="first-hour-") as folder:
        clone = Path(folder) / "mcprl"
        with timed(parts, "clone"):
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        train(clone, asked.train, parts)
        with timed(parts, "open the report"):
            size = view(clone)
    print(f"\nreport.html has {size / 1024:.0f} KiB\n\n| part | seconds |\n|---|---|")
    for name, seconds in (*parts.items(), ("together", sum(parts.values()))):
        print(f"| {name} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
