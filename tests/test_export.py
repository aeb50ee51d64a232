"""What a run leaves to take away: it loads elsewhere as the model that was tested, says what was proved, is pushed."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from peft import PeftModel
from safetensors import safe_open
from support.command_line import effective, mcprl
from support.configs import small
from support.fake_hub import hub
from support.paths import ROOT
from transformers import AutoModelForCausalLM, AutoTokenizer

from mcprl import export as exporting
from mcprl.art.own import train_adapter
from mcprl.chat.prompts import render
from mcprl.cli import options
from mcprl.config import Config, EngineConfig, ModelConfig
from mcprl.errors import JournalError
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import load_model
from mcprl.models.places import NANO
from mcprl.runs.journal import Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.runs.settings import parse, redacted
from mcprl.serving.origin import find_origin
from mcprl.types import Adapter, Tool

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning"),
]
IDS = torch.arange(40)[None] % 37 + 20


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of seconds with the nano policy, finished; its report says what a longer one might, all of it different."""
    folder = tmp_path_factory.mktemp("runs")
    config = small(Path("nano"), folder, training={"steps": 1, "warm_start_steps": 2})
    anyio.run(train_adapter, config)
    file = folder / "small" / "report.json"
    proof = json.loads(file.read_text())
    rates = {"base": (0.25, [0.05, 0.7]), "warm": (0.5, [0.15, 0.85]), "trained": (0.75, [0.3, 0.95])}
    for who, (success, interval) in rates.items():
        proof["test"][who] |= {"success": success, "ci95": interval}
    proof["test"] |= {"gain": 0.5, "gain_ci95": [0.1, 0.9], "rl_gain": 0.25, "rl_gain_ci95": [-0.1, 0.6]}
    proof["test"]["over_base"] |= {"mean": 0.5, "ci95": [0.1, 0.9]}
    proof["test"]["over_before"] |= {"mean": 0.25, "ci95": [-0.1, 0.6]}
    file.write_text(json.dumps(proof))
    return folder / "small"


def export(run: Path, *arguments: str) -> Path:
    out = run / "export" / ("merged" if "--merged" in arguments else "adapter")
    done = mcprl("export", run.name, "--runs-dir", str(run.parent), *arguments)
    assert done.code == 0, done.err
    assert done.out == f"written to {out}\n"
    return out


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        return model.eval()(input_ids=IDS).logits


@pytest.fixture(scope="module")
def expected(run: Path) -> torch.Tensor:
    """The logits of the model that the run tested, and that they are not the base model's."""
    with Journal.open(run) as journal:
        loaded, adapter = load_model(journal.config.model), chosen_adapter(journal)
    base = logits(loaded.model)
    load_adapter_weights(loaded, adapter.path)
    found = logits(loaded.model)
    assert (found - base).abs().max() > 0.1
    return found


def test_the_adapter_gives_the_tested_models_logits_in_peft(run: Path, expected: torch.Tensor) -> None:
    out = export(run)
    assert {path.name for path in out.iterdir()} == {
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "chat_template.jinja",
        "mcprl.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    base = AutoModelForCausalLM.from_pretrained(NANO, dtype=torch.float32)
    assert torch.equal(logits(PeftModel.from_pretrained(base, out)), expected)


def test_the_merged_model_gives_them_in_transformers_without_the_base_or_peft(
    run: Path, expected: torch.Tensor
) -> None:
    out = export(run, "--merged")
    export(run, "--merged")  # again: it replaces the first
    model = AutoModelForCausalLM.from_pretrained(out)
    assert (logits(model) - expected).abs().max() < 1e-4
    assert {path.suffix for path in out.iterdir()} == {".json", ".jinja", ".md", ".safetensors"}


def test_a_merged_model_over_a_bfloat16_base_keeps_the_whole_update_and_says_what_rounding_would_lose(
    run: Path, tmp_path: Path
) -> None:
    with Journal.open(run) as journal:
        adapter = chosen_adapter(journal)
    config = ModelConfig(dtype="bfloat16", lora_rank=4)
    lost = exporting.write_merged(config, adapter, tmp_path)
    loaded = load_model(config)
    load_adapter_weights(loaded, adapter.path)
    merged = AutoModelForCausalLM.from_pretrained(tmp_path)
    assert merged.dtype == torch.float32
    assert (logits(merged) - logits(loaded.model.float())).abs().max() < 1e-4
    rounded = logits(AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16))
    assert (rounded - logits(merged)).abs().max() > 1e-3
    assert 0.02 < lost < 1
    out = export(run, "--merged")
    share = json.loads((out / "mcprl.json").read_text())["lost_in_bfloat16"]
    assert f"would lose {100 * share:.0f} % of what training changed" in (out / "README.md").read_text()
    assert "vllm serve . --dtype float32" in (out / "README.md").read_text()


def test_the_tokenizer_shows_tools_as_in_training(run: Path) -> None:
    tools = [Tool("get_order", "Look an order up.", {"type": "object", "properties": {"id": {"type": "integer"}}})]
    said = [{"role": "user", "content": "Which order?"}]
    own = AutoTokenizer.from_pretrained(NANO)
    for out in (export(run), export(run, "--merged")):
        assert render(AutoTokenizer.from_pretrained(out), said, tools) == render(own, said, tools)


def test_the_adapter_has_the_form_that_vllm_takes(run: Path) -> None:
    out = export(run)
    settings = json.loads((out / "adapter_config.json").read_text())
    assert (settings["peft_type"], settings["r"], settings["bias"]) == ("LORA", 4, "none")
    assert not settings["modules_to_save"]
    assert not settings["use_dora"]
    with safe_open(out / "adapter_model.safetensors", framework="pt") as file:
        names = set(file.keys())
    assert names
    assert all(name.startswith("base_model.model.model.layers.") for name in names)
    assert all(name.endswith((".lora_A.weight", ".lora_B.weight")) for name in names)


def test_an_export_is_served_with_the_settings_that_it_was_trained_with(run: Path, tmp_path: Path) -> None:
    out = shutil.copytree(export(run), tmp_path / "made")
    about = json.loads((out / "mcprl.json").read_text())
    assert about["model"]["rslora"] is False
    made = {"rslora": True, "template_options": {"enable_thinking": "false"}}
    (out / "mcprl.json").write_text(json.dumps(about | {"model": about["model"] | made}))
    model = find_origin(str(out), str(tmp_path), EngineConfig()).config.model
    assert (model.rslora, model.template_options) == (True, {"enable_thinking": "false"})


def test_the_card_and_mcprl_json_say_what_the_report_says(run: Path) -> None:
    proof = json.loads((run / "report.json").read_text())
    for arguments in ([], ["--merged"]):
        out = export(run, *arguments)
        about = json.loads((out / "mcprl.json").read_text())
        card = (out / "README.md").read_text()
        assert about["test"]["n"] == proof["test"]["n"] == 4
        for who in ("base", "warm", "trained"):
            assert about["test"][who] == {key: proof["test"][who][key] for key in ("success", "ci95")}
            low, high = proof["test"][who]["ci95"]
            line = next(line for line in card.splitlines() if line.startswith("|") and who in line)
            assert f"{100 * proof['test'][who]['success']:.1f} %" in line
            assert f"{100 * low:.1f} to {100 * high:.1f} %" in line
        for name in ("gain", "rl_gain"):
            assert about["test"][name] == proof["test"][name]
            assert about["test"][f"{name}_ci95"] == proof["test"][f"{name}_ci95"]
            low, high = proof["test"][f"{name}_ci95"]
            gained = f"{100 * proof['test'][name]:+.1f} points | {100 * low:+.1f} to {100 * high:+.1f}"
            assert any(gained in line for line in card.splitlines())
        assert (about["tool_hash"], about["tool_parser"]) == (proof["tool_hash"], "hermes")
        assert about["tools"] == proof["tools"]
        assert all(f"`{tool}`" in card for tool in proof["tools"])
        assert about["command"] in card
        assert about["command"].startswith("mcprl train --server 'python")
        assert card.startswith("---\nlibrary_name: ")


def test_nothing_in_an_export_names_a_folder_of_this_machine(run: Path) -> None:
    for out in (export(run), export(run, "--merged")):
        for path in out.iterdir():
            content = path.read_bytes()
            for own in (ROOT, Path(sys.executable).parent, run.parent, Path.home()):
                assert str(own).encode() not in content, (path, own)


def test_the_command_on_the_card_makes_the_same_settings(tmp_path: Path) -> None:
    tree: dict[str, Any] = {
        "servers": [
            {"target": "npx a --dir '{scratch}/x'", "env": {"A": "$B"}, "timeout_s": 5.0},
            {"target": "http://h/mcp"},
        ],
        "tools": {"read_only": True, "deny": ["send_*", "rm"]},
        "model": {"name": "Qwen/Qwen3-4B", "quantization": "nf4"},
        "training": {"share_prefixes": False, "learning_rate": 5e-5, "steps": 3},
    }
    given = parse(tree)
    words = shlex.split(options.command(given))
    assert words[:2] == ["mcprl", "train"]
    made = effective(*words[1:])
    again = redacted(given)
    for server in again["servers"]:  # flags about servers hold for each of them
        server |= {"env": {"A": "$B"}, "timeout_s": 5.0}
    assert made == again


def push(run: Path, url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {"HF_ENDPOINT": url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(run / "hf")}
    command = [sys.executable, "-m", "mcprl", "export", run.name, "--runs-dir", str(run.parent), "--push", "ada/orders"]
    return subprocess.run(
        command, env={**os.environ, **given, **environment}, capture_output=True, text=True, timeout=300, check=False
    )


def test_an_export_is_pushed_to_the_hub_and_the_token_goes_nowhere_else(run: Path) -> None:
    with hub() as there:
        done = push(run, there.url, HF_TOKEN="hf_s3cret")
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"pushed to {there.url}/ada/orders\n")
        assert not done.stderr.startswith("Failed to load"), "bitsandbytes complains, which is in the environment"
    assert there.repos["ada/orders"]["visibility"] == "private"
    assert there.tokens == {"Bearer hf_s3cret"}
    out = run / "export" / "adapter"
    assert there.files == {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(there.blobs.values()) == {(out / "adapter_model.safetensors").read_bytes()}
    assert "s3cret" not in done.stdout + done.stderr
    for path in run.rglob("*"):
        assert not path.is_file() or b"hf_s3cret" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("refuse", "environment", "hint"),
    [(403, {"HF_TOKEN": "hf_s3cret"}, "403"), (0, {"HF_TOKEN": ""}, "set HF_TOKEN")],
    ids=["a hub that refuses", "no token"],
)
def test_a_push_that_fails_is_one_line(run: Path, refuse: int, environment: dict[str, str], hint: str) -> None:
    with hub(refuse) as there:
        done = push(run, there.url, **environment)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert hint in done.stderr
    assert "s3cret" not in done.stderr


def test_a_run_that_has_nothing_to_export_says_what_to_do(tmp_path: Path, run: Path) -> None:
    Journal.create(tmp_path / "begun", Config()).close()
    with Journal.create(tmp_path / "idle", Config()) as journal:
        journal.write_event("best", step=0, score=0.0)
    for name, hint in (("begun", "go on with: mcprl train --resume begun"), ("idle", "no trained adapter")):
        done = mcprl("export", name, "--runs-dir", str(tmp_path))
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert hint in done.err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    done = mcprl("export", str(run), "--out", str(tmp_path / "full"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "thesis" in "".join(path.name for path in (tmp_path / "full").iterdir())


def test_a_run_of_supervised_steps_alone_exports_the_best_of_them(tmp_path: Path) -> None:
    config = small(Path("nano"), tmp_path, training={"steps": 0})
    with Journal.create(tmp_path / "supervised", config) as journal:
        with pytest.raises(JournalError, match="is not finished"):
            chosen_adapter(journal)
        journal.write_event("warmed", step=0, score=0.1)
        with pytest.raises(JournalError, match="no trained adapter"):
            chosen_adapter(journal)
        warm = Adapter(str(tmp_path / "supervised" / "adapters" / "warm"), 0)
        Path(warm.path).mkdir(parents=True)
        journal.write_adapter(warm, kind="warm")
        assert chosen_adapter(journal) == warm


def test_a_quantized_base_is_merged_as_what_its_codes_stand_for(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    config = ModelConfig(quantization="nf4", lora_rank=4)
    with Journal.open(run) as journal:
        adapter = chosen_adapter(journal)
    loaded = load_model(config)
    load_adapter_weights(loaded, adapter.path)
    tmp_path.joinpath("out").mkdir()
    exporting.write_merged(config, adapter, tmp_path / "out")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    assert (logits(model) - logits(loaded.model)).abs().max() < 1e-3


def test_an_export_keeps_the_prompts_that_it_was_trained_with(tmp_path: Path) -> None:
    prompts = {"call_form": "any", "system_prompt": "Be brief.", "after_result": "Go on or answer."}
    config = small(Path("nano"), tmp_path, training={"steps": 0, "warm_start_steps": 1})
    named = ModelConfig.model_validate({"name": "nano", "lora_rank": 4, **prompts})
    config = config.model_copy(update={"model": named})
    anyio.run(train_adapter, config)
    out = export(tmp_path / "small")
    call = {"id": "a", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    called = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "a", "content": "total: 3"}
    saved: Any = AutoTokenizer.from_pretrained(out)
    assert (out / "chat_template.jinja").is_file()
    text = render(saved, [{"role": "user", "content": "How much?"}, called, result], [Tool("get_order")])
    assert "Be brief." in text
    assert "total: 3\n\nGo on or answer." in text
    served = find_origin(str(out), str(tmp_path), EngineConfig()).config.model
    assert {name: getattr(served, name) for name in prompts} == prompts
    card = (out / "README.md").read_text()
    assert (
        "the prompts that it was trained with (system prompt: Be brief., after a call's result: Go on or answer.)"
        in card
    )
    assert "it may write calls as a json fence or as bare JSON" in card
