"""The routes of a served model."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar
from uuid import uuid4

import anyio

from mcprl import __version__
from mcprl.errors import McprlError, MissingExtra
from mcprl.serving import training_routes
from mcprl.serving.bodies import ChatBody, CompletionsBody
from mcprl.serving.gate import Gate
from mcprl.serving.learner import Learner
from mcprl.serving.metrics import CONTENT_TYPE
from mcprl.serving.model import ServedModel
from mcprl.serving.refusals import Refusal, invalid, of_error
from mcprl.serving.sampling import (
    EXACT,
    ROLLOUT,
    SamplingRequest,
    ask_chat,
    ask_plain,
    details,
    message_of,
    plain_text,
    sample,
    usage,
)
from mcprl.serving.streams import begun, events
from mcprl.text import first_line
from mcprl.types import Completion

try:
    from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException
except ImportError:
    raise MissingExtra("fastapi", "serve") from None

T = TypeVar("T")
EVENTS = "text/event-stream"
RolloutId = Annotated[str, Header(alias=ROLLOUT, max_length=200)]
Exact = Annotated[bool, Header(alias=EXACT)]
router = APIRouter()


def create_app(model: ServedModel, key: str, learner: Learner | None = None) -> FastAPI:
    """The app of a served model and, with a learner, of what trains it. Every route but `/health` needs the key."""
    app = FastAPI(title="mcprl", version=__version__, docs_url=None, redoc_url=None)
    app.state.model, app.state.learner = model, learner
    app.include_router(router)
    if learner:
        app.include_router(training_routes.router)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(McprlError, _failed)
    app.add_exception_handler(Exception, _bug)
    app.add_middleware(Gate, key=key, metrics=model.metrics)
    return app


async def _served(request: Request) -> ServedModel:  # FastAPI calls what is not async in another thread, and waits
    return request.app.state.model


Served = Annotated[ServedModel, Depends(_served)]


@router.get("/health")
async def health(model: Served) -> dict[str, Any]:
    """Whether requests are answered, and with which training step."""
    return {"status": "ok", "policy_step": model.step}


@router.get("/metrics")
async def metrics(model: Served) -> Response:
    """Figures in Prometheus' text format."""
    return Response(model.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/v1/models")
async def models(model: Served) -> dict[str, Any]:
    """The names that a request's `model` may be."""
    return {"object": "list", "data": [_card(name, step) for name, step in model.names().items()]}


@router.get("/v1/models/{name:path}")
async def one_model(model: Served, name: str) -> dict[str, Any]:
    """One of them."""
    adapter = model.find(name)
    return _card(name, adapter.step if adapter else 0)


def _card(name: str, step: int) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "mcprl", "policy_step": step}


@router.post("/v1/chat/completions")
async def chat(
    request: Request, model: Served, body: ChatBody, rollout: RolloutId = "", exact: Exact = False
) -> Response:
    """The model's next turn in a conversation."""
    if exact:
        body = body.model_copy(update={"return_token_ids": True, "logprobs": True})
    await model.open()
    return await _answer(request, model, ask_chat(model, body, rollout), "chat.completion", "chatcmpl")


@router.post("/v1/completions")
async def complete(request: Request, model: Served, body: CompletionsBody) -> Response:
    """What the model writes after a prompt."""
    await model.open()
    return await _answer(request, model, ask_plain(model, body), "text_completion", "cmpl")


async def _answer(request: Request, model: ServedModel, asked: SamplingRequest, kind: str, prefix: str) -> Response:
    streamed = asked.body.stream
    if asked.body.stream_options and not streamed:
        raise Refusal(400, "stream_options belong to stream = true", "stream_options", "invalid_value")
    head: dict[str, Any] = {
        "id": f"{prefix}-{uuid4().hex}",
        "object": f"{kind}.chunk" if streamed and asked.is_chat else kind,
        "created": int(time.time()),
        "model": asked.body.model,
    }
    if streamed:
        return await begun(events(model, asked, head), EVENTS)
    completions = await _unless_gone(request, _all(model, asked))
    choices = [_choice(model, asked, index, each) for index, each in enumerate(completions)]
    return JSONResponse(head | {"choices": choices, "usage": usage(completions)})


def _choice(model: ServedModel, asked: SamplingRequest, index: int, completion: Completion) -> dict[str, Any]:
    if asked.is_chat:
        content = {"message": message_of(completion) | {"refusal": None}}
    else:
        content = {"text": plain_text(model, completion, asked.body.stop)}
    return {"index": index} | content | details(model, asked, completion)


async def _all(model: ServedModel, asked: SamplingRequest) -> list[Completion]:
    """Every choice; the first error ends the others."""
    if len(asked.requests) == 1:  # most have one: a task for it would wait its turn twice more
        return [await sample(model, asked, asked.requests[0])]
    tasks = [asyncio.create_task(sample(model, asked, request)) for request in asked.requests]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns, which is abandoned if the client goes away."""
    with anyio.CancelScope() as scope:
        watching = asyncio.create_task(_gone(request))
        watching.add_done_callback(lambda _: scope.cancel())
        try:
            return await work
        finally:
            watching.cancel()
    raise Refusal(499, "the client went away")


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# --- errors -----------------------------------------------------------------------------------------------------------


def _respond(refusal: Refusal) -> JSONResponse:
    return JSONResponse(refusal.body, refusal.status)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return _respond(error)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _respond(invalid(error.errors()))


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path}"
    reasons = {404: f"there is no route {what}", 405: f"{what} is not allowed", 400: "the body cannot be read"}
    return _respond(Refusal(error.status_code, reasons.get(error.status_code, str(error.detail))))


async def _failed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, McprlError)
    return _respond(of_error(error))


async def _bug(_request: Request, error: Exception) -> Response:
    return _respond(Refusal(500, f"a bug in mcprl, which its log shows: {first_line(error)}", code="internal_error"))
