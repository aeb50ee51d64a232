"""The gates on what models answered. `python benchmarks/judge_answers.py` reports all sets of answers, with rates."""

import json
import re
from pathlib import Path

import pytest
from support.answers import Line, is_right, judged, lines, scenario

ANSWERS = Path(__file__).parent / "answers"
SETS = sorted(ANSWERS.glob("*.jsonl"))


def misjudged(name: str) -> tuple[dict[bool, int], dict[bool, list[str]]]:
    """Of the right and of the wrong answers of a set: how many there are, and those that are judged otherwise."""
    path = ANSWERS / f"{name}.jsonl"
    count, found = {True: 0, False: 0}, dict[bool, list[str]]({True: [], False: []})
    for line in lines(path):
        right = is_right(line, path)
        if right is None:
            continue
        count[right] += 1
        if judged(line).success is not right:
            found[right].append(told(line))
    return count, found


def told(line: Line) -> str:
    return f"{line['id']}: {scenario(line).request!r} -> {line.get('answer')!r}"


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_no_result_tells_of_the_machine_that_it_was_recorded_on(path: Path) -> None:
    machine = re.compile(r"\.venv|node_modules|site-packages|/tmp/tmp|/(?:root|home/\w+)/\.")
    assert not [row["id"] for row in lines(path) if machine.search(json.dumps(row))]


def test_what_an_untrained_model_answers_is_judged_as_two_readers_judge_it() -> None:
    """What Qwen2.5-Coder-1.5B answered to people's requests, greedy and sampled, on six servers (2026-11-28). Two
    readers, who saw what the data hold and no check, agree on all. Before anybody mended for them 67 of the 75 right
    ones (89.3 %) and 5 of the 173 wrong ones (2.9 %) were accepted; five right ones were mended for since."""
    count, found = misjudged("untrained")
    assert (count[True], count[False]) == (75, 173)
    assert len(found[True]) <= 0.05 * count[True], "\n".join(found[True])
    assert len(found[False]) <= 0.05 * count[False], "\n".join(found[False])


def test_what_a_trained_model_answers_is_judged_as_two_readers_judge_it() -> None:
    """What SmolLM2 answered on the shop's held-out tasks, before and after a run (2026-11-25): 90 that the checks of
    that day accepted and 90 that they refused. Two readers who did not know which judged by request, calls and results
    alone."""
    count, found = misjudged("rollouts")
    assert (count[True], count[False]) == (87, 93)
    assert not found[True], "\n".join(found[True])
    assert len(found[False]) <= 0.05 * count[False], "\n".join(found[False])
