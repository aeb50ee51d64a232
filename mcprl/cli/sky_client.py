"""Launches a task through SkyPilot, in SkyPilot's own environment; `mcprl.cli.skypilot` runs it there.

    PYTHON -P sky_client.py TASK.yaml CLUSTER FOLDER-THERE FOLDER-HERE [--keep] [--secret NAME ...]

It follows the run, fetches its folder, and deletes the machine. On Ctrl-C it lets the run go on, and says how to look
at it.
"""

import argparse
import os
import subprocess
import sys


def main() -> int:
    import sky  # pyright: ignore[reportMissingImports]  in SkyPilot's environment alone

    parser = argparse.ArgumentParser()
    for name in ("task", "cluster", "there", "here"):
        parser.add_argument(name)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--secret", action="append", default=[])
    given = parser.parse_args()
    task = sky.Task.from_yaml(given.task)
    task.update_secrets({name: os.environ[name] for name in given.secret})
    try:
        job, _ = sky.stream_and_get(sky.launch(task, cluster_name=given.cluster))
        code = int(sky.tail_logs(given.cluster, job, follow=True) or 0)
    except KeyboardInterrupt:
        sys.stdout.write(f"\nthe run goes on: sky logs {given.cluster}; sky down {given.cluster} ends it\n")
        return 130
    os.makedirs(given.here, exist_ok=True)
    fetched = subprocess.run(["rsync", "-a", f"{given.cluster}:{given.there}", given.here], check=False).returncode
    if fetched:
        sys.stdout.write(f"the machine is kept, since this failed: rsync -a {given.cluster}:{given.there} .\n")
        return 2
    if not given.keep:
        sky.stream_and_get(sky.down(given.cluster))
    return code


if __name__ == "__main__":
    sys.exit(main())
