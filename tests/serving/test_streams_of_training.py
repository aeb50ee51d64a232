"""A stream of training shows that it is alive, and one that falls silent is made again."""

import json

import anyio
import anyio.lowlevel
import httpx2
import pytest

from mcprl.art import backends
from mcprl.art.backends import ModelConnection
from mcprl.errors import EngineError
from mcprl.serving import jobs
from mcprl.serving.jobs import Job

HEAD, STEP, LAST = ({"type": kind} for kind in ("job", "gradient_step", "adapter"))


def line(event: dict[str, str]) -> bytes:
    return json.dumps(event).encode() + b"\n"


class Network(httpx2.AsyncBaseTransport):
    """Answers the n-th request with the n-th parts, of which `None` is silence until the client's timeout."""

    def __init__(self, *answers: list[bytes | None]) -> None:
        self.answers, self.asked = list(answers), list[str]()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(f"{request.method} {request.url.raw_path.decode()}")
        parts, silence_s = self.answers.pop(0) if self.answers else [None], request.extensions["timeout"]["read"]
        if parts == [None]:
            raise httpx2.ConnectError("no route to host")

        async def content():
            for part in parts:
                if part is None:
                    raise httpx2.ReadTimeout(f"{silence_s} s")
                yield part

        return httpx2.Response(200, content=content())


async def events(network: Network) -> list[dict[str, str]]:
    async with httpx2.AsyncClient(transport=network, base_url="http://there") as client:
        connection = ModelConnection(client, "model", "base", "http://there/v1")
        return [event async for event in connection.lines("/_train_model", {}, "the-job")]


async def test_an_update_without_news_sends_spaces_that_readers_of_lines_do_not_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "ALIVE_S", 0.001)
    job, parts = Job("a"), list[str]()

    async def follow() -> None:
        async for part in job.follow():
            parts.append(part)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        while parts.count(" ") < 3:
            await anyio.lowlevel.checkpoint()
        job.say(type="adapter")
        job.end()
    (read,) = "".join(parts).splitlines()
    assert (read[:3], json.loads(read)) == ("   ", {"type": "adapter"})


async def test_a_stream_that_falls_silent_is_made_again_where_it_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends.anyio, "sleep", lambda _: anyio.lowlevel.checkpoint())
    network = Network([line(HEAD), b"  ", line(STEP), b" ", None], [None], [b" ", None], [b"  " + line(LAST)])
    assert await events(network) == [HEAD, STEP, LAST]
    assert network.asked == ["POST /_train_model", *["GET /_jobs/the-job?start=2"] * 3]
    assert backends._FOLLOWING.read == 4 * jobs.ALIVE_S
    monkeypatch.setattr(backends, "_RECONNECTS", 5)
    gone = Network([line(HEAD), None])
    with pytest.raises(EngineError, match="does not answer"):
        await events(gone)
    assert len(gone.asked) == 6
