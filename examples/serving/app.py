"""The ASGI application: routes, limits, and the model behind them."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from batching import Batcher, QueueFull
from engines import Engine
from metrics import Metrics
from model import BadInput, Model
from payload import BadType, answer_type, read_arrays, write_arrays
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from stepwell import StepwellError
from stepwell.runtime import ArgumentError, CompileError, ExecutionError

LOG = logging.getLogger("uvicorn.error")

DRAINED = 4
"""The multiple of the limit up to which a body that is too long is read, so that the client sees the answer."""


@dataclass(frozen=True)
class Limits:
    """What one server takes on."""

    max_rows: int = 32
    """The most rows of a call, where the model leaves them open."""
    max_wait: float = 0.002
    """The seconds that a request waits for others to share a call with."""
    queue: int = 256
    """The most requests that wait. Others are answered 503."""
    body: int = 16 << 20
    """The most bytes of a request. Others are answered 413."""
    timeout: float = 30.0
    """The seconds after which a request that waits is answered 503."""
    workers: int = 2
    """The most calls of the model at once."""
    shapes: int = 4
    """The most tuples of shapes, without rows, that programs are compiled for. Others are answered 422."""
    gather: str = "auto"
    """Whether requests share calls: `auto` finds out, `always`, `never`."""


class TooLarge(Exception):
    """Raised for a body with more bytes than are allowed."""


class TooSlow(Exception):
    """Raised for a body that takes too long to come."""


class Service:
    """The model and its queue, from the start of the server to its end."""

    def __init__(self, load: Callable[[], Engine], limits: Limits, failed: Callable[[], None]):
        self.load, self.limits, self.failed = load, limits, failed
        self.batcher: Batcher | None = None
        self.error = ""
        self.metrics = Metrics({
            "stepwell_queue_length": ("Requests that wait.", lambda: len(self.batcher.waiting) if self.batcher else 0),
            "stepwell_ready": ("Whether the model is loaded.", lambda: self.batcher is not None),
        })  # fmt: skip

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Loads the model while the server answers already, and empties the queue at the end."""
        loading = asyncio.create_task(self._start())
        yield
        await loading
        if self.batcher is not None:
            await self.batcher.close()

    async def _start(self) -> None:
        limits = self.limits
        try:
            model = await asyncio.to_thread(self._model)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            LOG.error("the model was not loaded: %s", self.error)
            self.failed()
            return
        self.batcher = Batcher(model, limits.workers, limits.max_wait, limits.queue, self.metrics.called)
        LOG.info("ready: rows of a call: %s", ", ".join(map(str, model.sizes)) or "those of the request")

    def _model(self) -> Model:
        model = Model(self.load(), self.limits.max_rows, self.limits.gather, self.limits.shapes)
        model.warm_up()
        # The compiler leaves many objects. Without this the collector walks them all now and then, for 0.2 s.
        gc.collect()
        gc.freeze()
        return model

    async def predict(self, request: Request) -> Response:
        """Answers `POST /v1/predict`."""
        start = time.monotonic()
        try:
            response = await self._predict(request)
        except Exception as error:
            response = _failure(error)
        self.metrics.answered(response.status_code, time.monotonic() - start)
        return response

    async def _predict(self, request: Request) -> Response:
        try:
            body = await asyncio.wait_for(_body(request, self.limits.body), self.limits.timeout)
        except TimeoutError:
            raise TooSlow from None
        if self.batcher is None:
            return _busy("the model is not loaded yet")
        model = self.batcher.model
        arrays = read_arrays(body, request.headers, model.inputs, self.limits.body)
        results = await self.batcher.submit(arrays, self.limits.timeout)
        content, headers = write_arrays(answer_type(request.headers, len(results)), results, model.outputs)
        return Response(content, headers=headers)

    async def model(self, request: Request) -> Response:
        """Answers `GET /v1/model`: what the model takes and returns."""
        if self.batcher is None:
            return _busy("the model is not loaded yet")
        model = self.batcher.model
        told = [[{"name": t.name, "type": str(t)} for t in each] for each in (model.inputs, model.outputs)]
        return JSONResponse({"inputs": told[0], "outputs": told[1], "rows": list(model.sizes)})

    async def health(self, request: Request) -> Response:
        """Answers `GET /healthz`: 200 while the process is worth keeping."""
        return PlainTextResponse(self.error or "ok", 500 if self.error else 200)

    async def ready(self, request: Request) -> Response:
        """Answers `GET /readyz`: 200 once the model is loaded and compiled."""
        return PlainTextResponse("ok") if self.batcher is not None else _busy(self.error or "loading")

    async def show_metrics(self, request: Request) -> Response:
        """Answers `GET /metrics`."""
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4")


def make_app(load: Callable[[], Engine], limits: Limits, failed: Callable[[], None] = lambda: None) -> Starlette:
    """Returns the application. `load` opens the model once; `failed` is called where that does not work."""
    service = Service(load, limits, failed)
    routes = [
        Route("/v1/predict", service.predict, methods=["POST"]),
        Route("/v1/model", service.model),
        Route("/healthz", service.health),
        Route("/readyz", service.ready),
        Route("/metrics", service.show_metrics),
    ]
    return Starlette(routes=routes, lifespan=service.lifespan)


async def _body(request: Request, limit: int) -> bytes:
    """
    Returns the body. Raises TooLarge for one longer than `limit`.

    A client that is still sending when the connection closes does not see the answer. So a body that is not much too
    long is read to its end, but not kept.
    """
    declared = request.headers.get("content-length", "0")
    size = int(declared) if declared.isdigit() else 0
    if size > DRAINED * limit:
        raise TooLarge
    parts, read = [], 0
    async for part in request.stream():
        read += len(part)
        if max(read, size) <= limit:
            parts.append(part)
        elif read > DRAINED * limit:
            raise TooLarge
        else:
            parts.clear()
    if read > limit:
        raise TooLarge
    return b"".join(parts)


def _failure(error: Exception) -> Response:
    """Returns the answer to a request that failed."""
    match error:
        case BadInput() | ArgumentError() | ExecutionError() | CompileError() | StepwellError():
            # A model that is loaded is compiled again only for the shapes of a request.
            return JSONResponse({"error": _text(error)}, 422)
        case BadType():
            return JSONResponse({"error": _text(error)}, 415)
        case TooLarge():
            # The rest of the body may not have been read. Then the connection cannot be used again.
            return JSONResponse({"error": "the body is too large"}, 413, {"Connection": "close"})
        case TooSlow():
            return JSONResponse({"error": "the body took too long"}, 408, {"Connection": "close"})
        case QueueFull():
            return _busy("too many requests wait")
        case TimeoutError():
            return _busy("the request waited too long")
        case ClientDisconnect():
            return Response(status_code=499)
        case _:
            LOG.exception("a request failed", exc_info=error)
            return JSONResponse({"error": "internal error"}, 500)


def _text(error: Exception) -> str:
    """Returns the message of an error, with escapes for what UTF-8 does not have, such as half a surrogate pair."""
    return str(error).encode("utf-8", "backslashreplace").decode()


def _busy(reason: str) -> Response:
    return JSONResponse({"error": reason}, 503, {"Retry-After": "1"})
