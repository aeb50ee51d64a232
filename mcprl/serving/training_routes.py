"""The routes that train the served model, and that keep its adapters."""

import io
import tarfile
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator, Field

from mcprl.serving.bodies import Body
from mcprl.serving.demonstrations import SupervisedBody, as_demonstrations
from mcprl.serving.groups import TrainBody, as_rewarded
from mcprl.serving.jobs import Job
from mcprl.serving.learner import Learner
from mcprl.serving.refusals import Refusal
from mcprl.serving.streams import ClosedStream
from mcprl.text import as_folder_name

LINES = "application/x-ndjson"
router = APIRouter()


async def _learner(request: Request) -> Learner:
    return request.app.state.learner


Teaching = Annotated[Learner, Depends(_learner)]


@router.post("/_train_model", response_class=ClosedStream)
async def train_model(learner: Teaching, body: TrainBody) -> Response:
    """Train on scored groups. Answers with lines of JSON: the job, each optimizer step, the adapter that is then served
    (or why nothing changed, or what went wrong). The update goes on if the client goes away."""
    if body.job and (known := learner.jobs.find(body.job)):
        return _lines(known)
    lesson = await anyio.to_thread.run_sync(as_rewarded, learner.model, body, learner.config, learner.limit)
    return _lines(learner.train(lesson, body.job))


@router.post("/_train_sft", response_class=ClosedStream)
async def train_sft(learner: Teaching, body: SupervisedBody) -> Response:
    """Train on demonstrations, with supervised steps on the assistant's turns. Answers as `/_train_model` does."""
    if body.job and (known := learner.jobs.find(body.job)):
        return _lines(known)
    lesson = await anyio.to_thread.run_sync(as_demonstrations, learner.model, body, learner.config, learner.limit)
    return _lines(learner.train(lesson, body.job))


@router.get("/_jobs")
async def jobs(learner: Teaching) -> list[dict[str, Any]]:
    """The updates, the oldest first, with the last event of each."""
    return [
        {"job": job.id, "done": job.done, "last": job.events[-1] if job.events else None} for job in learner.jobs.all()
    ]


@router.get("/_jobs/{name}", response_class=ClosedStream)
async def follow(learner: Teaching, name: str, start: Annotated[int, Query(ge=0)] = 0) -> Response:
    """The events of an update from the `start`-th on, until its end."""
    if job := learner.jobs.find(name):
        return _lines(job, start)
    forgotten = "a server that was started again knows none of before, and GET /_checkpoints says what it has trained"
    raise Refusal(404, f"there is no job {name[:80]!r}; {forgotten}", "name", "not_found")


@router.get("/_checkpoints")
async def checkpoints(learner: Teaching) -> dict[str, Any]:
    """The training steps of the kept adapters and of those that were trained here, which may be deleted."""
    model = learner.model
    return {
        "model": model.name,
        "base_model": model.base,
        "latest": model.step,
        "steps": sorted(model.kept),
        "trained_here": sorted(step for step in model.kept if learner.trained(step)),
    }


@router.get("/_checkpoints/{step}")
async def download(learner: Teaching, step: int) -> Response:
    """A kept adapter as a tar of its files, in peft's layout."""
    adapter = learner.model.kept.get(step)
    if not adapter:
        raise Refusal(404, f"there is no adapter of step {step}", "step", "not_found")
    return Response(await anyio.to_thread.run_sync(_packed, Path(adapter.path)), media_type="application/x-tar")


@router.delete("/_checkpoints/{step}")
async def delete(learner: Teaching, step: int) -> dict[str, Any]:
    """Delete a kept adapter that was trained here."""
    await learner.delete(step)
    return await checkpoints(learner)


class ForkBody(Body):
    """The name of the new model."""

    name: Annotated[str, Field(min_length=1), AfterValidator(as_folder_name)]


@router.post("/_checkpoints/{step}/fork")
async def fork(learner: Teaching, step: int, body: ForkBody) -> dict[str, str]:
    """Have a new model on this machine go on from a kept adapter: `mcprl serve TARGET --name NAME` serves it."""
    await learner.fork(step, body.name)
    return {"model": body.name}


def _lines(job: Job, start: int = 0) -> Response:
    return ClosedStream(job.follow(start), media_type=LINES, headers={"X-Mcprl-Job": job.id})


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return packed.getvalue()
