"""Makes calls and verifies deliveries: ``python duties.py URL`` reads cases, prints results, as JSON."""

import json
import sys

import httpx
from bridgenote_client import Refused, connect, send, verify

cases = json.load(sys.stdin)
client = connect(sys.argv[1], "bnk")


def outcome(status: str) -> int:
    try:
        send(
            client,
            request_id=status,
            requested_by="ann",
            community_server_id="sea",
            original_message_content="x",
        )
    except Refused as refused:
        return refused.status
    except httpx.HTTPStatusError as error:
        return error.response.status_code
    return 200


def holds(body: str, headers: dict[str, str], secret: str) -> bool:
    try:
        verify(body.encode(), headers, secret)
    except ValueError:
        return False
    return True


print(
    json.dumps(
        {
            "statuses": [outcome(status) for status in cases["calls"]],
            "verified": [holds(*delivery) for delivery in cases["deliveries"]],
        }
    )
)
