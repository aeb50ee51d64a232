"""What a run's journal holds: success by phase, the steps, and the held-out tasks that were won and lost.

    python examples/read_a_run.py runs/NAME

Reading takes no lock: it works while the run goes on.
"""

import sys
from statistics import fmean

from mcprl.runs.journal import Journal

PHASES = ("test:base", "test:warm", "test:trained")


def main(folder: str) -> None:
    with Journal.open(folder) as journal:
        solved: dict[str, dict[str, bool]] = {}
        for phase in PHASES:
            outcomes = journal.outcomes(phase)
            solved[phase] = {outcome.scenario_id: bool(outcome.success) for outcome in outcomes}
            if outcomes:
                print(f"{phase:13} {fmean(solved[phase].values()):6.1%} of {len(solved[phase])} tasks")
        for step in journal.steps():
            print(f"step {step.step:3}: training success {step.metrics['success']:.0%}")

        base, trained = solved["test:base"], solved["test:trained"]
        tasks = {scenario.id: scenario for scenario in journal.scenarios("test")}
        for title, wanted in (("lost", (True, False)), ("won", (False, True))):
            chosen = [name for name in trained if (base.get(name), trained[name]) == wanted]
            print(f"\n{title}: {len(chosen)}")
            for name in chosen[:5]:
                print(f"  {tasks[name].request}\n    expected: {tasks[name].answer}")


if __name__ == "__main__":
    main(sys.argv[1])
