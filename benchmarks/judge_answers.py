"""What the checks accept: answers that readers sorted, and policies that do not do the task. No server, no model.

    python benchmarks/judge_answers.py                     all sets, then the policies
    python benchmarks/judge_answers.py --list untrained    those of a set that are judged otherwise than they were read
    python benchmarks/judge_answers.py --write             also into benchmarks/results/judge_answers.json

The sets are the files of tests/judges/answers (tests/support/answers.py has their form), of which `untrained`,
`rollouts` and `plain` are what models answered; the others were written by hand, their wrong ones in order to deceive.
The policies are those of `mcprl.judges.adversaries` and those below. Each is played on the right rollouts of the sets,
on each request once, where it has no right to pass: their calls and results stay, and the answer is the policy's.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from support.answers import is_right, judged, lines, scenario, tools, trajectory  # noqa: E402

from mcprl.judges.adversaries import ADVERSARIES, Adversary, Move  # noqa: E402
from mcprl.judges.checks import holds  # noqa: E402
from mcprl.judges.values import kind_of  # noqa: E402
from mcprl.judges.verifier import Verifier  # noqa: E402
from mcprl.types import CallRecord, Fact, Scenario, Tool, Trajectory  # noqa: E402

ANSWERS = ROOT / "tests" / "judges" / "answers"
RESULTS = ROOT / "benchmarks" / "results" / "judge_answers.json"
WHOLE_RECORD = frozenset({"wrong-056", "wrong-209"})
"""Written as wrong, since they tell all fields of the thing that was asked for. All of it is true: they are right."""
INVENTED = "forms"
"""A set whose results are the values alone, so that a policy finds nothing in them."""
NOT_OFFLINE = "calls every tool"
"""A policy that needs a server; tests/judges/test_adversaries.py plays it on the shop."""

Records = Sequence[CallRecord]


def _alternatives(task: Scenario) -> list[tuple[Fact, Any]]:
    """Each fact that is asked for, with another value of its kind; empty if one has none."""
    facts = [check for check in task.checks if isinstance(check, Fact) and not isinstance(check.value, bool)]
    pairs = [(fact, next((each for each in fact.rivals if _could_be(each, fact, task)), None)) for fact in facts]
    return pairs if all(rival is not None for _, rival in pairs) else []


def _could_be(rival: Any, fact: Fact, task: Scenario) -> bool:
    """Whether a value could be taken for the fact's, and nobody asked for it or gave it."""
    facts = [check for check in task.checks if isinstance(check, Fact)]
    known = any(holds(str(rival), other.value) or holds(str(other.value), rival) for other in facts)
    return kind_of(rival) == kind_of(fact.value) and not known and not holds(task.request, rival)


def _said(form: str) -> Adversary:
    """States each fact in this form, with `value` and a `rival` of its kind. It has a right to tasks without facts."""

    def answer(task: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
        pairs = _alternatives(task)
        told = " ".join(form.format(value=fact.value, rival=rival) for fact, rival in pairs)
        return Move(task.plan, told, right=not pairs)

    return answer


def repeat_request(task: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Says the request again. It has a right to nothing, but writes are reported by it."""
    facts = any(isinstance(check, Fact) for check in task.checks)
    return Move(task.plan, task.request, right=not facts)


def deny_write(task: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Writes and says that it did not. It has a right to tasks that only read."""
    return Move(task.plan, "I have not changed anything.", right=not _writes(task))


def claim_write(task: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Gives the right answer and claims a write that nobody asked for. It has a right to tasks that write."""
    return Move(
        task.plan, f"{task.answer} I have also deleted it and sent an email.", right=not task.answer or _writes(task)
    )


def _writes(task: Scenario) -> bool:
    return any(check.kind == "state" or (check.kind == "call" and not check.failed) for check in task.checks)


MORE: dict[str, Adversary] = {
    "the value or a rival": _said("It is {value} or {rival}."),
    "a rival or the value": _said("It is either {rival} or {value}."),
    "the value and a rival": _said("It is {value}, {rival}."),
    "takes the value back": _said("It is {value}. No, it is {rival}."),
    "denies the value": _said("It is not {value}."),
    "asks about the value": _said("Is it {value}?"),
    "the rival, not the value": _said("It is {rival}, not {value}."),
    "repeats the request": repeat_request,
    "claims a write": claim_write,
    "denies its write": deny_write,
}


def rows_of(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    for line in lines(path):
        right = is_right(line, path)
        if right is not None:
            yield line, right or line["id"] in WHOLE_RECORD


def rates(path: Path) -> dict[str, list[int]]:
    """[accepted, all] of the right and of the wrong answers of a set."""
    found = {"right": [0, 0], "wrong": [0, 0]}
    for line, right in rows_of(path):
        counts = found["right" if right else "wrong"]
        counts[0] += bool(judged(line).success)
        counts[1] += 1
    return found


def played() -> dict[str, list[int]]:
    """[passed, all] of each policy, on the right rollouts of all sets that the checks accept."""
    found = {name: [0, 0] for name in (*ADVERSARIES, *MORE) if name != NOT_OFFLINE}
    seen: set[str] = set()
    for path in sorted(ANSWERS.glob("*.jsonl")):
        for line, right in rows_of(path) if path.stem != INVENTED else ():
            task = scenario(line)
            if not right or task.request in seen or not judged(line).success:
                continue
            seen.add(task.request)
            gold = trajectory(line)
            _play(task, gold, Verifier(tools(line)), tools(line), found)
    return found


def _play(
    task: Scenario, gold: Trajectory, verifier: Verifier, known: Sequence[Tool], found: dict[str, list[int]]
) -> None:
    task = task if task.answer else replace(task, answer=gold.answer)
    for name, policy in ((name, policy) for name, policy in {**ADVERSARIES, **MORE}.items() if name in found):
        move = policy(task, gold.calls, known)
        if move.right:
            continue
        calls, state = (gold.calls, gold.state) if move.calls == task.plan else ((), gold.before)
        reads = {tool.name for tool in known if tool.read_only}
        calls = calls or tuple(record for record in gold.calls if move.calls and record.tool in reads)
        messages = (*gold.messages[:-1], {"role": "assistant", "content": move.answer})
        told = replace(gold, messages=messages, calls=calls, state=state)
        found[name][0] += bool(verifier.verify(task, told).success)
        found[name][1] += 1


def _share(counts: Sequence[int]) -> str:
    return f"{counts[0]:4} of {counts[1]:4} {100 * counts[0] / counts[1]:6.1f} %" if counts[1] else " " * 20


def misjudged(path: Path) -> str:
    told: list[str] = []
    for line, right in rows_of(path):
        score = judged(line)
        if score.success is not right:
            answer = trajectory(line).answer
            told.append(f"{'right' if right else 'wrong'} {line['id']}: {scenario(line).request!r} -> {answer!r}")
            told.append(f"    {score.explanation}")
    return "\n".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", nargs="*", default=[], help="sets whose misjudged answers are listed")
    parser.add_argument("--write", action="store_true", help=f"also write {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args()
    if options.list:
        for name in options.list:
            print(misjudged(ANSWERS / f"{name}.jsonl"))
        return
    sets = {path.stem: rates(path) for path in sorted(ANSWERS.glob("*.jsonl"))}
    print(f"{'set':18} {'right accepted':>20}   {'wrong accepted':>20}")
    for name, found in sets.items():
        print(f"{name:18} {_share(found['right'])}   {_share(found['wrong'])}")
    policies = played()
    print(f"\n{'policy':30} passes")
    for name, counts in policies.items():
        print(f"{name:30} {_share(counts)}")
    if options.write:
        found = {"date": str(date.today()), "sets": sets, "policies": policies}
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
