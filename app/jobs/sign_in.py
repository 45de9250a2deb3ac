"""Periodic jobs about sign-in providers: people's groups are asked for again, and so are discovery documents."""

import logging
import time
import uuid
from collections import Counter
from datetime import timedelta

from app.core import clock
from app.core.models import Identity, IdentityProvider
from app.core.people import providers, refreshes
from app.core.people.openid import ProviderRefused
from app.core.sealing import SealBroken
from app.jobs.bodies import part
from app.wiring import Wiring

log = logging.getLogger(__name__)

REFRESH_JOB = "refresh_identities"
REFRESH_SECONDS = 60.0
REFRESH_MOST_SECONDS = 45.0
"""Seconds for one run; the rest is for the next one."""
FAILURES_MOST = 3
"""After how many failures one after the other a provider is left alone until the next run."""
DISCOVER_JOB = "discover_providers"
DISCOVER_SECONDS = 3_600.0
DISCOVER_AFTER = timedelta(days=1)


def refresh(wiring: Wiring) -> None:
    """Ask providers again about the people that are due. What fails for one does not keep the others."""
    end, failures = time.monotonic() + REFRESH_MOST_SECONDS, Counter[uuid.UUID]()
    with wiring.database.reading() as session:
        enabled = {provider.id: provider for provider in providers.enabled(session)}
        due = refreshes.due(session)
    for identity in due:
        if time.monotonic() > end:
            return
        provider = enabled[identity.provider_id]
        if failures[provider.id] >= FAILURES_MOST and not refreshes.is_silent_too_long(identity):
            continue
        with part(f"asking provider {provider.id} about account {identity.account_id}"):
            answered = _refresh(wiring, provider, identity, asks=failures[provider.id] < FAILURES_MOST)
            failures[provider.id] = 0 if answered else failures[provider.id] + 1


def _refresh(wiring: Wiring, provider: IdentityProvider, identity: Identity, *, asks: bool) -> bool:
    """Ask about one person, unless the provider failed too often just now. Return whether it answered."""
    sent = identity.refresh_token
    with wiring.database.writing() as session:
        if sent is None or not refreshes.claim(session, identity):
            return True
    is_over = answered = False
    try:
        if asks and provider.discovered:
            token = wiring.sealer.open(sent, str(identity.id))
            client = providers.client_of(provider, wiring.sealer)
            claims = wiring.openid.refresh(client, identity.subject, token)
            with wiring.database.writing() as session:
                refreshes.record_refreshed(session, wiring.sealer, identity.id, sent, claims)
            return True
    except ProviderRefused as refusal:
        is_over, answered = refusal.is_over, refusal.is_over
        if not is_over:
            log.warning("Provider %s could not be asked about a person: %s.", provider.id, refusal.sentence)
    except SealBroken:
        is_over, answered = True, True  # nobody can use the token any more; the next sign-in brings another
    if is_over or refreshes.is_silent_too_long(identity):
        with wiring.database.writing() as session:
            refreshes.record_over(session, identity.id, sent)
    return answered


def discover(wiring: Wiring) -> None:
    """Read the discovery documents that are a day old. A provider that fails is asked again in an hour."""
    with wiring.database.reading() as session:
        enabled = providers.enabled(session)
    for provider in enabled:
        read_at = provider.discovered_at
        if read_at is not None and clock.now() - read_at < DISCOVER_AFTER:
            continue
        with part(f"reading the discovery document of provider {provider.id}"):
            try:
                document = wiring.openid.discover(provider.issuer)
            except ProviderRefused as refusal:
                log.warning("The discovery document of provider %s: %s.", provider.id, refusal.sentence)
                continue
            with wiring.database.writing() as session:
                providers.record_discovered(session, provider.id, document)
