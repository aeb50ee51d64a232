"""The sampled tokens as text: the pieces that transformers shows, and its import only where nothing else reads them."""

import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from support.journals import scenario, trajectory
from transformers import AutoTokenizer

from mcprl.config import ModelConfig
from mcprl.errors import McprlError
from mcprl.models.places import NANO
from mcprl.types import Completion, Trajectory
from mcprl.viewing.tokens import Token, sampled


def of_tokens(*ids: int) -> Trajectory:
    turn = Completion({}, (1,), ids, (-1.0,) * len(ids), "stop")
    return Trajectory("t", "s", (), (turn,))


def test_every_piece_of_the_vocabulary_is_the_one_that_transformers_shows() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    (shown,) = sampled(ModelConfig(), of_tokens(*range(len(tokenizer))))
    assert [token.text for token in shown] == [tokenizer.decode([at]) for at in range(len(tokenizer))]
    assert shown[tokenizer.eos_token_id].text == "<|im_end|>"


def test_neither_torch_nor_transformers_is_imported() -> None:
    script = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # importing it raises ImportError
import mcprl.viewing.app
from mcprl.config import ModelConfig
from mcprl.types import Completion, Trajectory
from mcprl.viewing.tokens import sampled
turn = Completion({}, (1,), (70, 80), (-1.0, -1.0), "stop")
print(len(sampled(ModelConfig(), Trajectory("t", "s", (), (turn,)))[0]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_a_folder_without_that_file_is_left_to_transformers_whose_error_is_one_line(tmp_path: Path) -> None:
    folder = copytree(NANO, tmp_path / "bare", ignore=lambda *_: ["tokenizer.json", "model.safetensors"])
    with pytest.raises(McprlError, match=r"^model .*bare"):
        sampled(ModelConfig(name=str(folder)), of_tokens(70))


def test_a_rollout_that_was_not_measured_has_no_gaps() -> None:
    (shown,) = sampled(ModelConfig(), trajectory(scenario(0), "t", good=True))
    assert [(type(each), each.gap, each.style) for each in shown] == [(Token, None, "")]
