"""README and docs are true: snippets run, commands parse, links and paths exist, what is generated is up to date."""

import ast
import importlib
import re
import runpy
import shlex
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from support.forked import Forked
from support.loopback import shop_over_http
from support.scripts import script, snippets

from mcprl.cli import options
from mcprl.cli.commands import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("[a-z]*/README.md")} - {ROOT / "CHANGELOG.md"}
)  # not what tools write into folders of their own
OTHERS = {  # options of programs that others wrote
    "--local-timezone", "--repository", "--enable-lora", "--generation-config", "--tensor-parallel-size",
    "--index-url", "--from", "--rm", "--db-path", "--logdir", "--log-dir", "--task", "--userns",
}  # fmt: skip
HOW_ANY_FLAG_IS_NAMED = {"--flag", "--no-flag", "--help"}
NOT_OURS = re.compile(r"^```python.*?^```$|`(?:make|pip|python|git|ruff|pytest) [^`]*`", re.MULTILINE | re.DOTALL)
FOLDERS = r"(?:mcprl|docs|examples|recipes|benchmarks|judges|presets|scenarios|tests|\.github|\.ci)"


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    info: str
    text: str


def blocks(language: str) -> list[Block]:
    """The fenced blocks of a language on all pages."""
    found: list[Block] = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match[1], match[2].strip(), match[3]))
    return [block for block in found if block.language == language]


def commands() -> Iterator[tuple[str, str]]:
    """(page, command line) of every `mcprl ...`: in sh blocks, and in running text where it is whole."""
    for block in blocks("sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.startswith("mcprl "):
                yield block.page.name, line
    for page in PAGES:
        for line in re.findall(r"`(mcprl [a-z][^`\n]*)`", page.read_text()):
            if not re.search(r"\.\.\.|[\[|{]", line):
                yield page.name, line


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters of a command line, after click and the configuration have checked them; nothing is run."""
    command: click.Command = cli
    context = click.Context(cli, info_name="mcprl")
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert name
        assert found
        command = found
        if isinstance(command, click.Group) and {*words[:1]} & {*command.commands}:
            context = click.Context(command, info_name=name, parent=context)
        else:
            context = command.make_context(name, words, parent=context)
            break
    options.config({}, context.params)
    return context.params


def run(cwd: Path, work: Callable[..., None], *arguments: object) -> str:
    """What that prints, in a process of its own in that folder."""
    with Forked(cwd, work, *arguments) as running:
        printed, error = running.stdout.read(), running.stderr.read()
        assert running.ends() == 0, printed + error
    return printed


@pytest.fixture(scope="module")
def shop() -> Generator[str]:
    with shop_over_http() as url:
        yield url


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    lost = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    paths = re.findall(rf"`({FOLDERS}/[\w./-]+)`", text)
    lost += [path for path in paths if not (ROOT / path).exists()]
    assert lost == []


@pytest.mark.parametrize(("page", "line"), sorted({*commands()}))
def test_each_command_line_parses(page: str, line: str) -> None:
    assert parsed(shlex.split(line, comments=True)[1:]) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_option_that_is_named_exists(page: Path) -> None:
    text = NOT_OURS.sub("", page.read_text())
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]\b(?!-)", text)) - OTHERS
    others = ("benchmarks/*.py", "recipes/*/*.py", "docs/*.py", "examples/servers/*.py")
    for program in (path for pattern in others for path in ROOT.glob(pattern)):
        named -= set(re.findall(r"--[a-z][a-z0-9-]*", program.read_text()))
    assert named - {*own_options(cli)} - HOW_ANY_FLAG_IS_NAMED == set()


def own_options(command: click.Command) -> Iterator[str]:
    """The options of a command and of those below it."""
    for parameter in command.get_params(click.Context(command)):
        yield from (*parameter.opts, *parameter.secondary_opts)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from own_options(below)


@pytest.mark.parametrize(
    "block", [block for block in blocks("python") if block.info], ids=lambda block: block.page.name
)
def test_a_snippet_that_cannot_run_here_compiles_and_its_imports_exist(block: Block) -> None:
    assert re.fullmatch(r"notest: \w.*", block.info), "say why a snippet cannot run"
    tree = compile(block.text, str(block.page), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", sorted({block.page for block in blocks("python") if not block.info}), ids=lambda page: page.name
)
def test_the_snippets_of_a_page_run_in_order(page: Path, shop: str, tmp_path: Path) -> None:
    files: list[Path] = []
    for block in blocks("python"):
        if block.page == page and not block.info:
            files.append(tmp_path / f"{page.stem}-line-{block.line}.py")
            files[-1].write_text(block.text)
    run(tmp_path, snippets, shop, *files)


@pytest.mark.slow
def test_the_example_scripts_run(shop: str, tmp_path: Path) -> None:
    scripts = sorted((ROOT / "examples").glob("*.py"))
    assert {script.stem for script in scripts} == {"own_reward", "read_a_run", "train_on_a_server"}
    assert all(len(script.read_text().splitlines()) < 60 for script in scripts)
    examples = ROOT / "examples"
    printed = run(tmp_path, script, examples / "train_on_a_server.py", shop, "--name", "short")
    assert re.search(r"4 held-out tasks: [\d.]+% before, [\d.]+% after\ngain [+-]", printed)
    printed = run(tmp_path, script, examples / "read_a_run.py", "runs/short")
    assert "of 8 tasks" in printed
    assert "step   1: training success" in printed
    printed = run(tmp_path, script, examples / "own_reward.py", shop, "What does SKU-318 cost?", "Who is C-1042?")
    assert "step 1: exact tokens 100%" in printed


def test_the_table_of_settings_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_config.py"))["page"]()
    assert made == (ROOT / "docs" / "config.md").read_text(), "run: python docs/make_config.py"


def test_the_picture_of_the_architecture_and_its_list_of_packages_are_up_to_date() -> None:
    drawing = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    hint = "run: python docs/draw_architecture.py"
    assert drawing["page"]() == (ROOT / "docs" / "architecture.md").read_text(), hint
    assert drawing["legend"]() in (ROOT / "docs" / "images" / "architecture.svg").read_text(), hint
