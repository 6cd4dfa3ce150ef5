"""The error of every response that is not a success."""

import datetime
import email.utils
from typing import Any

import httpx


class ApiError(Exception):
    """The gateway rejected a call, or could not carry it out. Decide by `code` or `status`; the text is for people."""

    status: int
    #: The stable name of the problem, see `ErrorCode`. Something between gateway and caller sends none.
    code: str | None
    #: The values in the text of the error, by name: `{"left": "1500.00", "number": "QUO-0002"}`.
    params: dict[str, Any]
    #: Each problem of a field: its `field`, `code` (see `ProblemCode`), `message` and `params`.
    problems: list[dict[str, Any]]
    #: Messages by field, or a list of messages.
    details: Any
    #: The name of the request in the gateway's log, worth quoting to its operator.
    request_id: str | None
    #: Seconds that the gateway asks to wait before the next try.
    retry_after: float | None
    #: The decoded body: the object of a JSON response, else its text.
    body: Any

    def __init__(self, response: httpx.Response) -> None:
        body = _body_of(response)
        fields = body if isinstance(body, dict) else {}
        self.status = response.status_code
        self.code = fields.get("code")
        self.params = fields.get("params") or {}
        self.problems = fields.get("problems") or []
        self.details = fields.get("details")
        self.request_id = response.headers.get("x-request-id")
        self.retry_after = seconds_of(response.headers.get("retry-after"))
        self.body = body
        error = fields.get("error") or "The request failed"
        super().__init__(f"{'; '.join([error, *_first_of(self.details)])} ({self.status})")


def seconds_of(retry_after: str | None) -> float | None:
    """Reads `Retry-After`, which is a number of seconds or a date."""
    if not retry_after:
        return None
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (at - datetime.datetime.now(datetime.timezone.utc)).total_seconds())


def _body_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text


def _first_of(details: Any) -> list[str]:
    """Returns the first messages, so that a traceback says what is wrong."""
    lists = details.values() if isinstance(details, dict) else [details]
    messages = [message for messages in lists if isinstance(messages, list) for message in messages]
    return [message for message in messages if isinstance(message, str)][:5]
