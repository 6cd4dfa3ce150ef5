"""A connection to a gateway: one method for each operation, retries that make nothing twice, and errors as exceptions."""

import random
import time
import uuid
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from .api_error import ApiError, seconds_of
from .operations import Operations

#: A gateway that asks for a longer pause gets its error to the caller, who may have better things to do.
LONGEST_PAUSE_SECONDS = 60
UNAVAILABLE = frozenset({502, 503, 504})


class Billhook(Operations):
    """Connects to a gateway.

    Every POST has an idempotency key of its own, which all tries of the call share.

    Args:
        url: The address of the gateway, such as `https://billing.example.com`.
        key: An API key.
        retries: How often a failed call is sent again.
        timeout: Seconds for each step of each try: a document may take 30 s.
        transport: Sends the requests, for a proxy or a test.
    """

    #: Sends a call that has no method here, with the same retries and errors: `api.http.get("/api/v1/account").json()`.
    http: httpx.Client

    def __init__(
        self,
        url: str,
        key: str,
        *,
        retries: int = 4,
        timeout: float = 35.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must be the address of the gateway, not {url}")
        if not key:
            raise ValueError("key must be an API key")
        headers = {"Authorization": f"Bearer {key}", "Accept": "*/*"}
        self.http = _RetryingClient(retries, base_url=url, headers=headers, timeout=timeout, transport=transport)

    def close(self) -> None:
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, request: dict[str, Any]) -> httpx.Response:
        return self.http.request(**request)

    def _iterate(self, request: dict[str, Any], items: Callable[[Any], list[Any]]) -> Iterator[Any]:
        """Follows the cursors of a list."""
        while True:
            response = self.http.request(**request)
            yield from items(response.json())
            following = response.links.get("next")
            if following is None:
                return
            # The key goes to the connection's own address only, so the cursor is all that is taken from the link.
            request = {**request, "params": dict(httpx.URL(following["url"]).params)}


class _RetryingClient(httpx.Client):
    def __init__(self, retries: int, **settings: Any) -> None:
        super().__init__(**settings)
        self._retries = retries

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Sends a request until it succeeds or another try is no use.

        Raises:
            ApiError: if the gateway responded with an error.
            httpx.TransportError: if no try got a response, or the last one got none in time.
        """
        if request.method == "POST":
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        tries = 0
        while True:
            pause = random.uniform(0, 0.5 * 2**tries)
            tries += 1
            try:
                response = super().send(request, **options)
            except httpx.TransportError:
                if tries > self._retries or request.method == "PATCH":
                    raise
            else:
                if response.status_code < 400:
                    return response
                response.read()
                asked = seconds_of(response.headers.get("retry-after"))
                if tries > self._retries or not _is_sent_again(request, response, asked):
                    raise ApiError(response)
                pause = pause if asked is None else asked
            time.sleep(pause)


def _is_sent_again(request: httpx.Request, response: httpx.Response, asked: float | None) -> bool:
    """Decides whether a call is sent again after an error.

    - 429, because the gateway did nothing
    - 502, 503 and 504, if a second call does no harm
    - 409 of a POST whose first try is still running
    """
    if asked is not None and asked > LONGEST_PAUSE_SECONDS:
        return False
    if response.status_code == 409:
        return request.method == "POST" and asked is not None
    return response.status_code == 429 or (request.method != "PATCH" and response.status_code in UNAVAILABLE)
