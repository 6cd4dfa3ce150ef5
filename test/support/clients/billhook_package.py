# Makes calls of servers of the test through the package for PyPI, and verifies the calls that the test signed. Run by
# test/release/clients/pypi-package.test.ts, once for several cases: importing the package takes a second.
import json
import sys
import uuid

import httpx
from billhook import ApiError, Billhook, WebhookVerificationError, verify_webhook
from billhook.models import AddClientBody, UpdateClientBody


def outcome(call):
    try:
        return call()
    except ApiError as error:
        return [error.status, error.code, str(error), error.details, error.request_id, error.retry_after]
    except httpx.TransportError:
        return "no response"


def verify(case):
    try:
        return verify_webhook(case["body"], case["headers"], case["secret"])["type"]
    except WebhookVerificationError as error:
        return error.code


ada = uuid.UUID(int=1)
body = AddClientBody(name="Ada", email="ada@example.com")
calls = {
    "post": lambda api: api.add_client(body=body).data.name,
    "own key": lambda api: api.add_client(body=body, idempotency_key="mine").data.name,
    "get": lambda api: [client.name for client in api.iter_clients(limit=2)],
    "patch": lambda api: api.update_client(ada, body=UpdateClientBody(name="Ada")).data.name,
}


def made(case):
    with Billhook(case["url"], "bh_live_x", retries=2) as api:
        return outcome(lambda: calls[case["call"]](api))


given = json.load(sys.stdin)
print(json.dumps({
    "calls": [made(case) for case in given["calls"]],
    "verified": [verify(case) for case in given["webhooks"]],
}))
