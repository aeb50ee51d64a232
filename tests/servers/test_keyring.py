"""A login that a real keyring keeps for the next process: gnome-keyring on a D-Bus session of its own."""

import importlib.util
import json
import os
import secrets
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.loopback import free_port, http
from support.paths import SERVERS

MISSING = [
    *(name for name in ("dbus-run-session", "gnome-keyring-daemon") if not shutil.which(name)),
    *(name for name in ("keyring", "secretstorage") if not importlib.util.find_spec(name)),
]

SESSION = """
printf %s "$PASSWORD" | gnome-keyring-daemon --unlock --components=secrets >/dev/null
"$PYTHON" -c "$COMMAND" "$URL" terminal && exec "$PYTHON" -c "$COMMAND" "$URL"
"""
COMMAND = """
import sys, urllib.request
import anyio
from mcprl.config import ServerConfig
from mcprl.servers import oauth
from mcprl.servers.server import connect

oauth._has_terminal = lambda: "terminal" in sys.argv
oauth.webbrowser.open = lambda url: urllib.request.urlopen(url).read()

async def main():
    async with connect([ServerConfig(target=sys.argv[1], oauth=True)]) as server, server.session() as session:
        print("error" if (await session.call("whisper", {})).is_error else "whispered")

anyio.run(main)
"""


@pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)} (Debian: gnome-keyring dbus; pip: keyring)")
def test_a_login_is_read_from_the_systems_keyring_by_the_next_process(tmp_path: Path) -> None:
    port = free_port()
    with http([sys.executable, SERVERS / "guarded.py", port], port) as url:
        own = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":9"}
        given = {"PASSWORD": secrets.token_hex(), "PYTHON": sys.executable, "COMMAND": COMMAND, "URL": url}
        done = subprocess.run(
            ["dbus-run-session", "--", "sh", "-c", SESSION],
            env=os.environ | own | given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        with urllib.request.urlopen(url.replace("/mcp", "/log")) as reply:
            asked, tokens = json.load(reply)
    assert done.stdout.split() == ["whispered", "whispered"], done.stderr
    assert asked == ["register", "authorize", "code"], "the second process has no browser, and needs none"
    assert "the login lasts as long as this command" not in done.stderr
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"GnomeKeyring" in content for content in kept)
    assert not [token for token in tokens for content in kept if token.encode() in content]
