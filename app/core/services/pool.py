"""The connected services of a community as classifiers. One pool for a process: it keeps gates and answers.

The database is asked for the services for every post, so that a change takes effect everywhere at once. Services
that embed give vectors of length 1 instead of scores: the product of two is the cosine of their angle.
"""

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.models import ConnectedService, ServiceVersion
from app.core.outbound import AllowList
from app.core.recent import Recent
from app.core.sealing import SealBroken, Sealer
from app.core.services.calling import ServiceClassifier
from app.core.services.calls import ATTEMPTS, AnswerCache, Call, Gate, GuardedCalls, Ledger
from app.core.services.kinds import Connection, EmbeddingAdapter, Embeddings, Failure, Kind
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode

Vector = NDArray[np.float32]

DIMENSIONS_MAX = 4_096
POST_SECONDS = 2.0
"""A post waits no longer than this for its vector; then it is matched by its words alone."""
SHORTER = 400
"""Characters of a text that are tried alone when the service refuses the whole of it, as models with short input do."""
CACHE_SIZE = 2_000

VectorKey = tuple[uuid.UUID, str, str]
"""Service, identity of its model, and the hash of the text."""


VectorCache = Recent[VectorKey, Vector]


@dataclass(frozen=True)
class Embedder:
    """One service with one version of its settings. ``adapter`` is a `Failure` when it cannot be asked at all."""

    service_id: uuid.UUID
    settings: ServiceSettings
    adapter: EmbeddingAdapter | Failure
    calls: GuardedCalls
    cache: VectorCache
    batch: int
    max_chars: int

    def of_post(self, text: str) -> Vector:
        """The vector of a post, asked for once and only for a short while. Raises Failure."""
        prepared = self._prepared("post_prefix", text, self.max_chars)
        key = self.service_id, identity(self.settings), text_hash(prepared)
        known = self.cache.get(key)
        if known is not None:
            self.calls.ledger.finish(self.service_id, Call(cached=True))
            return known
        try:
            (vector,) = self._ask([prepared], attempts=1)
        except Failure as failure:
            if not failure.refused or len(text) <= SHORTER:
                raise
            (vector,) = self._ask([self._prepared("post_prefix", text, SHORTER)], attempts=1)
        self.cache.put(key, vector)
        return vector

    def of_items(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vectors of at most ``batch`` fact-checks; None for one that the service refuses, however short.

        Raises:
            Failure: the service cannot be asked now, or it refuses everything.
        """
        prepared = [self._prepared("item_prefix", text, self.max_chars) for text in texts]
        try:
            return list(self._ask(prepared))
        except Failure as failure:
            if not failure.refused:
                raise
        # One of the texts may be too long for the model. If it refuses even a short one, that is not the reason.
        self._ask(["A claim"])
        return [self._of_item(text) for text in texts]

    def _of_item(self, text: str) -> Vector | None:
        for most in (self.max_chars, SHORTER):
            try:
                return self._ask([self._prepared("item_prefix", text, most)])[0]
            except Failure as failure:
                if not failure.refused:
                    raise
        return None

    def _prepared(self, prefix: str, text: str, most: int) -> str:
        plain = " ".join(text.replace("\x00", " ").split())[:most] or "-"
        return f"{self.settings.options.get(prefix, '')} {plain}".strip()

    def _ask(self, texts: Sequence[str], attempts: int = ATTEMPTS) -> Sequence[Vector]:
        adapter = self.adapter
        if isinstance(adapter, Failure):
            raise adapter
        found: list[Vector] = []

        def call() -> str:
            answer = adapter.embed(texts)
            found[:] = checked(answer, len(texts))
            return answer.model if isinstance(answer.model, str) and answer.model.isprintable() else ""

        self.calls.ask(call, lambda model: model[:80], attempts)
        return found


def checked(answer: Embeddings, count: int) -> list[Vector]:
    """The vectors of an answer with length 1, if there are ``count`` of them, all of one size. Raises Failure."""
    if len(answer.vectors) != count:
        raise Failure(f"broken answer: {len(answer.vectors)} vectors for {count} texts")
    try:
        rows = np.array(answer.vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise Failure("broken answer: vectors of different sizes, or not of numbers") from None
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= DIMENSIONS_MAX:
        raise Failure(f"broken answer: no vectors of 1 to {DIMENSIONS_MAX:,} numbers")
    lengths = np.linalg.norm(rows, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise Failure("broken answer: a vector without direction")
    return list((rows / lengths[:, None]).astype(np.float32))


def identity(settings: ServiceSettings) -> str:
    """What makes vectors comparable: two settings with the same identity give the same fact-check the same vector."""
    parts = [settings.url, settings.model]
    parts += [settings.options.get(name, "") for name in ("dimensions", "item_prefix")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


A = TypeVar("A")


@dataclass
class ServicePool:
    """Builds a classifier for each service. ``kinds`` are the known kinds by name."""

    kinds: Mapping[str, Kind]
    sealer: Sealer
    allow: AllowList
    ledger: Ledger
    cache: AnswerCache = field(default_factory=AnswerCache)
    vectors: VectorCache = field(default_factory=lambda: Recent(CACHE_SIZE))
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
            adapter=(
                self._connected(service, kind, settings, kind.connect)
                if kind is not None
                else Failure(f"no kind {service.kind} is installed", retry=False)
            ),
            gate=self._gate(service.id, settings.concurrency),
            cache=self.cache,
            ledger=self.ledger,
            is_observed=service.mode is not ServiceMode.IN_FORCE,
            cost=100 + round(settings.price * 100),
        )

    def _connected(
        self,
        service: ConnectedService,
        kind: Kind,
        settings: ServiceSettings,
        connect: Callable[[Connection], A],
    ) -> A | Failure:
        """The adapter, or why there is none. Adapters hold no connection, so making one costs little."""
        if kind.calls_out and settings.host not in service.consents:
            return Failure(f"no operator agreed to send posts to {settings.host}", retry=False)
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
