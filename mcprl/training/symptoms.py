"""Signs of a training that goes wrong, read from the metrics of its steps, each with what to do about it."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from mcprl.events import Emit, Note
from mcprl.runs.journal import Journal
from mcprl.runs.learning import validated
from mcprl.text import counted
from mcprl.training.curriculum import kind

Metrics = Mapping[str, float]
Steps = Sequence[Metrics]
"""The metrics of all steps so far, the newest last."""

WINDOW = 5
"""Steps whose mean is compared: the success of a step of 64 rollouts has a standard deviation of 0.06 by chance alone,
and its tasks, which change, add more (0.14 over the 50 steps of a run on the example shop)."""
NO_SIGNAL_STEPS = 3
"""Steps in a row without an update: one such step is luck, since a group of equal scores is common."""
COLLAPSE, COLLAPSE_DROP = 0.5, 0.2
"""The fraction of its best that success falls below, and by how much at least: in validation, or over `WINDOW` steps of
training where the policy is also left with one behaviour. Training alone does not show it: it draws harder kinds of
tasks as the policy learns, and fell from 43 to 21 % over ten steps of a run whose validation stayed level."""
ONE_BEHAVIOUR, BEHAVIOUR_RISE = 0.9, 0.15
"""The share of one behaviour from which the policy has no other, and by how much it is above that of the first steps at
least."""
BEHAVIOURS = {
    "calling": "of the turns are calls",
    "texts": "of the turns are texts without a call",
    "same_tool": "of the rollouts call the same tool first",
}
GAP, GAP_RISE = 0.05, 3.0
"""Nats per token, and times the mean of the first steps. Rounding to bfloat16 alone makes 0.001 to 0.01."""
ROLLOUT_NATS = math.log(2)
"""Entropy of a rollout below which a group has, in effect, fewer than two different members (exp of the entropy)."""
SOLVED = 0.9
"""Success from which on little entropy is a sign of mastery."""
LENGTH_RATIO = 3.0
"""Times the first steps' length: in the same two runs the means of `WINDOW` steps stay within a factor of 2.1."""
TIED = 0.9
"""Fraction of pairs of a group that a judge scores alike, from which it tells them apart too seldom to teach."""
CUT = 0.25
"""Fraction of rollouts cut off by a token limit: each has the score of an answer that was never given."""
QUIET = 10
"""Steps without a symptom after which it is noted again."""


@dataclass(frozen=True)
class Symptom:
    """`seen` in the steps so far or not, and the sentence for the newest of them. It is noted when it appears, and
    again only after `quiet` steps without it."""

    seen: Callable[[Steps], bool]
    sentence: Callable[[Steps], str]
    quiet: int = QUIET


def emit_notes(journal: Journal, emit: Emit, planned: int) -> None:
    """Emit a note for each symptom that appears with the journal's newest step, of `planned` in all."""
    steps, rates = steps_of(journal), validations(journal)
    sentences = notes(steps)
    kinds = {scenario.id: kind(scenario) for scenario in journal.scenarios("train")}
    rollouts = [(o.step, (kinds.get(o.scenario_id), o.given_calls), bool(o.success)) for o in journal.outcomes("train")]
    if learns_nothing(levelled(steps, rollouts), rates, planned) and not any(
        learns_nothing(levelled(steps[:n], rollouts), rates, planned) for n in range(len(steps))
    ):
        sentences.append(_nothing_learnt(steps, planned))
    for sentence in sentences:
        emit(Note(sentence))


def levelled(steps: Steps, rollouts: Sequence[tuple[int, Hashable, bool]]) -> Steps:
    """The steps with the success that each would have had if all had drawn the same mix of kinds of tasks: the mean,
    and what the step's rollouts did better than all of their kind. `rollouts` has (step, kind, success).

    A step draws some kinds that are nearly always solved and some that never are, so its own success says little.
    """
    by_step, by_kind = defaultdict[int, list[tuple[Hashable, bool]]](list), defaultdict[Hashable, list[bool]](list)
    for step, kind_of_task, success in rollouts:
        if step <= len(steps):
            by_step[step].append((kind_of_task, success))
            by_kind[kind_of_task].append(success)
    usual = {name: fmean(successes) for name, successes in by_kind.items()}
    everywhere = fmean(success for successes in by_kind.values() for success in successes) if by_kind else math.nan
    return [
        {**metrics, "success": everywhere + fmean(success - usual[name] for name, success in by_step[number])}
        if number in by_step
        else metrics
        for number, metrics in enumerate(steps, start=1)
    ]


def steps_of(journal: Journal) -> list[Metrics]:
    """The metrics that are numbers of all steps so far."""
    return [
        {name: value for name, value in record.metrics.items() if isinstance(value, int | float)}
        for record in journal.steps()
    ]


def validations(journal: Journal) -> list[tuple[int, float]]:
    """The success of each validation of RL so far, with its step."""
    return [(step, success) for step, success, *_ in validated(journal, "val")]


def notes(steps: Steps) -> list[str]:
    """A sentence for each symptom that appears with the newest step."""
    found: list[str] = []
    for symptom in SYMPTOMS:
        earlier = range(max(1, len(steps) - symptom.quiet), len(steps))
        if steps and symptom.seen(steps) and not any(symptom.seen(steps[:count]) for count in earlier):
            found.append(symptom.sentence(steps))
    return found


def _mean(steps: Steps, name: str) -> float:
    """The mean of a metric over the steps that have it, NaN if none has."""
    values = [step[name] for step in steps if math.isfinite(step.get(name, math.nan))]
    return fmean(values) if values else math.nan


def _is_skipped(steps: Steps) -> bool:
    return steps[-1].get("skipped", 0) > 0


def _skipped(steps: Steps) -> str:
    return (
        f"the update of step {len(steps)} was left out, since its loss or gradient was not a finite number; the "
        "weights are as before. Three in a row end the training; then resume with a lower --learning-rate, with "
        "--autocast off or with --dtype float32"
    )


def _ran_out_of_memory(steps: Steps) -> bool:
    return steps[-1].get("halvings", 0) > 0


def _out_of_memory(steps: Steps) -> str:
    bins = f"{steps[-1].get('bin_tokens', math.nan):.0f}"
    return f"the update ran out of memory and goes on in bins of {bins} tokens; --bin-tokens {bins} begins with them"


def _has_measured_bf16(steps: Steps) -> bool:
    return "bf16_gap_mean" in steps[-1]


def _bf16(steps: Steps) -> str:
    step = steps[-1]
    return (
        f"updates multiply in {'bfloat16' if step.get('bf16') else 'float32'}: on rows of this run bfloat16 takes "
        f"{1 / step['bf16_speedup']:.2f} of float32's time, its log-probabilities are {step['bf16_gap_mean']:.3f} nats "
        f"off on average and {step['bf16_gap_max']:.2f} at most, its gradient is {step['bf16_gradient_error']:.1%} off"
    )


def _shares_nothing(steps: Steps) -> bool:
    return "sharing_gap" in steps[-1] and not steps[-1].get("shares", 1)


def _no_sharing(steps: Steps) -> str:
    return (
        "prefixes are not shared, so that updates take several times as long: computed as a trie, rows of this run "
        f"are {steps[-1]['sharing_gap']:.2g} nats off their own log-probabilities"
    )


def _lacks_signal(steps: Steps) -> bool:
    newest = steps[-NO_SIGNAL_STEPS:]
    all_dropped = all("groups" in step and step["dropped_groups"] == step["groups"] for step in newest)
    return len(newest) == NO_SIGNAL_STEPS and all_dropped


def _no_signal(steps: Steps) -> str:
    newest = steps[-NO_SIGNAL_STEPS:]
    score = _mean(newest, "score")
    scores = [step["score"] for step in newest if "score" in step]
    constant = max(scores, default=0.0) - min(scores, default=1.0) <= 1e-3
    which = f"every rollout in them scored {score:.2f}" if constant else "the members of each group scored alike"
    advice = "The policy has not learnt what the tasks need: more --warm-start-steps, easier tasks or a larger model"
    if _mean(newest, "judge_ties") >= TIED:
        advice = "The judge gives the members of a group the same score, whatever they did: take another --judge-model"
    elif score >= 0.5:
        advice = "The tasks are solved, or equally half solved: harder tasks, or an end to the training"
    return (
        f"no group of the last {NO_SIGNAL_STEPS} steps had a signal, so nothing was learnt: {which}. {advice}; a "
        "higher --rollout-temperature or --group-size makes rollouts differ more"
    )


def collapse(steps: Steps, val: Sequence[tuple[int, float]]) -> str:
    """The sentence of a policy that has collapsed, from which more steps bring it no nearer to its best; else empty.
    `val` has (step, success) of the validations."""
    rates = [success for _, success in val]
    found, left = "", _only_behaviour(steps)
    if len(rates) > 1 and _is_fallen(max(rates), rates[-1]):
        found = f"success in validation has fallen from {max(rates):.0%} to {rates[-1]:.0%}"
    elif left and len(steps) >= 2 * WINDOW:
        ends = range(WINDOW, len(steps) - WINDOW + 1)
        best, now = max(_mean(steps[end - WINDOW : end], "success") for end in ends), _mean(steps[-WINDOW:], "success")
        found = f"success has fallen from {best:.0%} to {now:.0%}" if _is_fallen(best, now) else ""
    if not found:
        return ""
    return (
        f"{found}{left and f', and {left}'}: the policy has collapsed. The best adapter by validation is kept; a lower "
        "--learning-rate, or --kl-coef 0.05, holds the policy nearer to where it began"
    )


def _is_fallen(best: float, now: float) -> bool:
    return now < COLLAPSE * best and best - now >= COLLAPSE_DROP


def _only_behaviour(steps: Steps) -> str:
    """The behaviour that the newest steps have come down to, with its share; empty if they vary."""
    early, newest = steps[:WINDOW], steps[-WINDOW:]
    if _mean(newest, "rollout_entropy") < ROLLOUT_NATS:
        return f"a rollout has {_mean(newest, 'rollout_entropy'):.2f} nats of entropy"
    for name, words in BEHAVIOURS.items():
        before, now = _share(early, name), _share(newest, name)
        if now >= ONE_BEHAVIOUR and now - before >= BEHAVIOUR_RISE:
            return f"{now:.0%} {words} ({before:.0%} at first)"
    return ""


def _share(steps: Steps, behaviour: str) -> float:
    return 1 - _mean(steps, "calling") if behaviour == "texts" else _mean(steps, behaviour)


def learns_nothing(steps: Steps, val: Sequence[tuple[int, float]], planned: int) -> bool:
    """Whether success has not risen visibly over the newest third of the planned steps, in training or in validation,
    and is no mastery. `steps` are `levelled`; `val` has (step, success). Training's alone would not say so: as the
    policy learns, harder tasks are drawn."""
    third = max(2 * WINDOW, planned // 3)
    before = [success for step, success in val if step <= len(steps) - third]
    since = [success for step, success in val if len(steps) - third < step <= len(steps)]
    if max(since, default=0.0) > max(before, default=1.0):
        return False
    newest = [step["success"] for step in steps[-third:] if math.isfinite(step.get("success", math.nan))]
    if len(newest) < third or fmean(newest) >= SOLVED:
        return False
    first, last = newest[: third // 2], newest[third // 2 :]
    error = math.sqrt(variance(first) / len(first) + variance(last) / len(last))
    return fmean(last) - fmean(first) < error


def _nothing_learnt(steps: Steps, planned: int) -> str:
    newest = steps[-max(2 * WINDOW, planned // 3) :]
    lacking = _mean(newest, "dropped_groups") / max(1.0, _mean(newest, "groups"))
    advice = "a --learning-rate twice as high, or more --scenarios-per-step"
    if lacking >= 0.5:
        advice = "tasks that it solves sometimes (`--dry-run` counts them), a larger --group-size or a larger model"
    return (
        f"nothing shows to have been learnt in the last {counted(len(newest), 'step')}: success stays at "
        f"{_mean(newest, 'success'):.0%}, and {1 - lacking:.0%} of the groups had a signal. What may help is {advice}"
    )


def _drifts(steps: Steps) -> bool:
    trained = [step for step in steps if "sampler_gap_mean" in step]
    if len(trained) < 2 * WINDOW:
        return False
    early, now = _mean(trained[:WINDOW], "sampler_gap_mean"), _mean(trained[-WINDOW:], "sampler_gap_mean")
    return now > max(GAP, GAP_RISE * early)


def _drift(steps: Steps) -> str:
    trained = [step for step in steps if "sampler_gap_mean" in step]
    early, now = _mean(trained[:WINDOW], "sampler_gap_mean"), _mean(trained[-WINDOW:], "sampler_gap_mean")
    return (
        f"sampler and trainer drift apart: {early:.3f} nats per token at first, {now:.3f} now. --autocast off, or an "
        "engine with the trainer's --dtype, brings them together; with --pipeline on a lower --learning-rate does, too"
    )


def _repeats_itself(steps: Steps) -> bool:
    newest = steps[-WINDOW:]
    if len(newest) < WINDOW or _mean(newest, "success") >= SOLVED:
        return False
    return _mean(newest, "rollout_entropy") < ROLLOUT_NATS


def _entropy_collapse(steps: Steps) -> str:
    newest = steps[-WINDOW:]
    return (
        f"the policy hardly varies: {_mean(newest, 'rollout_entropy'):.2f} nats of entropy a rollout, at a success of "
        f"{_mean(newest, 'success'):.0%}, so that the members of a group are alike. --entropy-coef 0.01, a higher "
        "--rollout-temperature or a lower --learning-rate keeps it exploring"
    )


def _lengths(steps: Steps) -> tuple[float, float]:
    """Sampled tokens of a rollout, in the first steps and in the newest; NaN before there are enough steps."""
    if len(steps) < 2 * WINDOW:
        return math.nan, math.nan
    return _mean(steps[:WINDOW], "rollout_tokens"), _mean(steps[-WINDOW:], "rollout_tokens")


def _is_shorter(steps: Steps) -> bool:
    early, now = _lengths(steps)
    return now < early / LENGTH_RATIO and _mean(steps[-WINDOW:], "success") < SOLVED


def _is_longer(steps: Steps) -> bool:
    early, now = _lengths(steps)
    return now > early * LENGTH_RATIO


def _length_change(steps: Steps) -> str:
    early, now = _lengths(steps)
    what = "shorter: it may give up early" if now < early else "longer: it may repeat calls or itself"
    return (
        f"rollouts become {what} ({early:.0f} tokens at first, {now:.0f} now). `mcprl runs show` has examples; a lower "
        "--learning-rate or --kl-coef 0.05 holds the policy nearer to where it began"
    )


def _is_cut(steps: Steps) -> bool:
    newest = steps[-NO_SIGNAL_STEPS:]
    return len(newest) == NO_SIGNAL_STEPS and all(step.get("cut_off", 0) > CUT for step in newest)


def _cut(steps: Steps) -> str:
    share = _mean(steps[-NO_SIGNAL_STEPS:], "cut_off")
    return (
        f"{share:.0%} of the rollouts of the last {NO_SIGNAL_STEPS} steps were cut off in the middle of a turn; "
        "--max-tokens lets a turn be longer, --max-total-tokens a rollout"
    )


SYMPTOMS = (
    Symptom(_is_skipped, _skipped, quiet=1),
    Symptom(_ran_out_of_memory, _out_of_memory, quiet=1),
    Symptom(_shares_nothing, _no_sharing, quiet=1),
    Symptom(_has_measured_bf16, _bf16, quiet=1),
    Symptom(_lacks_signal, _no_signal, quiet=1),
    Symptom(_drifts, _drift),
    Symptom(_repeats_itself, _entropy_collapse),
    Symptom(_is_shorter, _length_change),
    Symptom(_is_longer, _length_change),
    Symptom(_is_cut, _cut, quiet=1),
)
