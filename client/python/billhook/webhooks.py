"""Verifies webhook calls. The scheme is that of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any


class WebhookVerificationError(Exception):
    """A webhook call that must not be trusted. Respond with 400 and do nothing."""

    #: `missing_header`, `malformed_header`, `malformed_secret`, `outside_tolerance`, `wrong_signature` or `malformed_body`
    code: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
) -> dict[str, Any]:
    """Verifies a call and returns its event: `type`, `timestamp` and `data`.

    Process the event once for each `webhook-id`, because a retry has the same id.

    Args:
        body: The raw body, before any JSON parser: a body that was parsed and written again is another one.
        headers: The headers of the call.
        secret: The endpoint's secret (`whsec_…`), or several while you change over to a new one.
        tolerance: Seconds that the timestamp of a call may differ from this machine's clock.

    Raises:
        WebhookVerificationError: with the reason as `code`.
    """
    # Names of headers have no case, but not every framework's mapping knows that.
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in ("webhook-id", "webhook-timestamp", "webhook-signature") if not given.get(name)]
    if missing:
        raise WebhookVerificationError("missing_header", f"{missing[0]} is missing")
    timestamp = given["webhook-timestamp"]
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("malformed_header", "webhook-timestamp is not a number of seconds")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError(
            "outside_tolerance", f"webhook-timestamp differs by more than {tolerance} s from the clock of this machine"
        )
    raw = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{given['webhook-id']}.{timestamp}.".encode() + raw
    keys = [_key_of(text) for text in ([secret] if isinstance(secret, str) else secret)]
    # During a rotation the gateway signs with several secrets.
    signatures = [part[3:].encode() for part in given["webhook-signature"].split(" ") if part.startswith("v1,")]
    expected = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    if not any(hmac.compare_digest(ours, theirs) for ours in expected for theirs in signatures):
        raise WebhookVerificationError("wrong_signature", "no signature fits the body and the secret")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise WebhookVerificationError("malformed_body", "the body is no JSON") from error


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise WebhookVerificationError("malformed_secret", "the secret is not whsec_ and base64")
    return key
