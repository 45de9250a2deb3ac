"""Signatures, checked against digests made here by hand and against the Standard Webhooks vector."""

import base64
import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.webhooks.signing import BadSignature, canonical, headers_for, sign_body, verify_body

SECRET = "a secret of the integration's own, with ümlauts"
AT = 1_772_000_000
DECISION = {
    "event_type": "moderation.decision",
    "event_id": "0199d6a0-7c1e-7a3b-9c55-3f1e5f7c2a10",
    "request_id": "post-κόσμος-1",
    "community_server_id": "0199d6a0-0000-7000-8000-000000000001",
    "decision": "hide",
    "confidence": 0.9312,
    "tier": 1,
}


def hex_hmac(secret: bytes, message: bytes) -> str:
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def base64_hmac(key: bytes, message: bytes) -> str:
    return base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()


def test_the_body_signature_is_the_hmac_of_timestamp_colon_and_sorted_compact_json():
    sent = json.loads(sign_body(DECISION, SECRET, AT))
    assert sent.pop("_webhook_timestamp") == AT
    signature = sent.pop("_webhook_signature")
    assert sent == DECISION
    by_hand = json.dumps(sent, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert signature == hex_hmac(SECRET.encode(), f"{AT}:{by_hand}".encode())


def test_the_wire_bytes_are_themselves_canonical():
    body = sign_body(DECISION, SECRET, AT)
    assert (
        body
        == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    )


@pytest.mark.parametrize(
    ("payload", "written"),
    [
        ({"confidence": 1.0}, b'{"confidence":1}'),
        ({"confidence": 0.0}, b'{"confidence":0}'),
        ({"confidence": 0.93}, b'{"confidence":0.93}'),
        ({"b": {"z": 1, "a": 2}, "a": [True, None]}, b'{"a":[true,null],"b":{"a":2,"z":1}}'),
        ({"id": "κόσμος/é"}, '{"id":"κόσμος/é"}'.encode()),
    ],
)
def test_canonical_json_sorts_every_level_and_writes_the_shortest_numbers(payload, written):
    assert canonical(payload) == written


def test_signing_anew_replaces_the_earlier_signature():
    earlier = json.loads(sign_body(DECISION, "old secret", AT - 40))
    assert sign_body(earlier, SECRET, AT) == sign_body(DECISION, SECRET, AT)


def test_the_standard_webhooks_vector_holds():
    headers = headers_for(
        b'{"test": 2432232314}',
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook.test",
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        1_614_265_330,
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert headers["webhook-timestamp"] == "1614265330"


def test_the_x_headers_name_the_event_and_sign_the_raw_body():
    body = sign_body(DECISION, SECRET, AT)
    headers = headers_for(body, DECISION["event_id"], "moderation.decision", [SECRET], AT)
    assert headers["X-Webhook-Signature"] == "sha256=" + hex_hmac(SECRET.encode(), body)
    assert headers["X-Webhook-Timestamp"] == str(AT)
    assert headers["X-Webhook-Event"] == "moderation.decision"
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"] == "Bridgenote-Webhooks/1"


def test_a_rotation_signs_with_the_new_secret_and_lists_both_in_the_standard_header():
    body = sign_body(DECISION, "new", AT)
    headers = headers_for(body, "event-1", "moderation.decision", ["new", "old"], AT)
    message = f"event-1.{AT}.".encode() + body
    assert headers["webhook-signature"].split(" ") == [
        "v1," + base64_hmac(b"new", message),
        "v1," + base64_hmac(b"old", message),
    ]
    assert headers["X-Webhook-Signature"] == "sha256=" + hex_hmac(b"new", body)


def test_a_whsec_secret_is_decoded_for_the_standard_header_only():
    secret = "whsec_" + base64.b64encode(b"twenty-four random bytes").decode()
    headers = headers_for(b"{}", "event-1", "webhook.test", [secret], AT)
    assert headers["webhook-signature"] == "v1," + base64_hmac(
        b"twenty-four random bytes", f"event-1.{AT}.{{}}".encode()
    )
    assert headers["X-Webhook-Signature"] == "sha256=" + hex_hmac(secret.encode(), b"{}")


def test_a_whsec_secret_that_is_no_base64_is_used_as_it_stands():
    headers = headers_for(b"{}", "event-1", "webhook.test", ["whsec_not base64!"], AT)
    message = f"event-1.{AT}.{{}}".encode()
    assert headers["webhook-signature"] == "v1," + base64_hmac(b"whsec_not base64!", message)


def test_an_webhook_without_secrets_cannot_be_signed_for():
    with pytest.raises(ValueError, match="at least one secret"):
        headers_for(b"{}", "event-1", "webhook.test", [], AT)


@pytest.mark.parametrize("away", [-300, 0, 300])
def test_a_delivery_within_the_window_is_accepted(away):
    payload = verify_body(sign_body(DECISION, SECRET, AT), SECRET, AT + away)
    assert payload["decision"] == "hide"
    assert payload["_webhook_timestamp"] == AT


@pytest.mark.parametrize("away", [-301, 301])
def test_a_delivery_outside_the_window_is_refused(away):
    with pytest.raises(BadSignature, match="300 seconds"):
        verify_body(sign_body(DECISION, SECRET, AT), SECRET, AT + away)


def altered(**changes):
    sent = json.loads(sign_body(DECISION, SECRET, AT))
    sent.update(changes)
    return json.dumps({name: value for name, value in sent.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (altered(decision="none"), "does not match"),
        (altered(extra=1), "does not match"),
        (altered(_webhook_timestamp=AT + 1), "does not match"),
        (altered(_webhook_signature="0" * 64), "does not match"),
        (altered(_webhook_timestamp=...), "_webhook_timestamp is missing"),
        (altered(_webhook_signature=...), "_webhook_signature is missing"),
        (altered(_webhook_timestamp=str(AT)), "not an integer"),
        (altered(_webhook_timestamp=True), "not an integer"),
        (altered(_webhook_signature="É" * 64), "64 lowercase hex"),
        (altered(_webhook_signature=["a"]), "64 lowercase hex"),
        (altered(tier=2**70), "does not match"),
        (b"[]", "not a JSON object"),
        (b"", "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        (b'{"a":NaN}', "not JSON"),
        (b'{"a":1,"a":2}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (altered(tier=10**400), "no canonical form"),
    ],
)
def test_anything_else_than_what_was_signed_is_refused_with_its_reason(body, reason):
    with pytest.raises(BadSignature, match=reason):
        verify_body(body, SECRET, AT)


def test_the_wrong_secret_is_refused():
    with pytest.raises(BadSignature, match="does not match"):
        verify_body(sign_body(DECISION, SECRET, AT), "another secret", AT)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=5))
def test_whatever_json_is_signed_verifies_after_its_journey(payload):
    unsigned = {name: value for name, value in payload.items() if not name.startswith("_webhook_")}
    received = verify_body(sign_body(unsigned, SECRET, AT), SECRET, AT)
    assert set(received) == {*unsigned, "_webhook_timestamp", "_webhook_signature"}
