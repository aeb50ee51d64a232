"""Makes `mcprl/models/trials.json`: how the packaged models that know tools write calls, and with which wording they
answer (`mcprl/engines/trial.py`), so that a first run need not find it out.

    python recipes/trials.py [NAME ...]     those that are set up (`mcprl setup model NAME`); minutes of two cores each
"""

import json
import sys

import anyio

from mcprl.config import Config, ModelConfig
from mcprl.engines import trial
from mcprl.engines.machine import resolve
from mcprl.models.load import load_model
from mcprl.models.packaged import MODELS, require


def main(names: list[str]) -> None:
    shipped = json.loads(trial.SHIPPED.read_text()) if trial.SHIPPED.exists() else {}
    for name in names:
        require(name)
        config = resolve(Config(model=ModelConfig(name=name)))
        model = load_model(config.model)
        run = anyio.run(trial.run_trials, model, config.rollout, print, True)
        print(trial.summary(name, run, model.mended))
        shipped[name] = {"of": trial.asked(), "trials": trial.dumped(run)}
        trial.SHIPPED.write_text(json.dumps(shipped, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name, model in MODELS.items() if not model.starter])
