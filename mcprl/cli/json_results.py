"""What `--json` prints: the results of commands as one object each, for programs."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from mcprl.types import Call

if TYPE_CHECKING:
    from mcprl.cli.headroom import Headroom
    from mcprl.evaluate import Evaluation
    from mcprl.runs.journal import Journal
    from mcprl.runs.proof import Proof, Report
    from mcprl.scenarios.packs.pack import Pack
    from mcprl.scenarios.packs.quality import Quality
    from mcprl.servers.server import Server


def of_server(server: "Server") -> dict[str, Any]:
    """The servers as connecting showed them, and each listed tool with whether it may be called."""
    from mcprl.cli.prompt_cost import prompt_cost

    cost = prompt_cost(server.tools, server.instructions)
    tools = [
        {
            "server": status.server,
            "name": status.name,
            "marked": status.marked,
            "allowed": status.allowed,
            "reads": status.tool.read_only if status.tool else None,
            "behind": status.behind,
            "reason": status.reason,
            "tokens": cost.tools.get(status.name),
            "input_schema": status.tool.input_schema if status.tool else None,
        }
        for status in server.listing
    ]
    servers = [asdict(facts) for facts in server.describe()]
    return {"servers": servers, "tools": tools, "prompt_tokens": cost.prompt, "counted_by": cost.how}


def of_pack(pack: "Pack", quality: "Quality | None", saved: str | None) -> dict[str, Any]:
    """The numbers of a pack, and where it was saved."""
    return {
        "saved": saved,
        "tasks": {split: len(pack.split(split)) for split in ("train", "val", "test")},
        "coverage": [
            {"part": name, "train": train, "val": val, "test": test} for name, train, val, test in pack.coverage()
        ],
        "left_out": dict(pack.left_out),
        "quality": quality.as_toml() if quality else None,
    }


def of_evaluation(evaluation: "Evaluation") -> dict[str, Any]:
    """The rates with their intervals, and each task with how it went."""
    return {
        "model": evaluation.model,
        "overall": _rate(evaluation.overall),
        "by_suite": {name: _rate(rate) for name, rate in evaluation.by_suite.items()},
        "by_kind": {name: _rate(rate) for name, rate in evaluation.by_kind.items()},
        "broken": evaluation.broken,
        "unjudged": evaluation.unjudged,
        "cost": evaluation.cost,
        "rollouts": evaluation.rollouts,
        "tasks": [
            {
                "id": result.scenario.id,
                "suite": result.scenario.suite,
                "kind": result.scenario.kind,
                "request": result.scenario.request,
                "success": result.success,
                "calls": [asdict(Call(call.tool, call.arguments or {})) for call in result.trajectory.calls],
                "answer": result.trajectory.answer,
                "stop": result.trajectory.stop,
                "why": result.why,
            }
            for result in evaluation.results
        ],
    }


def _rate(rate: tuple[int, float, float, float]) -> dict[str, Any]:
    n, success, low, high = rate
    return {"n": n, "success": success, "ci95": [low, high]}


def of_outcome(report: "Report", folder: Path) -> dict[str, Any]:
    """A run's report with where it is, where the trained adapter is, and the minutes that it took."""
    from mcprl.cli.run_tables import tested_adapter

    places = {"run": str(folder), "report_html": str(folder / "report.html"), "adapter": tested_adapter(folder)}
    return {**places, "minutes": report.wall_s / 60, "report": of_proof(report)}


def of_proof(proof: "Proof") -> dict[str, Any]:
    """A report, as report.json has it."""
    return TypeAdapter(type(proof)).dump_python(proof, mode="json")


def of_run(journal: "Journal") -> dict[str, Any]:
    """A run's settings, the metrics of its steps, its adapters, and its report so far."""
    from mcprl.runs.learning import wall_s
    from mcprl.runs.report import build
    from mcprl.runs.settings import redacted

    kinds = ("warm", "best")
    return {
        "run": str(journal.folder),
        "settings": redacted(journal.config),
        "minutes": wall_s(journal) / 60,
        "steps": [{"step": step.step, **step.metrics} for step in journal.steps()],
        "adapters": {kind: saved.adapter.path for kind in kinds for saved in journal.adapters(kind)[-1:]},
        "report": of_proof(build(journal.folder)),
    }


def of_headroom(headroom: "Headroom") -> dict[str, Any]:
    """What `--dry-run` measured."""
    tasks = [
        {"request": group.scenario.request, "solved": solved}
        for group, solved in zip(headroom.groups, headroom.solved, strict=True)
    ]
    return {"tasks": tasks, **headroom.shares, "minutes": headroom.minutes, "judge": headroom.judge}
