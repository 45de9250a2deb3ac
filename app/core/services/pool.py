"""The connected services of a community as classifiers. One pool for a process: it keeps gates and answers.

The database is asked for the services for every post, so that a change takes effect everywhere at once.
"""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import ConnectedService, ServiceVersion
from app.core.outbound import AllowList
from app.core.sealing import SealBroken, Sealer
from app.core.services.calling import ServiceClassifier
from app.core.services.calls import Ledger
from app.core.services.embedding import Embedder, VectorCache
from app.core.services.gates import AnswerCache, Gate, GuardedCalls
from app.core.services.kinds import Adapter, Connection, EmbeddingAdapter, Failure, Kind
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode

A = TypeVar("A")


@dataclass
class ServicePool:
    """Builds a classifier for each service. ``kinds`` are the known kinds by name."""

    kinds: Mapping[str, Kind]
    sealer: Sealer
    allow: AllowList
    ledger: Ledger
    cache: AnswerCache = field(default_factory=AnswerCache)
    vectors: VectorCache = field(default_factory=VectorCache)
    _gates: dict[uuid.UUID, Gate] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def classifiers(
        self, session: Session, community_id: uuid.UUID, mode: ServiceMode = ServiceMode.IN_FORCE
    ) -> list[ServiceClassifier]:
        """The community's services in this mode, by name, with the versions in use."""
        return [
            self.connected(service, version)
            for service, version in in_use(session, community_id)
            if service.mode is mode and not self.embeds(service)
        ]

    def embeds(self, service: ConnectedService) -> bool:
        """Whether this service gives vectors instead of scores."""
        kind = self.kinds.get(service.kind)
        return kind is not None and kind.embeds

    def embedder(
        self, service: ConnectedService, settings: ServiceSettings, seconds: float | None = None
    ) -> Embedder:
        """A service that ``embeds``, with these settings; a call takes at most ``seconds`` if that is given."""
        if seconds is not None:
            settings = replace(settings, deadline=min(seconds, settings.deadline))
        kind = self.kinds[service.kind]
        adapter = self._connected(service, kind, settings, kind.embed or _no_vectors)
        return Embedder(
            service.id,
            settings,
            adapter,
            GuardedCalls(service.id, settings, self._gate(service.id, settings.concurrency), self.ledger),
            self.vectors,
            kind.batch,
            kind.max_chars,
        )

    def connected(self, service: ConnectedService, version: ServiceVersion) -> ServiceClassifier:
        """A service as a classifier with one version of its settings."""
        settings = ServiceSettings.from_json(version.settings)
        kind = self.kinds.get(service.kind)
        return ServiceClassifier(
            service_id=service.id,
            service_name=service.name,
            number=version.version,
            kind=kind,
            settings=settings,
            adapter=self._adapter(service, kind, settings),
            gate=self._gate(service.id, settings.concurrency),
            cache=self.cache,
            ledger=self.ledger,
            is_observed=service.mode is not ServiceMode.IN_FORCE,
            cost=100 + round(settings.price * 100),
        )

    def _adapter(
        self, service: ConnectedService, kind: Kind | None, settings: ServiceSettings
    ) -> Adapter | Failure:
        if kind is None:
            return Failure(f"no kind {service.kind} is installed", retry=False)
        return self._connected(service, kind, settings, kind.connect)

    def _connected(
        self,
        service: ConnectedService,
        kind: Kind,
        settings: ServiceSettings,
        connect: Callable[[Connection], A],
    ) -> A | Failure:
        """The adapter, or why there is none. Adapters hold no connection, so making one costs little."""
        if kind.calls_out and settings.host not in service.consents:
            return Failure(f"nobody agreed to send posts to {settings.host}", retry=False)
        try:
            key = self.sealer.open(service.key, str(service.id)) if service.key else ""
        except SealBroken:
            return Failure("its key cannot be decrypted", retry=False)
        connection = Connection(
            settings.url,
            settings.model,
            key,
            settings.options,
            tuple(settings.categories),
            settings.deadline,
            self.allow,
        )
        try:
            return connect(connection)
        except Failure as failure:
            return failure
        except Exception as error:
            # The adapter of an installed package may raise anything; the posts must still go to people.
            return Failure(f"the adapter cannot start: {type(error).__name__}", retry=False)

    def _gate(self, service_id: uuid.UUID, concurrency: int) -> Gate:
        with self._lock:
            gate = self._gates.get(service_id)
            if gate is None or gate.concurrency != concurrency:
                gate = self._gates[service_id] = Gate(concurrency)
            return gate


def _no_vectors(_connection: Connection) -> EmbeddingAdapter:
    raise Failure("it gives no vectors", retry=False)


def in_use(session: Session, community_id: uuid.UUID) -> Sequence[tuple[ConnectedService, ServiceVersion]]:
    """The community's services that are not removed, by name, each with its version in use; one query."""
    rows = session.execute(
        sa.select(ConnectedService, ServiceVersion)
        .join(
            ServiceVersion,
            sa.and_(
                ServiceVersion.service_id == ConnectedService.id,
                ServiceVersion.version == ConnectedService.version,
            ),
        )
        .where(ConnectedService.community_id == community_id, ConnectedService.removed_at.is_(None))
        .order_by(ConnectedService.name)
    )
    return [(service, version) for service, version in rows]
