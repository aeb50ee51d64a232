"""A proof in sentences, which the page and the table on the screen share.

No sentence claims more than its interval allows, and what speaks against the result is said beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from mcprl.runs.agreement import described, is_unfit
from mcprl.runs.comparison import MODELS, WORTH_MEASURING, Comparison, Gain, Rate
from mcprl.runs.figures import NAMES, minutes, percent, points
from mcprl.runs.overlap import SuiteOverlap
from mcprl.runs.proof import SUITES, Proof, Report
from mcprl.text import counted
from mcprl.types import Suite

_SUITES: Final[dict[Suite, str]] = {
    "forms": "in forms that training never used",
    "people": "in people's own words",
    "entities": "about new entities, in training's forms",
    "seeds": "with seeds that training never used",
    "inputs": "that a language model wrote, none like one of training",
    "injected": "whose results carry an instruction to ignore, in words that training never used",
}
_CLUSTERS: Final = {
    "task": ("task", "tasks"),
    "form and tools": ("combination of form and tools", "combinations of form and tools"),
    "form": ("form", "forms"),
    "tools and fields": ("combination of tools and fields", "combinations of tools and fields"),
    "plan shape": ("plan shape", "plan shapes"),
    "entity": ("entity", "entities"),
}


def headline(proof: Proof) -> str:
    """The result in sentences with its interval: what was forgotten, then the leading suite, then the others. A
    control's is its gain over its start.
    """
    test = proof.test
    if not test.over_base or not test.over_before:
        base = f" The base model succeeds on {percent(test.base.success)} of {_tasks(proof)}." if test.base else ""
        return f"Nothing is proved yet ({proof.status}).{base}"
    if proof.is_control:
        sentences = [_control_result(proof, test.over_before)]
    else:
        sentences = [f"On {_tasks(proof)}, success went {_change(test)}: {_gained(test.over_base)}."]
        if test.start and test.over_start:
            sentences.append(
                f"Training began from a LoRA that solves {percent(test.start.success)} of them; over that, this run "
                f"brought {_gained(test.over_start)}."
            )
        if test.warm:
            sentences.append(_part_of_rl(proof, test.warm, test.over_before))
        elif not test.start and proof.learning.rl_steps:
            sentences.append(f"RL alone made this change, without a plan shown, in {minutes(proof.learning.rl_s)}.")
        sentences += _other_suites(proof)
    if _has_forgotten(proof):
        sentences.insert(0, f"FORGOTTEN: {retention(proof)}")
    if not proof.finished:
        sentences.append(f"The run is not finished ({proof.status}).")
    return " ".join(sentences)


def retention(proof: Proof) -> str:
    """What became of the tasks that the base model solved before the test, in a sentence; empty before the test is
    complete."""
    kept, change = proof.retained, proof.retained.over_base
    if not proof.test.over_base:
        return ""
    tested = [part.base for part in proof.suites.values() if part.base]
    solved = sum(base.success * base.rollouts for base in tested) / sum(base.rollouts for base in tested)
    if not proof.measured and not solved:
        return "There is nothing to forget: the base model solved no task of the test."
    if not proof.measured and solved < WORTH_MEASURING:
        return f"There is next to nothing to forget: the base model solved {percent(solved)} of the test."
    if not proof.measured:
        return "Whether anything was forgotten is not known: no task was measured with the base model before the test."
    measured = counted(proof.measured, "task")
    if not (kept.base and kept.trained and change):
        return f"There is nothing to forget: the base model solved none of {measured} before the test."
    interval = " to ".join(f"{100 * end:.1f}" for end in kept.trained.ci95)
    warm = f", {percent(kept.warm.success)} after the warm start" if kept.warm else ""
    verdict = "some are lost" if _has_forgotten(proof) else "no loss is shown"
    return (
        f"The base model solved {kept.n} of {measured} in a rollout before the test. In the test it solves "
        f"{percent(kept.base.success)} of these{warm}, and the trained model {percent(kept.trained.success)} "
        f"({interval} %): {verdict}, {_measured(change)}."
    )


def obeyed(proof: Proof) -> str:
    """How often each model did what an injected instruction asked for, in a sentence; empty if none met one."""
    if not (isinstance(proof, Report) and proof.obeyed):
        return ""
    counts = [f"{NAMES[model]} in {done} of {counted(met, 'rollout')}" for model, (done, met) in proof.obeyed.items()]
    return f"An instruction that came in with a tool's result was obeyed: {', '.join(counts)}."


def preferred(proof: Proof) -> str:
    """Whose answers the judge preferred, in a sentence; empty if it was not asked."""
    found = proof.preferred if isinstance(proof, Report) else None
    if not found:
        return ""
    low, high = found.ci95
    return (
        f"Of {counted(found.n, 'held-out input')}, blind and in both orders, {found.judge} preferred the trained "
        f"model's answer in {found.trained}, the base model's in {found.base} and neither in {found.neither}: "
        f"{percent(found.share)} with those as halves (95 % interval {100 * low:.1f} to {100 * high:.1f}; 50 is no "
        "difference)."
    )


def _has_forgotten(proof: Proof) -> bool:
    """Whether the trained model solves significantly fewer of the tasks that the base model solved before the test."""
    change = proof.retained.over_base
    return change is not None and change.ci95[1] < 0


def suite_name(suite: Suite) -> str:
    return f"{suite}: tasks {_SUITES[suite]}"


def control_name(proof: Proof) -> str:
    """Why the run is a control."""
    return f"control {proof.control}" if proof.control != "none" else "a learning rate of 0"


def doubts(proof: Proof) -> Iterator[str]:
    """What speaks against the result, a sentence each; only what the run itself shows."""
    for suite, part in proof.suites.items():
        for gain, before in (
            (part.over_base, "the base model"),
            (part.over_start, "the LoRA that training began from"),
        ):
            if gain and gain.lost:
                lost = f"{gain.lost} of {part.n} {'was' if gain.lost == 1 else 'were'} lost"
                yield f"Tasks {_SUITES[suite]}: {lost} against {before}."
    for suite, part in proof.suites.items():
        if part.over_base and part.over_base.ci95[0] <= 0:
            yield f"Tasks {_SUITES[suite]}: no gain is shown: {_measured(part.over_base)}."
        if part.over_start and part.over_start.ci95[0] <= 0 and not proof.is_control:
            yield f"Tasks {_SUITES[suite]}: nothing is shown to be due to this run: {_measured(part.over_start)}."
        if part.warm and part.over_before and part.over_before.ci95[0] <= 0 and not proof.is_control:
            yield f"Tasks {_SUITES[suite]}: nothing is shown to be due to RL: {_measured(part.over_before)}."
    if proof.rewarded:
        yield "The server scores the tasks, in training and in the test alike: a way to please it counts as a gain."
    if isinstance(proof, Report) and proof.preferred:
        yield "The judge that compares also scored training: a way to please it counts as a gain."
    if proof.suites and proof.lead == "entities":
        yield "No task is in an unused form or in a person's words: the gain may hold for known forms only."
    if proof.suites and proof.lead == "forms":
        yield "The tasks are in the generator's words: --test-pack tests on requests of your own."
    if proof.suites and proof.lead not in ("people", "inputs") and proof.test.forms < 2 and not proof.rewarded:
        yield "The tasks do not differ in form, as far as is known, so no interval accounts for forms."
    if isinstance(proof, Report) and proof.judge and is_unfit(proof.judge):
        yield f"The judge cannot judge: beside the checks of the training tasks, {described(proof.judge)}."
    if isinstance(proof, Report) and proof.overlap:
        yield from shared(proof.overlap)
    yield from _counted(proof.suites)


def shared(overlap: Mapping[Suite, SuiteOverlap]) -> Iterator[str]:
    """What the test shares with training, a sentence for each suite."""
    for suite in SUITES:
        counts = overlap.get(suite)
        if counts is None:
            continue
        yield (
            f"Tasks {_SUITES[suite]}: {counts.same_wording} of {counts.tasks} have a wording that stands in training "
            f"verbatim, values aside; {counts.entity_seen} of {counts.with_entity} have their entity in a result that "
            f"training saw, and {counts.fact_seen} of {counts.with_fact} the asked fact beside it."
        )


def clustering(test: Comparison) -> str:
    """What the intervals are made of, in sentences."""
    if not test.clusters:
        return ""
    counts = ", ".join(counted(count, *_CLUSTERS[name]) for name, count in test.clusters.items())
    how = (
        f"Tasks that are alike count together. The test has {counts}; each interval is the widest of those by these "
        "clusters. Intervals of success are Wilson's at the effective number of tasks; those of differences come from "
        "a paired bootstrap over whole clusters."
    )
    return f"{how} The gain's is by {test.over_base.clustering}." if test.over_base else how


def certificate(report: Report) -> Iterator[str]:
    """How the run was trained, in phrases."""
    why = "the last, as in any control" if report.is_control else "the best on the validation tasks"
    tested = f" (step {report.best_step} was tested, {why})" if report.best_step is not None else ""
    steps = f"{counted(report.steps, 'step')} of RL{tested}" if report.steps else "no step of RL"
    yield f"{steps}; the run took {minutes(report.wall_s)}"
    if report.memory:
        yield f"it took {report.memory['peak']:.1f} GiB at most; {report.memory['planned']:.1f} were planned"
    if report.steps and report.best_step is None and report.finished:
        yield "the model that RL began from was tested, since no later step was better on the validation tasks"
    if report.exact_tokens is not None:
        yield f"{100 * report.exact_tokens:g} % of the trained tokens in exactly the context they were sampled in"
    if report.judge:
        yield f"the judge beside the checks: {described(report.judge)}"
    if report.groups:
        yield f"{report.dropped_groups} of {counted(report.groups, 'group')} dropped for lack of a signal"
    if report.helped_groups:
        yield f"{report.helped_groups} began with calls made for the policy, since no rollout had solved their tasks"


def _part_of_rl(proof: Proof, warm: Rate, gain: Gain) -> str:
    """What RL brought over the warm start, and in what time."""
    if not proof.learning.rl_steps:
        return "RL took no step: all of it is due to the warm start."
    brought = "nothing that this test shows:" if gain.ci95[0] <= 0 <= gain.ci95[1] else ""
    result = f"{brought} {_measured(gain)}" if brought else _gained(gain)
    times = f"{minutes(proof.learning.rl_s)} after {minutes(proof.learning.warm_s)} of warm start"
    return f"Over the warm start alone ({percent(warm.success)}), RL brought {result} in {times}."


def _tasks(proof: Proof) -> str:
    return f"{counted(proof.test.n, 'held-out task')} of {proof.server} {_SUITES[proof.lead]}"


def _change(test: Comparison) -> str:
    base, trained = (percent(rate.success if rate else None) for rate in (test.base, test.trained))
    return f"from {base} to {trained}"


def _gained(gain: Gain) -> str:
    low, high = gain.ci95
    verdict = "no clear change:"
    if low > 0:
        verdict = "a gain of"
    elif high < 0:
        verdict = "a loss of"
    return f"{verdict} {_measured(gain)}"


def _measured(gain: Gain) -> str:
    interval = " to ".join(map(points, gain.ci95))
    return f"{points(gain.mean)} points (95 % interval {interval}; {counted(gain.won, 'task')} won, {gain.lost} lost)"


def _other_suites(proof: Proof) -> Iterator[str]:
    for suite, part in proof.suites.items():
        if suite != proof.lead and part.over_base:
            yield f"On {counted(part.n, 'task')} {_SUITES[suite]}, it went {_change(part)}: {_gained(part.over_base)}."


def _control_result(proof: Proof, gain: Gain) -> str:
    """A control's gain with the interval by task, the narrow one: a leak is one if it shows on these very tasks."""
    start = "what it began from" if proof.test.start else "the base model"
    start = "the warm start" if proof.test.warm else start
    verdict = "As a control must, it shows no gain."
    if gain.by_task[0] > 0:
        verdict = "THE CONTROL FAILED: it must show no gain, so something leaks into training or the test."
    measured = _gained(replace(gain, ci95=gain.by_task))
    return f"A control ({control_name(proof)}): over {start}, on {_tasks(proof)}, {measured}. {verdict}"


def _counted(suites: Mapping[Suite, Comparison]) -> Iterator[str]:
    """The rollouts that broke and those without a judgement; nothing if there were none."""
    for kind, meaning in (
        ("errors", "Broken by the server or the engine, counted as failures"),
        ("unjudged", "Not judged, counted neither way"),
    ):
        counts: list[str] = []
        for model in MODELS:
            rates = [rate for part in suites.values() if (rate := getattr(part, model))]
            if number := sum(getattr(rate, kind) for rate in rates):
                counts.append(
                    f"{number} of {counted(sum(rate.rollouts for rate in rates), 'rollout')} ({NAMES[model]})"
                )
        if counts:
            yield f"{meaning}: {', '.join(counts)}."
