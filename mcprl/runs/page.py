"""A proof as a Markdown page: the result, the lost tasks, what else speaks against it, and then the rest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mcprl.runs.attempts import BenchResult
from mcprl.runs.examples import ExampleTask, Loss, Verdict
from mcprl.runs.figures import LEARNING_COLUMNS, RESULT_COLUMNS, learning, minutes, parts, percent, points, results
from mcprl.runs.learning import Part
from mcprl.runs.phrases import (
    certificate,
    clustering,
    control_name,
    doubts,
    headline,
    obeyed,
    preferred,
    retention,
    suite_name,
)
from mcprl.runs.proof import Pooled, Proof, Report
from mcprl.runs.unscored import Unscored
from mcprl.text import counted

CURVE: Final = "curve.png"
_MOST_LOSSES: Final = 40
_MOST_NOTES: Final = 20
_SUMMED: Final = ("seconds", "rollouts", "read", "sampled", "asked", "dollars")
_OWN_ADDRESS: Final = re.compile(r"https?://(localhost|127\.|\[::1\])")
_LONGEST_CELL: Final = 200
_VERDICTS: Final[dict[Verdict, str]] = {
    "lost": "Lost in training",
    "unsolved": "Still failing",
    "solved": "Solved after training",
}


def markdown(proof: Proof, *, curve: bool = True) -> str:
    """The proof as a Markdown page; `curve`: show the curve.png beside it."""
    return "\n\n".join(_page(proof, curve)) + "\n"


def _page(proof: Proof, curve: bool) -> Iterator[str]:
    yield f"# {inline(proof.name)}"
    if choice := preferred(proof):
        yield f"**{inline(choice)}**"
    yield f"**{inline(headline(proof))}**"
    if proof.is_control:
        yield f"> This run is a control ({control_name(proof)}): trained must be no better than the model it began as."
    yield grid([(suite_name(proof.lead), *RESULT_COLUMNS), *results(proof.test)])
    if len(proof.suites) > 1:
        yield grid(parts("suite", {suite_name(s): part for s, part in proof.suites.items()}))
    if kept := retention(proof):
        yield inline(kept)
    if ignored := obeyed(proof):
        yield inline(ignored)
    yield from _lost_section(proof.losses)
    if against := [f"- {inline(doubt)}" for doubt in doubts(proof)]:
        yield "## What speaks against it"
        yield "\n".join(against)
    if isinstance(proof, Pooled):
        yield "## By run"
        yield grid(parts("run", proof.runs))
    if curve and isinstance(proof, Report):
        yield f"## Learning curve\n\n![success on the validation tasks by step, and in the test]({CURVE})"
    if rows := list(learning(proof)):
        yield grid([("learning", *LEARNING_COLUMNS), *rows])
    if isinstance(proof, Report):
        yield from _bench_section(proof)
        yield from _spent_section(proof.spent)
    yield "## What the intervals are"
    yield (
        f"The models were tested on the same {counted(proof.test.n, 'task')}, and trained on none of them. "
        + clustering(proof.test)
    )
    yield from _part_sections(proof)
    if isinstance(proof, Report):
        yield from _run_sections(proof)


def _lost_section(losses: Sequence[Loss]) -> Iterator[str]:
    if not losses:
        return
    yield "## Lost tasks"
    rows = [
        (_cut(loss.request), _cut(loss.before), _cut(loss.after), _cut(loss.why), loss.suite)
        for loss in losses[:_MOST_LOSSES]
    ]
    yield grid([("request", "before training", "after training", "judged", "suite"), *rows], right=False)
    if len(losses) > _MOST_LOSSES:
        yield f"{len(losses) - _MOST_LOSSES} more are in report.json."


def _bench_section(report: Report) -> Iterator[str]:
    if rows := benchmarks(report.benches):
        yield "## Benchmarks made by others"
        yield "Their own tasks, tools and verdicts, none of which training saw. Intervals of a rate are Wilson's."
        yield grid(rows)


def benchmarks(results: Sequence[BenchResult]) -> list[tuple[str, ...]]:
    """A table of what benchmarks made by others measured, under a header; empty without any."""
    header = ("benchmark", "tasks", "base (95 %)", "trained (95 %)", "gain (95 %)")
    return [header, *map(_bench_row, results)] if results else []


def _bench_row(result: BenchResult) -> tuple[str, ...]:
    rates = (
        f"{percent(rate[0])} ({100 * rate[1]:.1f} to {100 * rate[2]:.1f})" if rate else "-"
        for rate in (result.base, result.trained)
    )
    gain = "{} ({} to {})".format(*map(points, result.gain)) if result.gain else "-"
    return (f"{result.bench} {result.measured}", str(result.tasks), *rates, gain)


def _spent_section(spent: Sequence[Part]) -> Iterator[str]:
    """Time and tokens, and what a judge was asked at which price. What a writer of tasks costs is not recorded."""
    if not spent:
        return
    together = Part("together", *(sum(getattr(part, name) for part in spent) for name in _SUMMED))
    rows: list[tuple[str, ...]] = [("part", "time", "rollouts", "tokens read", "tokens sampled")]
    for part in (*spent, together):
        rows.append((part.name, minutes(part.seconds), *(f"{n:,}" for n in (part.rollouts, part.read, part.sampled))))
    if together.asked:
        prices = [("judge asked", "dollars"), *((f"{part.asked:,}", _price(part)) for part in (*spent, together))]
        rows = [(*row, *price) for row, price in zip(rows, prices, strict=True)]
    yield "## Time, tokens and money" if together.asked else "## Time and tokens"
    yield grid(rows)


def _price(part: Part) -> str:
    return f"{part.dollars:.4f}" if part.dollars else "no price known" if part.asked else "-"


def _part_sections(proof: Proof) -> Iterator[str]:
    tables = {
        "tool": proof.per_tool,
        "kind": proof.per_kind,
        "form": proof.per_form,
        "difficulty": proof.per_difficulty,
    }
    if any(tables.values()):
        yield f"## By tool, kind, form and difficulty\n\nOf the suite {suite_name(proof.lead)}."
    for title, comparisons in tables.items():
        if comparisons:
            yield grid(parts(title, comparisons))
    if any("in this test" in name for name in proof.per_difficulty):
        yield (
            "Difficulty is the base model's failure rate on these very rollouts. The base column follows from it, and "
            "a task that the base model failed by bad luck looks like a gain. Only the trained column is informative."
        )


def _run_sections(report: Report) -> Iterator[str]:
    yield from _example_section(report.examples)
    yield from _unscored_section(report.unscored)
    yield "## How it was trained"
    yield "\n".join(f"- {inline(line)}" for line in (f"model: {report.model}", *certificate(report)))
    yield _stops(report.stops)
    if notes := [f"- {inline(note)}" for note in report.notes[:_MOST_NOTES]]:
        more = len(report.notes) - len(notes)
        yield "\n".join(["While it ran, it said:\n", *notes, *([f"- {more} more are in the journal."] if more else [])])
    yield "## Tools left out"
    yield "\n".join([f"- `{code(name)}`: {inline(why)}" for name, why in report.left_out.items()] or ["- None."])
    yield "## How to reproduce"
    yield _reproduce(report)


def _unscored_section(tasks: Sequence[Unscored]) -> Iterator[str]:
    if tasks:
        yield "## Requests without an expected answer"
        yield (
            "Nothing says what a right answer is, and no judge read them (`--judge ruler:default --judge-model MODEL` "
            "does), so they count in no rate. Read for yourself:"
        )
        yield grid([("request", "base model", "trained model"), *((t.request, t.base, t.trained) for t in tasks)])


def _example_section(examples: Sequence[ExampleTask]) -> Iterator[str]:
    if examples:
        yield "## Examples"
    for example in examples:
        yield f"### {_VERDICTS[example.verdict]}: {inline(example.request)}"
        for name, text, why in (
            ("Before", example.before, example.before_why),
            ("Trained", example.after, example.after_why),
        ):
            yield f"{name}: {inline(why)}\n\n{fenced(text)}"


def _stops(stops: Mapping[str, Mapping[str, int]]) -> str:
    reasons = sorted({reason for counts in stops.values() for reason in counts})
    rows = [(phase, *(str(counts.get(reason, 0)) for reason in reasons)) for phase, counts in stops.items() if counts]
    return grid([("how rollouts ended", *reasons), *rows])


def _reproduce(report: Report) -> str:
    """The command, with a server where the run's own may have gone: an address of this machine ends with its
    process."""
    moved = any(_OWN_ADDRESS.search(target) for target in report.targets)
    command = "mcprl train --config config.toml --name again" + (" --server URL-or-command" if moved else "")
    servers = ", ".join(f"`{code(target)}`" for target in report.targets)
    where = f"with the same server. The server was {servers}" if servers else "without a server"
    where += ", which was started for this run: name where it is now. " if moved else ". "
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return (
        f"{fenced(command, 'sh')}\n\n"
        f"in this folder, {where}Seed {report.seed}, "
        f"tool hash {report.tool_hash or 'not recorded'}, begun {report.date}, {versions}. "
        "The tasks are in `scenarios/`, every rollout with its token ids is in `journal.sqlite`."
    )


# --- Markdown ---------------------------------------------------------------------------------------------------------


def grid(rows: Sequence[tuple[str, ...]], *, right: bool = True) -> str:
    """A Markdown table. The first row is the head, the first column is left-aligned, the others right if `right`."""
    head, *body = [" | ".join(inline(cell).replace("|", "\\|") for cell in row) for row in rows]
    rule = " | ".join(["---", *["---:" if right else "---"] * (len(rows[0]) - 1)])
    return "\n".join(f"| {line} |" for line in (head, rule, *body))


def inline(text: str) -> str:
    """Text of a server or a model on one line, with the characters escaped that Markdown or HTML would interpret."""
    return re.sub(r"([\\`*_\[\]<>#&])", r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text for a Markdown code span."""
    return " ".join(text.replace("`", "'").split())


def fenced(text: str, language: str = "text") -> str:
    """A code block that its content cannot close."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}..."
