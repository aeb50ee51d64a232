"""Right and wrong final answers, written by hand and blind to the verifier: how many of each it accepts.

Before any mending the verifier accepted 93.4 % of `right` and 4.4 % of `wrong`; after two rounds on those, 92.7 % and
4.5 % of `later_right` and `later_wrong`, which were written after the first round, by somebody who read no check. That
is what to expect of answers that nobody has mended for. Since then all four files were mended for: 0.6 % of `wrong`
and none of `later_wrong` are accepted (2026-11-23), which says nothing about answers that are yet to be written.

`third_*` and `fourth_*` (2026-11-24) are two more blind writers', a right and a wrong answer each for 107 and 100
generated tasks of ten servers. **Before mending 86.9 % of the right and 21.5 % of the wrong ones of the third were
accepted; of the fourth, which was written after that mending, 86.0 and 13.0 %**: that is what to expect now. Most of
these wrong ones report something else than the write that was rightly made, at which no check had looked.

`fifth_*`, by two more for 178 tasks, after that: **87.6 % of the right and 18.0 % of the wrong ones were accepted
before they were mended for; of the sixth, by two more for 174 other tasks after that mending, 93.7 and 13.8 %**. Each
set finds other faults, so what is mended for one does little for the next.

`seventh_*`, by two more for 92 tasks after that: **88 of the right ones (95.7 %) and 17 of the wrong ones (18.5 %)
were accepted before they were mended for**. After all mending, from the third to the seventh: 99.1, 98.0, 98.3, 97.1
and 100 % of the right, 0.9, 0.0, 4.5, 6.9 and 0.0 % of the wrong ones.

`eighth_*`, by two more for 89 tasks after that: **86 of the right ones (96.6 %) and 13 of the wrong ones (14.6 %)**.
But for one sort of right one (`we haven't got one for her`) nobody has mended for these, so they tell what to expect.

`ninth_*` (2026-11-27), by two more for the same 89 tasks: **81 of the right ones (91.0 %) and 18 of the wrong ones
(20.2 %)**, with the checks of the day before and with a reviewer's mends since. Three sorts of wrong ones were mended
for ("Correction: ...", a word that goes on as a longer code, "I can't say whether"), so they tell what to expect.

`rollouts` (2026-11-25) are no writers': 180 answers that SmolLM2 gave on the shop's held-out tasks, before and after a
run, 90 that the checks accepted and 90 that they refused, drawn by chance. Two readers who did not know which judged
them by request, calls and results alone: **all 90 refused ones are wrong, and so are 3 of the 90 accepted ones**. One
was mended for ("It costs 8." of a quantity); two are people's requests for more than their checks ask.

Each line of `answers/{right,wrong}.jsonl` is one small case: a request, the calls with the results that the model read,
the checks, and one final answer. `case` groups the lines of one request.
"""

import json
import re
from pathlib import Path

import pytest
from support.answers import Line, judged, lines

ANSWERS = Path(__file__).parent / "answers"
PARTS = ("", "later_", "third_", "fourth_", "fifth_", "sixth_", "seventh_", "eighth_", "ninth_")


def rows_of(name: str) -> list[Line]:
    return lines(ANSWERS / f"{name}.jsonl")


WHOLE_RECORD = ("wrong-056", "wrong-209")
"""Written as wrong, since they tell all fields of the thing that was asked for, each with its label. All of it is true,
so that they are right since 2026-11-28."""


def accepted(line: Line) -> bool:
    return bool(judged(line).success)


def listed(offenders: list[Line]) -> str:
    return "\n".join(f"{line['id']} {line['request']!r} -> {line['answer']!r}" for line in offenders)


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_there_are_two_hundred_of_each_over_eighty_cases(name: str) -> None:
    rows = rows_of(name)
    assert len(rows) >= 200
    assert len({row["case"] for row in rows}) >= 80
    assert len({(row["case"], row["answer"], json.dumps(row["calls"])) for row in rows}) == len(rows)


@pytest.mark.parametrize("name", [f"{part}{sort}" for part in PARTS for sort in ("right", "wrong")] + ["rollouts"])
def test_no_result_tells_of_the_machine_that_it_was_recorded_on(name: str) -> None:
    told = re.compile(r"\.venv|node_modules|site-packages|/tmp/tmp|/(?:root|home/\w+)/\.")
    assert not [row["id"] for row in rows_of(name) if told.search(json.dumps(row))]


@pytest.mark.parametrize(
    ("name", "least"), [(f"{part}right", 0.97) for part in PARTS if part != "ninth_"] + [("ninth_right", 0.96)]
)
def test_right_answers_are_accepted(name: str, least: float) -> None:
    rows = rows_of(name)
    refused = [row for row in rows if not accepted(row)]
    share = 1 - len(refused) / len(rows)
    assert share >= least, f"{share:.1%} of {len(rows)} right answers accepted; refused:\n{listed(refused)}"


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("wrong", 0.01),
        ("later_wrong", 0.01),
        ("third_wrong", 0.01),
        ("fourth_wrong", 0.01),
        ("fifth_wrong", 0.045),
        ("sixth_wrong", 0.07),
        ("seventh_wrong", 0.0),
        ("eighth_wrong", 0.15),
        ("ninth_wrong", 0.18),
    ],
)
def test_wrong_answers_are_refused(name: str, most: float) -> None:
    rows = [row for row in rows_of(name) if row["id"] not in WHOLE_RECORD]
    passed = [row for row in rows if accepted(row)]
    share = len(passed) / len(rows)
    assert share <= most, f"{share:.1%} of {len(rows)} wrong answers accepted:\n{listed(passed)}"


def test_what_a_real_model_answers_is_judged_as_readers_judge_it() -> None:
    rows = rows_of("rollouts")
    passed = [row for row in rows if accepted(row)]
    refused = [row for row in rows if row not in passed]
    assert (len(rows), sum(row["right"] for row in rows)) == (180, 87)
    assert not [row for row in refused if row["right"]], listed(refused)
    assert [row["id"] for row in passed if not row["right"]] == ["rollout-030", "rollout-084"]


def test_true_values_beside_what_was_asked_for_never_make_an_answer_wrong() -> None:
    """Long answers to people's requests to the shop as models write them, and what stays wrong. Written beside the
    checks: a development set, which says nothing about answers of others."""
    rows = rows_of("besides")
    assert (len(rows), sum(row["right"] for row in rows)) == (113, 72)
    wrongly = [f"{row['id']} {row['answer']!r}" for row in rows if accepted(row) is not row["right"]]
    assert not wrongly, "\n".join(wrongly)


def test_what_an_untrained_model_answers_is_judged_as_two_readers_judge_it() -> None:
    """What Qwen2.5-Coder-1.5B answered to people's requests, greedy and sampled, on six servers (2026-11-28). Two
    readers, who saw what the data hold and no check, agree on all. **Before anybody mended for them 67 of the 75 right
    ones (89.3 %) and 5 of the 173 wrong ones (2.9 %) were accepted**; two right ones were mended for since."""
    rows = rows_of("untrained")
    right = [row for row in rows if all(row["readers"])]
    wrong = [row for row in rows if not any(row["readers"])]
    assert (len(rows), len(right), len(wrong)) == (248, 75, 173)
    assert sum(map(accepted, right)) >= 0.88 * len(right)
    assert sum(map(accepted, wrong)) <= 0.05 * len(wrong)
