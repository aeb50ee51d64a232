"""The Tinker API over HTTP: requests that each have a deadline, and their results.

JSON is spoken without the `tinker` package, of which no release fits two servers (SkyRL 0.3 takes 0.24.1 at most, TuFT
0.25), and whose requests go on for minutes after a server has died. Every server takes JSON.
"""

import io
import tarfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from mcprl.errors import EngineError, EngineLost
from mcprl.text import shortened

HEARTBEAT_S = 10.0
"""Seconds between the signs of life without which a server forgets a session and its model."""
POLL_S = 60.0
"""Seconds that one request for a result may stay open."""
GONE_S = 5.0
"""Seconds of refused connections after which a server is taken for dead."""
_AGAIN = (408, 425, 429, 502, 503, 504)
"""Statuses of a result that is not there yet, or of a server in front of one that is busy."""

_FORGOTTEN = ("not loaded", "model not found", "session not found")
"""What servers say of what they had before they were started again."""


@dataclass(frozen=True)
class Saved:
    """What a server keeps of a step, by its addresses there: `state` to train on from, `sampler` to sample."""

    state: str
    sampler: str


class Service:
    """A session with a server. Safe in several threads; each call blocks until its deadline at most.

    Raises `EngineLost` if the server is gone or gives no answer in time, and `EngineError` if it refuses.
    """

    def __init__(self, base_url: str, key: str = "", deadline_s: float = 900.0) -> None:
        self.base_url, self._deadline_s = base_url.rstrip("/"), deadline_s
        headers = {"X-API-Key": key} if key else {}
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
        self._http = httpx2.Client(headers=headers, limits=limits, timeout=POLL_S)
        self._session, self._closed = "", threading.Event()
        self.lost = False
        """Whether the server went away since this was last set to false: it may have forgotten session and models."""

    # --- the session ----------------------------------------------------------------------------------------------

    def models(self) -> list[str]:
        """The base models that the server has."""
        found = self._request("GET", "get_server_capabilities", None, time.monotonic() + POLL_S)
        return [str(model["model_name"]) for model in found.get("supported_models", [])]

    def is_up(self) -> bool:
        """Whether the server answers."""
        with suppress(httpx2.HTTPError):
            return self._http.get(f"{self.base_url}/api/v1/healthz", timeout=GONE_S).is_success
        return False

    def wait(self, seconds: float) -> bool:
        """Wait for the server, which may be started again. Returns whether it is there."""
        until = time.monotonic() + seconds
        while not self.is_up():
            if time.monotonic() > until or self._closed.is_set():
                return False
            time.sleep(0.5)
        return True

    def create_model(self, base: str, rank: int, seed: int) -> str:
        """A fresh LoRA on a base model; its id. The first one begins the session."""
        self._begin()
        lora = {"rank": rank, "seed": seed, "train_attn": True, "train_mlp": True, "train_unembed": False}
        body = {"session_id": self._session, "model_seq_id": 0, "base_model": base, "lora_config": lora}
        created = self.call("create_model", {**body, "type": "create_model"})
        return str(created["model_id"])

    def unload_model(self, model: str) -> None:
        """Free what the server keeps in memory for a model. One that refuses is left to itself."""
        with suppress(EngineError):
            self.call("unload_model", {"model_id": model, "type": "unload_model"})

    def close(self) -> None:
        """End the session: the server forgets it for want of signs of life."""
        self._closed.set()
        self._http.close()

    def forget(self) -> None:
        """Begin a new session with the next model: the server may have forgotten this one."""
        self._session = ""

    def _begin(self) -> None:
        if self._session:
            return
        about = {"tags": ["mcprl"], "user_metadata": None, "sdk_version": "0.24.1", "type": "create_session"}
        created = self._request("POST", "create_session", about, time.monotonic() + POLL_S)
        self._session = str(created["session_id"])
        threading.Thread(target=self._stay, args=(self._session,), name="mcprl-tinker", daemon=True).start()

    def _stay(self, session: str) -> None:
        while not self._closed.wait(HEARTBEAT_S) and session == self._session:
            with suppress(httpx2.HTTPError, RuntimeError):  # RuntimeError: the client was closed meanwhile
                body = {"session_id": session, "type": "session_heartbeat"}
                self._http.post(f"{self.base_url}/api/v1/session_heartbeat", json=body, timeout=HEARTBEAT_S)

    # --- training -------------------------------------------------------------------------------------------------

    def forward_backward(
        self, model: str, data: Sequence[Mapping[str, Any]], loss: str, options: Mapping[str, float] | None = None
    ) -> list[list[float]]:
        """Add the gradients of the data's losses to the model's; returns the log-probability of each target (nats)."""
        given = {"data": list(data), "loss_fn": loss, "loss_fn_config": dict(options) if options else None}
        done = self.call("forward_backward", {"model_id": model, "forward_backward_input": given})
        return [[float(value) for value in output["logprobs"]["data"]] for output in done["loss_fn_outputs"]]

    def optim_step(self, model: str, learning_rate: float, max_grad_norm: float) -> dict[str, float]:
        """A step of AdamW on the gradients since the last one; the server's metrics of it, by the ends of their names.

        `grad_clip_norm` is for servers that clip; others ignore it.
        """
        adam = {"learning_rate": learning_rate, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
        body = {"model_id": model, "adam_params": {**adam, "grad_clip_norm": max_grad_norm}, "type": "optim_step"}
        metrics = self.call("optim_step", body).get("metrics") or {}
        return {str(name).rpartition("/")[2]: float(value) for name, value in metrics.items()}

    def save(self, model: str, name: str) -> Saved:
        """Keep a model's weights and optimizer on the server under a name that is new there."""
        state = self.call("save_weights", {"model_id": model, "path": name, "type": "save_weights"})
        body = {"model_id": model, "path": name, "type": "save_weights_for_sampler"}
        return Saved(str(state["path"]), str(self.call("save_weights_for_sampler", body)["path"]))

    def load(self, model: str, state: str, optimizer: bool = True) -> None:
        """Give a model the weights that were saved, and the optimizer's moments (a server may do so in any case)."""
        body = {"model_id": model, "path": state, "optimizer": optimizer, "type": "load_weights"}
        self.call("load_weights", body)

    def download(self, saved: Saved, folder: Path) -> None:
        """Unpack the adapter of a saved step into a folder, as peft writes them."""
        model, name = _parts(saved.sampler)
        until = time.monotonic() + self._deadline_s
        url = f"{self.base_url}/api/v1/training_runs/{model}/checkpoints/{name}/archive"
        try:
            answer = self._http.get(url, follow_redirects=True, timeout=self._deadline_s)
        except httpx2.HTTPError as error:
            raise self._lost("the adapter", error) from error
        if not answer.is_success:
            raise self._refused("the adapter", answer)
        if time.monotonic() > until:
            raise EngineLost(f"{self.base_url} took more than {self._deadline_s:g} s to send the adapter")
        try:
            with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
                archive.extractall(folder, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise EngineError(f"{self.base_url} sent an adapter that cannot be unpacked: {error}") from error

    # --- sampling -------------------------------------------------------------------------------------------------

    def sample(self, of: Mapping[str, str], prompt: Sequence[int], **params: Any) -> tuple[list[int], list[float], str]:
        """Sample one turn; its ids, their log-probabilities (nats, at temperature 1) and why it stopped. `of` names the
        base model (`base_model`) or a sampler (`model_path`)."""
        body = {**of, "prompt": model_input(prompt), "sampling_params": params, "num_samples": 1, "type": "sample"}
        (sequence,) = self.call("asample", body)["sequences"]
        return sequence["tokens"], sequence["logprobs"] or [], str(sequence["stop_reason"])

    def base_logprobs(self, base: str, ids: Sequence[int]) -> list[float]:
        """The base model's log-probability of each id but the first (nats)."""
        params = {"max_tokens": 1, "temperature": 1.0, "seed": 0}
        body = {"base_model": base, "prompt": model_input(ids), "sampling_params": params, "num_samples": 1}
        found = self.call("asample", {**body, "prompt_logprobs": True, "type": "sample"})["prompt_logprobs"]
        values = [float(value) for value in found or [] if value is not None]
        if len(values) != len(ids) - 1:
            raise EngineError(f"{self.base_url} gave {len(values)} log-probabilities for {len(ids)} tokens of a prompt")
        return values

    # --- requests -------------------------------------------------------------------------------------------------

    def call(self, route: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a request that the server works on for a while."""
        until = time.monotonic() + self._deadline_s
        accepted = self._request("POST", route, body, until)
        if "request_id" not in accepted:
            return accepted
        while True:
            result = self._request("POST", "retrieve_future", {"request_id": accepted["request_id"]}, until)
            if result.get("type") == "try_again":
                time.sleep(0.2)
                continue
            if "error" in result:
                raise self._refusal(route, str(result["error"]), 400)
            return result

    def _request(self, method: str, route: str, body: Mapping[str, Any] | None, until: float) -> dict[str, Any]:
        """One request, repeated while the server is busy or does not answer, until the deadline."""
        refused_since = None
        while (left := until - time.monotonic()) > 0:
            try:
                url = f"{self.base_url}/api/v1/{route}"
                answer = self._http.request(method, url, json=body, timeout=min(POLL_S, left))
            except httpx2.ReadTimeout as error:
                if route != "retrieve_future":  # whether it was done is not known
                    raise self._lost(route, error) from error
                continue
            except httpx2.HTTPError as error:
                refused_since = refused_since or time.monotonic()
                unsure = route != "retrieve_future" and not isinstance(error, httpx2.ConnectError)
                if unsure or time.monotonic() - refused_since > GONE_S:
                    raise self._lost(route, error) from error
                time.sleep(0.3)
                continue
            if answer.status_code in _AGAIN:
                time.sleep(0.2)
                continue
            if not answer.is_success:
                raise self._refused(route, answer)
            return answer.json()
        self.lost = True
        raise EngineLost(f"{self.base_url} gave no result of {route} within {self._deadline_s:g} s (--deadline-s)")

    def _lost(self, what: str, error: Exception) -> EngineLost:
        self.lost = True
        return EngineLost(f"{self.base_url} is gone, or hangs, at {what}: {type(error).__name__}")

    def _refused(self, what: str, answer: httpx2.Response) -> EngineError:
        try:
            said = answer.json()
            said = said.get("detail", said)
        except (ValueError, AttributeError):
            said = answer.text
        return self._refusal(what, str(said), answer.status_code)

    def _refusal(self, what: str, said: str, status: int) -> EngineError:
        text = f"{self.base_url} refused {what} ({status}): {shortened(said, 300)}"
        if status >= 500 or any(sign in said.lower() for sign in _FORGOTTEN):
            self.lost = True
            return EngineLost(text)
        return EngineError(text)


def model_input(ids: Sequence[int]) -> dict[str, Any]:
    """Token ids as a model's input."""
    return {"chunks": [{"type": "encoded_text", "tokens": list(ids)}]}


def _parts(address: str) -> tuple[str, str]:
    """The model and the name in `tinker://MODEL/NAME` or `tinker://MODEL/sampler_weights/NAME`."""
    model, *_, name = address.removeprefix("tinker://").split("/")
    return model, name
