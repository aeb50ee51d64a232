"""Draw docs/images/architecture.svg and list the packages in docs/architecture.md, both from the code.

    python docs/draw_architecture.py               needs matplotlib (the extra `train`)
    python docs/draw_architecture.py --png FILE    the picture only, as PNG

The rows are the layers of the import-linter contract in pyproject.toml. The arrows are the imports between packages,
without those that follow from others (transitive reduction) and those of the vocabulary, which everything imports.
A package's line is the first sentence of its docstring. A test fails if the list differs from what this makes.
"""

import argparse
import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("architecture.md")
PICTURE = Path(__file__).parent / "images" / "architecture.svg"
BEGIN, END = "<!-- packages: begin -->\n", "<!-- packages: end -->\n"
VOCABULARY_LAYERS = 5
COLUMNS = {
    "cli": 2.0, "export": 0.4, "train": 1.5, "benches": 2.6, "evaluate": 3.6, "viewing": 4.7, "art": 2.0,
    "scenarios": 4.65, "judges": 1.0, "llm": 1.2, "serving": 2.3, "rollout": 4.1, "training": 4.05, "engines": 2.75,
    "models": 3.5, "runs": 0.4, "chat": 3.5, "servers": 4.7,
}  # fmt: skip
"""Where a box stands, from left to right, chosen so that arrows pass beside boxes; the contract gives its row."""

CAPTIONS = {
    "cli": "commands, flags, screen",
    "train": "the loop: read this first",
    "evaluate": "a model on a pack",
    "export": "a result to take away",
    "benches": "tasks and verdicts\nmade by others",
    "viewing": "a run in a browser",
    "art": "names in Python,\nparts of one's own",
    "scenarios": "probe, compose, prove,\nword, split",
    "judges": "verifier, RULER, checks",
    "llm": "language models that\njudge and write",
    "rollout": "policy x live server",
    "serving": "OpenAI's API over\na model, training too",
    "training": "rows, trie, GRPO, LoRA",
    "engines": "sampling: embedded,\nvLLM, Tinker",
    "models": "load, adapters, unsloth,\nTinker servers",
    "servers": "MCP sessions,\nprocesses, results",
    "chat": "templates, tool calls,\ntoken ids",
    "runs": "journal, proof, report,\ntrackers",
}
COLOURS = {
    "cli": "#d9d9d9", "train": "#f6c8a4", "evaluate": "#f6c8a4", "export": "#f6c8a4", "benches": "#f3e2a0",
    "viewing": "#f6c8a4", "art": "#d9d9d9",
    "scenarios": "#bfe0c5", "judges": "#f3e2a0", "llm": "#f3e2a0", "serving": "#d9d9d9",
    "rollout": "#f6c8a4", "training": "#b9d6ee",
    "engines": "#b9d6ee", "models": "#b9d6ee", "servers": "#bfe0c5", "chat": "#b9d6ee", "runs": "#dccbe8",
}  # fmt: skip


def layers() -> list[list[str]]:
    """The contract's layers, top down, each a list of packages and modules below `mcprl`."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(one for one in contracts if one["type"] == "layers" and one["containers"] == ["mcprl"])
    split = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    return [[name for name in layer if name != "__main__"] for layer in split if layer != ["__main__"]]


def imports() -> set[tuple[str, str]]:
    """(importer, imported) for the packages and flat modules below `mcprl`; imports for type checkers do not count."""
    edges: set[tuple[str, str]] = set()
    for path in (ROOT / "mcprl").rglob("*.py"):
        importer = path.relative_to(ROOT / "mcprl").with_suffix("").parts[0]
        for module in _imported(ast.parse(path.read_text())):
            imported = module.split(".")[1] if "." in module else ""
            if imported and imported != importer:
                edges.add((importer, imported))
    return edges


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "mcprl":
            yield from (f"mcprl.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mcprl."):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("mcprl."))
        elif isinstance(node, ast.Constant) and re.fullmatch(r"mcprl(\.\w+)+", str(node.value)):
            yield str(node.value)  # a module that the command line imports when a command needs it
        yield from _imported(node)


def reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges without those that a longer path implies."""

    def reaches(start: str, goal: str) -> bool:
        return any(b == goal or reaches(b, goal) for a, b in edges if a == start)

    return {(a, b) for a, b in edges if not any(reaches(c, b) for x, c in edges if x == a and c != b)}


def drawn() -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The rows of boxes, and the arrows between them."""
    rows = layers()[:-VOCABULARY_LAYERS]
    names = {name for row in rows for name in row}
    return rows, sorted(reduced({(a, b) for a, b in imports() if a in names and b in names}))


def legend() -> str:
    """Rows and arrows as text. It stands in the picture's metadata, so that a test sees when the picture is old."""
    rows, arrows = drawn()
    return " / ".join(" ".join(row) for row in rows) + " : " + ", ".join(f"{a} {b}" for a, b in arrows)


def draw(path: Path) -> None:
    """Write the picture, as SVG or PNG by the path's suffix."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mcprl"  # the same picture is the same file
    from matplotlib import pyplot
    from matplotlib.patches import FancyBboxPatch

    rows, arrows = drawn()
    vocabulary = "   ".join(name for layer in layers()[-VOCABULARY_LAYERS:] for name in layer)
    unit, box_w, box_h, row_h = 2.8, 2.5, 1.0, 1.55
    width = 5.25 * unit
    figure, axes = pyplot.subplots(figsize=(width * 0.72, (len(rows) * row_h + 1.2) * 0.62))
    places = {
        name: ((COLUMNS[name] + 0.06) * unit, (len(rows) - n) * row_h) for n, row in enumerate(rows) for name in row
    }
    for a, b in arrows:
        (x1, y1), (x2, y2) = places[a], places[b]
        if y1 == y2:
            side = box_w / 2 if x2 > x1 else -box_w / 2
            start, end = (x1 + side, y1), (x2 - side, y2)
        else:
            lean = max(-0.35 * box_w, min(0.35 * box_w, (x2 - x1) * 0.2))
            start, end = (x1 + lean, y1 - box_h / 2), (x2 - lean, y2 + box_h / 2)
        arrow = {"arrowstyle": "-|>", "color": "#666666", "lw": 1.1, "shrinkA": 0, "shrinkB": 1}
        axes.annotate("", end, start, arrowprops=arrow, zorder=1)
    for name, (x, y) in places.items():
        style: dict[str, Any] = {"boxstyle": "round,pad=0.02,rounding_size=0.1", "ec": "#444444", "lw": 0.9}
        axes.add_patch(
            FancyBboxPatch((x - box_w / 2, y - box_h / 2), box_w, box_h, fc=COLOURS[name], zorder=2, **style)
        )
        axes.text(x, y + 0.28, name, ha="center", va="center", fontsize=11, weight="bold", zorder=3)
        axes.text(x, y - 0.15, CAPTIONS[name], ha="center", va="center", fontsize=7.5, linespacing=1.1, zorder=3)
    slab = FancyBboxPatch((0.3, 0.05), width - 0.6, 0.6, fc="#eeeeee", ec="#444444", lw=0.9, boxstyle="square,pad=0.02")
    axes.add_patch(slab)
    axes.text(
        width / 2,
        0.36,
        f"vocabulary that everything imports:  {vocabulary}",
        ha="center",
        va="center",
        fontsize=10,
    )
    axes.set(xlim=(0, width), ylim=(-0.05, len(rows) * row_h + 0.7))
    axes.axis("off")
    metadata = {"Date": None, "Description": legend()} if path.suffix == ".svg" else None
    figure.savefig(path, bbox_inches="tight", pad_inches=0.05, metadata=metadata)
    pyplot.close(figure)


def packages() -> str:
    """A table with a line for each package, and for each flat file: a verb of the command line, or vocabulary."""
    return "\n".join(["| | |", "|---|---|", *_listed()])


def _listed() -> Iterator[str]:
    package = ROOT / "mcprl"
    for path in sorted(package.glob("*.py")):
        if path.name != "__init__.py":
            yield f"| `{path.relative_to(ROOT).as_posix()}` | {_sentence(path)} |"
    for path in sorted(package.rglob("__init__.py")):
        if path.parent != package:
            yield f"| `{path.parent.relative_to(ROOT).as_posix()}/` | {_sentence(path)} |"


def _sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.?]) (?=[A-Z`])", first)[0].replace("|", "\\|")


def page() -> str:
    """architecture.md with the list of packages as the code has it."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    return head + BEGIN + packages() + "\n" + END + rest.partition(END)[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--png", type=Path)
    png = parser.parse_args().png
    draw(png or PICTURE)
    if not png:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
