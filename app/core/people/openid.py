"""What the service asks of an OpenID Connect provider, and what it takes from an answer (docs/run/sign-in.md).

``adapters.openid`` speaks the protocol; this module declares its interface, so that the core needs no network.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class ProviderRefused(Exception):
    """The provider, or our check of its answer, refuses. ``sentence`` says why, in plain words and without a secret.

    ``is_down``: it could not be asked, so nothing is known. ``is_over``: it no longer vouches for the person
    (``invalid_grant``).
    """

    def __init__(self, sentence: str, *, is_down: bool = False, is_over: bool = False) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.is_down = is_down
        self.is_over = is_over


@dataclass(frozen=True)
class Client:
    """This service as a client of one provider. ``discovered`` is the provider's discovery document."""

    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    groups_claim: str
    discovered: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Attempt:
    """One sign-in at a provider, from the redirect to its answer. ``max_age``, seconds: how fresh a proof must be."""

    state: str
    nonce: str
    code_verifier: str
    redirect_uri: str
    max_age: int | None = None


@dataclass(frozen=True)
class Claims:
    """What a provider says of a person.

    ``groups`` None: it said nothing of groups, and was not expected to. ``session`` is its ``sid``.
    ``email_verified`` None: it does not say.
    """

    subject: str
    email: str = ""
    email_verified: bool | None = None
    name: str = ""
    groups: tuple[str, ...] | None = None
    session: str | None = None
    refresh_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class LoggedOut:
    """A checked logout token. At least one of ``subject`` and ``session`` is set."""

    token_id: str
    subject: str | None
    session: str | None


class OpenIdClient(Protocol):
    """Speaks OpenID Connect. Every method but ``authorization_url`` calls out and raises ProviderRefused."""

    def discover(self, issuer: str) -> dict[str, Any]:
        """Read the discovery document and check that it is this issuer's and has what we need."""
        ...

    def authorization_url(self, client: Client, attempt: Attempt) -> str:
        """Where to send the browser."""
        ...

    def finish(self, client: Client, attempt: Attempt, answer: Mapping[str, str]) -> Claims:
        """Check the parameters of the callback, trade the code for tokens, and check those."""
        ...

    def refresh(self, client: Client, subject: str, refresh_token: str) -> Claims:
        """Ask again about a person who signed in before."""
        ...

    def read_logout(self, client: Client, token: str) -> LoggedOut:
        """Check the token of a back-channel logout."""
        ...
