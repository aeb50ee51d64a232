"""Train an adapter for a server from Python: what `mcprl train` does, with a `Config`.

    python examples/train_on_a_server.py http://127.0.0.1:8000/mcp
    python examples/train_on_a_server.py "mcp-server-time --local-timezone UTC" --steps 80 --tasks 640

One step on a dozen tasks shows how it works, in a minute, and teaches little; the second line is a whole run.
"""

import argparse

import anyio

from mcprl import Config, train_adapter
from mcprl.config import EvalConfig, ScenarioConfig, ServerConfig, TrainingConfig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", help="a URL, or a command that speaks MCP on stdio")
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--name", default="", help="the run's folder below runs/")
    asked = parser.parse_args()

    config = Config(
        name=asked.name,
        servers=(ServerConfig(target=asked.server),),
        scenarios=ScenarioConfig(
            train=asked.tasks,
            val=max(2, asked.tasks // 16),
            test=max(4, asked.tasks // 8),
            test_forms=max(4, asked.tasks // 8),
            probe_calls=max(100, asked.tasks),
            floor=asked.tasks >= 60,
        ),
        training=TrainingConfig(
            steps=asked.steps, scenarios_per_step=4, group_size=4, warm_start_steps=2, warm_start_plans=8
        ),
        eval=EvalConfig(rollouts=1),
    )
    report = anyio.run(train_adapter, config)

    test = report.test
    if test.base and test.trained and test.gain_ci95:
        low, high = test.gain_ci95
        print(f"{test.n} held-out tasks: {test.base.success:.1%} before, {test.trained.success:.1%} after")
        print(f"gain {test.gain:+.1%} (95 % interval {low:+.1%} to {high:+.1%})")


if __name__ == "__main__":
    main()
