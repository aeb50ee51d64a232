"""A Hugging Face hub on loopback, as far as uploads go: repositories, git blobs in commits, large files through LFS."""

import base64
import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

LARGE = (".safetensors", ".bin")


@dataclass
class Hub:
    """What was uploaded, and how: repositories with their settings, files, the bearer tokens that came along."""

    url: str = ""
    refuse: int = 0
    repos: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    tokens: set[str] = field(default_factory=set[str])
    paths: list[str] = field(default_factory=list[str])

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.repos[name] = asked
            return {"url": f"{self.url}/{name}", "name": name, "id": name}
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path.endswith("/preupload/main"):
            names = [file["path"] for file in json.loads(body)["files"]]
            modes = [{"path": n, "uploadMode": "lfs" if n.endswith(LARGE) else "regular"} for n in names]
            return {"files": [mode | {"shouldIgnore": False} for mode in modes]}
        if path.endswith(".git/info/lfs/objects/batch"):
            upload = lambda oid: {"upload": {"href": f"{self.url}/lfs/{oid}"}}  # noqa: E731
            objects = [asked | {"actions": upload(asked["oid"])} for asked in json.loads(body)["objects"]]
            return {"transfer": "basic", "objects": objects}
        assert path.endswith("/commit/main"), path
        for line in body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                self.files[value["path"]] = self.blobs[value["oid"]]
        repo = path.removeprefix("/api/models/").removesuffix("/commit/main")
        return {"commitUrl": f"{self.url}/{repo}/commit/{'1' * 40}", "commitOid": "1" * 40, "success": True}


@contextmanager
def hub(refuse: int = 0) -> Generator[Hub]:
    """A hub that lives as long as the block; with `refuse` it answers everything with that status."""
    there = Hub(refuse=refuse)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else self._chunks()
            path = self.path.partition("?")[0]
            there.paths.append(path)
            if token := self.headers.get("Authorization"):
                there.tokens.add(token)
            status, answer = there.refuse or 200, {"error": "no"} if there.refuse else {}
            if not there.refuse and self.command == "PUT":
                assert path == f"/lfs/{hashlib.sha256(body).hexdigest()}"
                there.blobs[path.rpartition("/")[2]] = body
            elif not there.refuse:
                answer = there.post(path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _chunks(self) -> bytes:
            body = b""
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            return body

        do_POST = do_PUT = handle_one

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the standard library
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        there.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield there
        finally:
            server.shutdown()
            thread.join()
