"""Addresses in what a server sends are data: none is ever fetched, in a whole run and in what follows it."""

import sys
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support.command_line import mcprl
from support.configs import small
from support.paths import SERVERS

from mcprl.export import export
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config

# transformers 5.23 warns of a name that peft 0.21 still uses.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")


@contextmanager
def canary() -> Generator[tuple[str, list[str]]]:
    """The address of an HTTP server, and what was asked of it."""
    hits: list[str] = []

    class CountingHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_PUT = do_GET

        def log_request(self, code: object = 0, size: object = 0) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), CountingHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", hits
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_no_address_that_a_server_names_is_fetched_in_a_whole_run(tiny_model: Path, tmp_path: Path) -> None:
    with canary() as (address, hits):
        target = f"{sys.executable} {SERVERS / 'canary.py'} {address}"
        instructed = {"tools": {"max_instruction_bytes": 2_000}, "training": {"warm_start_steps": 1}}
        # so many that the calls of both reading tools are among their plans, whatever a busy machine has left out
        tasks = {"train": 20, "val": 3, "test": 4, "test_forms": 0, "probe_calls": 60, "repeat_after_s": 0.1}
        config = small(tiny_model, tmp_path, servers=[{"target": target}], scenarios=tasks, **instructed)
        (tmp_path / "run.toml").write_text(dump_config(config))
        shown = mcprl("inspect", "--server", target)
        trained = mcprl("train", "--config", str(tmp_path / "run.toml"))
        assert trained.code == 0, trained.err
        for command in ("report", "runs show"):
            assert mcprl(*command.split(), str(tmp_path / "small")).code == 0
        export(tmp_path / "small", tmp_path / "exported", merged=False, command="mcprl train")
        assert hits == []

        # The addresses were there to be fetched, and a request would have been counted.
        assert "get_page" in shown.out
        with Journal.open(tmp_path / "small") as journal:
            seen = [message["content"] for talk in journal.conversations("demonstration") for message in talk]
            called = {call.tool for task in journal.scenarios() for call in task.plan}
        assert any(address in str(content) for content in seen)
        assert {"list_items", "get_item"} <= called
        with urllib.request.urlopen(f"{address}/seen") as reply:
            assert reply.status == 200
        assert hits == ["/seen"]
