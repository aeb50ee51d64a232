"""The pages of `mcprl view RUN`: a Starlette application over one run's journal, below a key that its address holds.

Every text of a server, a model or a judge is escaped by the templates, and the policy lets no script run but the one
file of our own.
"""

import secrets
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import anyio
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcprl.errors import McprlError
from mcprl.runs.journal import Journal
from mcprl.text import counted
from mcprl.viewing import groups, health, tasks, tokens
from mcprl.viewing.groups import Column
from mcprl.viewing.progress import progress

_STYLE: Final = (Path(__file__).parent / "static" / "view.css").read_text(encoding="utf-8")
"""Stands in each page: a page that had to ask for it would be painted one answer later, which a busy machine delays."""
_STYLE_HASH: Final = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY: Final = (
    f"default-src 'none'; script-src 'self'; style-src 'sha256-{_STYLE_HASH}'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'"
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_LOOK_EVERY_S: Final = 0.5
_REPORTS: Final = {"report.html": "text/html", "report.md": "text/plain", "report.json": "application/json"}


def application(journal: Journal, key: str, is_ending: Callable[[], bool] = lambda: False) -> Starlette:
    """The application for a run whose journal is open. Its pages begin with `/key/`; anything else is not found.
    Streams end by themselves when `is_ending`, so that the server has none to cancel."""
    pages = _Pages(journal, is_ending)
    routes = [
        Route("/", pages.show_live),
        Route("/events", pages.show_events),
        Route("/groups", pages.show_groups),
        Route("/group", pages.show_group),
        Route("/pairs", pages.show_pairs),
        Route("/pair", pages.show_pair),
        Route("/tasks", pages.show_tasks),
        Route("/servers", pages.show_servers),
        *(Route(f"/{name}", pages.show_report) for name in _REPORTS),
        Mount("/static", StaticFiles(packages=[("mcprl.viewing", "static")])),
    ]

    return Starlette(
        routes=[Mount(f"/{key}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
            Middleware(_Guard, key=key),
        ],
        exception_handlers={McprlError: _failed},
    )


class _Guard:
    """Lets nobody in without the key, and gives every answer its policy. (Starlette's own base for middleware would
    hide from a stream that its reader has gone.)"""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        given = str(scope["path"]).split("/")[1]
        known = secrets.compare_digest(given.encode(), self._key.encode())
        answer = self._app if known else Response("not found", 404)
        await answer(scope, receive, send_guarded)


def _failed(_request: Request, error: Exception) -> Response:
    return Response(f"{error}\n", 500, media_type="text/plain")


class _Pages:
    """A handler for each page. Those that are no coroutines run in threads, which the journal allows."""

    def __init__(self, journal: Journal, is_ending: Callable[[], bool]) -> None:
        self._journal, self._is_ending = journal, is_ending
        self._templates = Environment(loader=PackageLoader("mcprl.viewing"), autoescape=True, trim_blocks=True)
        filters: dict[str, Any] = {"percent": _percent, "number": _number, "counted": counted}
        self._templates.filters.update(filters)
        self._health = lru_cache(maxsize=1)(lambda _version: health.health(journal))

    def _page(self, name: str, request: Request, **values: Any) -> Response:
        root = "/" + request.url.path.split("/")[1]
        run = self._journal.folder.absolute().name
        template = self._templates.get_template(f"{name}.html")
        reports = [report for report in _REPORTS if (self._journal.folder / report).is_file()]
        page = template.render(
            page=name,
            root=root,
            run=run,
            style=Markup(_STYLE),
            reports=reports,
            query=_query,
            request_query=str(request.url.query),
            **values,
        )
        return HTMLResponse(page)

    def show_live(self, request: Request) -> Response:
        return self._page("live", request, now=progress(self._journal))

    async def show_events(self, request: Request) -> Response:
        """The changing part of the first page, now and after each change of the journal."""
        return StreamingResponse(self._changes(), media_type="text/event-stream")

    async def _changes(self) -> AsyncIterator[str]:
        version = None
        while not self._is_ending():
            if (found := self._version()) != version:
                version = found
                text = await anyio.to_thread.run_sync(self._fragment)
                yield "".join(f"data: {line}\n" for line in text.splitlines()) + "\n"
            await anyio.sleep(_LOOK_EVERY_S)

    def _version(self) -> object:
        """What changes with every commit of the run's process."""
        return self._journal.db.read("pragma data_version")

    def _fragment(self) -> str:
        return self._templates.get_template("_progress.html").render(now=progress(self._journal))

    def show_groups(self, request: Request) -> Response:
        phases = groups.phases(self._journal)
        known = [name for name, _ in phases]
        phase = _one_of(request, "phase", [*known, "train"])
        sort = _one_of(request, "sort", list(groups.ORDERS))
        words, page = request.query_params.get("words", ""), _whole(request, "page")
        lines, more = groups.group_lines(self._journal, phase, words, sort, page)
        shown = {"phase": phase, "sort": sort, "words": words}
        return self._page("groups", request, phases=phases, lines=lines, more=more, number=page, shown=shown)

    def show_group(self, request: Request) -> Response:
        phase, step, task = request.query_params.get("phase", ""), _whole(request, "step"), _task(request)
        columns = groups.columns(self._journal, phase, step, task)
        metrics = next((each.metrics for each in self._journal.steps() if each.step == step), {})
        gap = metrics.get("sampler_gap_mean") if phase == "train" else None
        no_gaps = groups.why_no_gaps(columns) if phase == "train" else ""
        return self._columns(request, columns, f"{phase}, step {step}", gap, no_gaps)

    def show_pair(self, request: Request) -> Response:
        return self._columns(request, tasks.pair_columns(self._journal, _task(request)), "the test", None)

    def _columns(self, request: Request, columns: list[Column], where: str, gap: object, no_gaps: str = "") -> Response:
        task = next((each for each in self._journal.scenarios() if each.id == _task(request)), None)
        if not columns:
            raise HTTPException(404, "no such rollouts")
        problem = ""
        if "tokens" in request.query_params:
            try:
                model = self._journal.config.model
                columns = [
                    replace(each, turns=tokens.sampled(model, each.trajectory, each.gaps or ())) for each in columns
                ]
            except McprlError as error:
                problem = str(error)
        shown = {"columns": columns, "task": task, "where": where, "gap": gap, "no_gaps": no_gaps, "problem": problem}
        return self._page("group", request, **shown)

    def show_pairs(self, request: Request) -> Response:
        verdict = _one_of(request, "verdict", list(tasks.VERDICTS))
        counts, pairs = tasks.pairs(self._journal, verdict)
        page = _whole(request, "page")
        shown = pairs[tasks.PAGE * page : tasks.PAGE * (page + 1)]
        more = len(pairs) > tasks.PAGE * (page + 1)
        return self._page("pairs", request, verdict=verdict, counts=counts, pairs=shown, more=more, number=page)

    def show_tasks(self, request: Request) -> Response:
        measured = tasks.rates(self._journal)
        names = [name for name, _ in measured]
        scenarios = self._journal.scenarios()
        sort, split = (
            _one_of(request, "sort", ["order", "request", "kind", *names]),
            _one_of(request, "split", ["", "train", "val", "test"]),
        )
        words, page = request.query_params.get("words", ""), _whole(request, "page")
        lines, more = tasks.task_lines(scenarios, measured, split, words, sort, page)
        shown = {"split": split, "sort": sort, "words": words}
        parts = tasks.coverage(scenarios, measured)
        return self._page("tasks", request, names=names, parts=parts, lines=lines, more=more, number=page, shown=shown)

    def show_servers(self, request: Request) -> Response:
        return self._page("servers", request, lines=self._health(str(self._version())))

    def show_report(self, request: Request) -> Response:
        name = request.url.path.rsplit("/")[-1]
        path = Path(self._journal.folder / name)
        if not path.is_file():
            raise HTTPException(404, "the report is written at the end of mcprl train")
        return FileResponse(path, media_type=_REPORTS[name], headers={"Content-Security-Policy": _REPORT_POLICY})


def _task(request: Request) -> str:
    return request.query_params.get("task", "")


def _one_of(request: Request, name: str, known: list[str]) -> str:
    """A parameter's value, the first one known by default."""
    value = request.query_params.get(name, known[0])
    if value not in known:
        raise HTTPException(400, f"{name} must be one of: {', '.join(known)}")
    return value


def _whole(request: Request, name: str) -> int:
    value = request.query_params.get(name, "0")
    if not (value.isdecimal() and len(value) < 9):
        raise HTTPException(400, f"{name} must be a whole number")
    return int(value)


def _query(path: str, **values: object) -> str:
    return f"{path}?{urlencode(values)}"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.0f} %"


def _number(value: float | int | str | None) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "-" if value is None else str(value)
