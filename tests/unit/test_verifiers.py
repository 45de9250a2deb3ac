"""What we sign, others verify: programs in Node and Ruby that know nothing but the documentation."""

import base64
import json
import subprocess
from pathlib import Path

import pytest

from app.core.webhooks import signing

PROGRAMS = Path(__file__).parent / "verifiers"
EVENT_ID = "019a8f00-5f0c-7f10-85b7-d3c2b1a09f84"
PAYLOAD = {
    "event_type": "moderation.decision",
    "event_id": EVENT_ID,
    "request_id": 'Überprüfung – 確認 🙂 \u2028 "quoted" \\ / \u0007',
    "decision": "none",
    "confidence": 0.8125,
    "tier": 1,
    "nested": {"z": [1, 0, -3, 0.0001, True, None], "a": {"": {}}},
    # UTF-16 puts the second before the first, code points the other way about.
    "\ufb33": "a late letter",
    "😀": "outside of the basic plane",
}


@pytest.mark.parametrize(
    "command", [["node", PROGRAMS / "verify.mjs"], ["ruby", PROGRAMS / "verify.rb"]], ids=["node", "ruby"]
)
def test_an_independent_program_verifies_what_we_sign_and_nothing_else(command: list[str]) -> None:
    def asked(secret: str, headers: dict[str, str], body: bytes) -> str:
        question = {"secret": secret, "headers": headers, "body": base64.b64encode(body).decode()}
        done = subprocess.run(
            command, input=json.dumps(question), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    whsec = signing.new_secret()
    for secrets in (["a plain secret, ä"], [whsec, "a former secret"]):
        body = signing.sign_body(PAYLOAD, secrets[0], 1_795_000_000)
        headers = signing.headers_for(body, EVENT_ID, "moderation.decision", secrets, 1_795_000_000)
        assert asked(secrets[0], headers, body) == "ok"
    altered = body.replace(b'"tier":1', b'"tier":2')
    assert asked(whsec, headers, altered) == "body, X-Webhook-Signature, webhook-signature"
    assert asked("another secret", headers, body) == "body, X-Webhook-Signature, webhook-signature"
