"""What users install is whole: wheel and sdist build, install in an empty environment, and run there without torch."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from support.paths import ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    return folder


def install(what: Path, environment: Path, *options: str) -> None:
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--python",
        environment / "bin" / "python",
        "install",
        "--no-compile",
    )
    run(*pip, *options, what, cwd=environment)


def test_the_wheel_holds_the_data_that_the_repository_has(built: Path) -> None:
    names = set(zipfile.ZipFile(next(built.glob("*.whl"))).namelist())
    tracked = run(
        "git", "ls-files", "mcprl", "judges", "presets", "scenarios", "examples/servers/shop.py", cwd=ROOT
    ).split()
    wanted = {
        name if name.startswith("mcprl/") else f"mcprl/_data/{name}"
        for name in tracked
        if (ROOT / name).is_file() and not name.startswith(("scenarios/people/", "scenarios/asked/"))
    }
    assert wanted - names == set()
    assert not any(part in name for name in names for part in ("people", "/asked/")), (
        "people's requests and those that models asked are test tasks: nothing that ships reads them"
    )
    assert not [
        name for name in names if "__pycache__" in name or name.startswith(("tests/", "examples/", "recipes/", "docs/"))
    ]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_what_the_container_file_copies_is_enough_to_build_the_same_wheel(built: Path, tmp_path: Path) -> None:
    copied = [
        line.split()[1:] for line in (ROOT / "Containerfile").read_text().splitlines() if line.startswith("COPY ")
    ]
    for *sources, target in copied:
        for source in sources:
            place = tmp_path / target / (Path(source).name if target.endswith("/") else "")
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, place)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist", cwd=tmp_path)
    wheels = [zipfile.ZipFile(next(folder.glob("*.whl"))) for folder in (built, tmp_path / "dist")]
    assert wheels[0].namelist() == wheels[1].namelist()


def test_the_wheel_runs_without_torch_and_says_what_training_needs(built: Path, empty: Path) -> None:
    install(next(built.glob("*.whl")), empty)
    mcprl = empty / "bin" / "mcprl"
    assert "inspect" in run(mcprl, "--help", cwd=empty)
    assert "8 of 8 tools may be called" in run(mcprl, "inspect", "demo:shop", cwd=empty)
    assert "1 of 2 tools may be called" in run(
        mcprl,
        "inspect",
        "--deny-tool",
        "convert_*",
        "--server",
        Path(sys.executable).parent / "mcp-server-time",
        cwd=empty,
    )
    listed = "print(*sorted(path.name for path in bundled_folder('judges').iterdir()))"
    find = f"from mcprl.files import bundled_folder; {listed}"
    bundled = run(empty / "bin" / "python", "-c", find, cwd=empty).split()
    assert bundled == sorted(path.name for path in (ROOT / "judges").iterdir())
    assert "torch" not in run(sys.executable, "-m", "pip", "--python", empty / "bin" / "python", "list", cwd=empty)
    train = [str(mcprl), "train", "--server", str(Path(sys.executable).parent / "mcp-server-time")]
    done = subprocess.run(train, cwd=empty, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "pip install 'mcprl[train]'" in done.stderr


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    run("tar", "-xzf", next(built.glob("*.tar.gz")), cwd=tmp_path)
    source = next(tmp_path.iterdir())
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", cwd=source)
    first, again = (zipfile.ZipFile(next(folder.glob("*.whl"))).namelist() for folder in (built, tmp_path / "again"))
    assert sorted(first) == sorted(again)
