"""A passkey in software: answers challenges as a browser with an authenticator does, and lies where a test says so."""

import hashlib
import json
import os
import uuid
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor

PRESENT, VERIFIED, HAS_KEY = 0x01, 0x04, 0x40


@dataclass
class SoftPasskey:
    """One credential. ``count``: how often it signed; None for an authenticator that does not count."""

    origin: str = "http://localhost"
    rp_id: str = "localhost"
    count: int | None = 0
    verifies: bool = True
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    user_handle: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: str) -> str:
        """Answer ``navigator.credentials.create``."""
        asked = json.loads(options)
        self.user_handle = base64url_to_bytes(asked["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = b"\0" * 16 + len(self.credential_id).to_bytes(2, "big") + self.credential_id
        data = self._authenticator_data(HAS_KEY) + attested + encode_cbor(cose)
        attestation = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        return self._credential(
            clientDataJSON=self._client_data("webauthn.create", asked["challenge"]),
            attestationObject=attestation,
            transports=["internal", "unheard-of"],
        )

    def get(self, options: str) -> str:
        """Answer ``navigator.credentials.get``."""
        if self.count is not None:
            self.count += 1
        client_data = self._client_data("webauthn.get", json.loads(options)["challenge"])
        data = self._authenticator_data(0)
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._credential(
            clientDataJSON=client_data,
            authenticatorData=data,
            signature=signature,
            userHandle=self.user_handle,
        )

    def _client_data(self, what: str, challenge: str) -> bytes:
        return json.dumps({"type": what, "challenge": challenge, "origin": self.origin}).encode()

    def _authenticator_data(self, flags: int) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        rp_hash = hashlib.sha256(self.rp_id.encode()).digest()
        return rp_hash + bytes([flags]) + (self.count or 0).to_bytes(4, "big")

    def _credential(self, **response: Any) -> str:
        name = bytes_to_base64url(self.credential_id)
        encoded = {
            key: bytes_to_base64url(value) if isinstance(value, bytes) else value
            for key, value in response.items()
        }
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": encoded})


def handle_of(account_id: uuid.UUID) -> bytes:
    """The user handle that a passkey of this account has."""
    return account_id.bytes
