"""One update of a small model, printed as JSON: `python update_in_little_memory.py [LIMITED]`.

With an argument the address space is limited, after a first small update, to what the process has and 192 MiB.
"""

import json
import re
import resource
import sys
from dataclasses import replace
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model

from mcprl.config import TrainingConfig
from mcprl.models.load import LoadedModel
from mcprl.training.trainer import Trainer
from mcprl.types import Row
from support.models import random_model

torch.set_num_threads(1)
model = random_model(hidden_size=256, intermediate_size=1024, num_hidden_layers=4, vocab_size=64)
model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear"))
settings = TrainingConfig(bin_tokens=4096, autocast="off", max_sampler_gap=100.0)
trainer = Trainer(LoadedModel(model, None, (), "small", ""), settings)
generator = torch.Generator().manual_seed(0)
rows: list[tuple[Row, float]] = []
for number in range(16):
    ids = tuple(torch.randint(64, (400,), generator=generator).tolist())
    rows.append((Row(f"r{number}", ids, (False,) * 100 + (True,) * 300, (-4.0,) * 400), (number % 5 - 2) / 2))
trainer.update(
    [(replace(row, ids=row.ids[:120], mask=row.mask[:120], logprobs=row.logprobs[:120]), a) for row, a in rows[:2]]
)
if len(sys.argv) > 1:
    size = int(re.findall(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[0]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size + 192 * 2**20, resource.RLIM_INFINITY))
metrics = trainer.update(rows)
weights = torch.cat([parameter.detach().flatten()[:8] for parameter in trainer._parameters.values()])
sys.stdout.write(json.dumps({**metrics, "weights": weights.tolist()}))
