"""`mcprl doctor`: a line for each thing with what to do, and an exit code that scripts can use."""

import json
from importlib import metadata
from pathlib import Path
from shutil import copytree

import pytest
from support.command_line import mcprl

from mcprl.cli.doctor import Finding, examine
from mcprl.models.places import NANO
from mcprl.runs.settings import parse


@pytest.fixture(autouse=True)
def no_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPRL_VLLM", str(tmp_path / "none"))


def found(tmp_path: Path, **sections: object) -> dict[str, Finding]:
    given = parse({"runs_dir": str(tmp_path / "runs"), **sections})
    return {finding.name: finding for finding in examine(given)}


def test_a_machine_that_can_run_the_default_is_fit(tmp_path: Path) -> None:
    findings = found(tmp_path)
    assert {finding.state for finding in findings.values()} <= {"ok", "warn"}
    assert {"python", "packages", "gpu", "disk", "sockets", "model", "parser", "tokens", "vllm"} <= set(findings)
    assert f"torch {metadata.version('torch')}" in findings["packages"].text
    assert findings["parser"].text.startswith("hermes, several calls a turn; to serve it: vLLM 0.8.5 or later, --tool-")


def test_vllm_that_is_wanted_and_not_there_is_a_failure_with_what_to_run(tmp_path: Path) -> None:
    assert found(tmp_path)["vllm"].state == "ok"
    asked = found(tmp_path, engine={"kind": "vllm"})["vllm"]
    assert asked.state == "fail"
    assert asked.text.endswith("run: mcprl setup vllm")
    foreign = found(tmp_path, engine={"base_url": "http://127.0.0.1:9/v1"})["vllm"]
    assert foreign.state == "fail"
    assert "no vLLM server answers at http://127.0.0.1:9/v1" in foreign.text


def test_a_vllm_environment_that_is_broken_is_found_out(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text("#!/bin/sh\necho 'ImportError: libtorch.so' >&2; exit 1\n")
    (folder / "bin" / "python").chmod(0o755)
    (folder / "mcprl.json").write_text(json.dumps({"version": "0.32.0", "build": "cpu"}))
    broken = found(tmp_path, engine={"kind": "vllm", "environment": str(folder)})["vllm"]
    assert broken.state == "fail"
    assert "is broken (ImportError: libtorch.so); delete it and run: mcprl setup vllm" in broken.text


def test_a_model_whose_template_takes_no_tools_or_that_reads_too_little_is_said_so(tmp_path: Path) -> None:
    folder = copytree(NANO, tmp_path / "deaf", ignore=lambda *_: ["chat_template.jinja", "model.safetensors"])
    (Path(folder) / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    deaf = found(tmp_path, model={"name": str(folder)})["model"]
    assert deaf.state == "fail"
    assert "does not show tools" in deaf.text
    short = found(tmp_path, rollout={"max_total_tokens": 100_000})["tokens"]
    assert short.state == "warn"
    assert "the model reads 4096 tokens, rollout.max_total_tokens is 100000" in short.text


def test_a_package_of_the_wrong_version_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "2.1.0" if name == "torch" else real(name))
    packages = found(tmp_path)["packages"]
    assert packages.state == "fail"
    assert "torch is 2.1.0, not <3,>=2.13: run pip install 'mcprl[train]'" in packages.text


@pytest.mark.parametrize(("engine", "code"), [("embedded", 0), ("vllm", 1)])
def test_the_exit_code_says_whether_something_must_be_put_right(engine: str, code: int, tmp_path: Path) -> None:
    done = mcprl("doctor", "--engine", engine, "--runs-dir", str(tmp_path))
    assert done.code == code, done.out + done.err
    assert ("1 to be put right" in done.err) == (code == 1)
