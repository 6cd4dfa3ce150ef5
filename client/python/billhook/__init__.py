"""The client of the Billhook API."""

from .api_error import ApiError
from .client import AuthenticatedClient, Client
from .connection import Billhook
from .error_codes import ErrorCode, ProblemCode
from .types import UNSET, Unset
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = (
    "UNSET",
    "ApiError",
    "AuthenticatedClient",
    "Billhook",
    "Client",
    "ErrorCode",
    "ProblemCode",
    "Unset",
    "WebhookVerificationError",
    "verify_webhook",
)
