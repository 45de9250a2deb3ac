"""Builds the service from its settings: database, classifiers, adapters. Only this module imports all of them."""

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from flask import current_app, request
from sqlalchemy.orm import Session

from app.adapters.builtin_notes import BuiltinWriter
from app.adapters.feed_fetcher import HttpFeedFetcher
from app.adapters.languages import known_languages
from app.adapters.mail import FolderMailer, SmtpMailer, remove_mails
from app.adapters.media.folder_store import FolderStore
from app.adapters.media.obtaining import HttpObtainer
from app.adapters.media.s3_store import S3Store
from app.adapters.openai_notes import OpenAiCompatibleWriter
from app.adapters.openid import HttpOpenId
from app.adapters.services.kinds import DatabaseLedger, known_kinds
from app.adapters.services.onnx_files import ModelLimits
from app.adapters.webhook_sender import HttpSender
from app.core import outbox, texts
from app.core.attachments.fetching import Obtainer
from app.core.attachments.files import MediaStore
from app.core.classify import CATEGORIES, Classifier
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.seed import SeedClassifier
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import Database, EnqueueJob
from app.core.factcheck import spaces
from app.core.factcheck.feed_fetches import FeedFetcher
from app.core.factcheck.nearest import Vectors
from app.core.factcheck.scorer import FactCheckScorer, KeptMatches
from app.core.insights.monitoring import LastTotals
from app.core.learning.scorer import LearnedModels
from app.core.mail import Mailer
from app.core.notes.ai_notes import NoteWriter
from app.core.outbound import AllowList
from app.core.people.openid import OpenIdClient
from app.core.people.providers import Draft as ProviderDraft
from app.core.requests import waiting
from app.core.requests.waiting import InForce
from app.core.rulesets.versions import CommunityRules
from app.core.sealing import Sealer
from app.core.services.pool import ServicePool
from app.core.texts import Language
from app.core.upkeep.erasure import Erased
from app.core.upkeep.mail_texts import MailLinks
from app.core.webhooks import events
from app.core.webhooks.sending import Sender
from app.settings import Settings
from app.throttle import Throttle

EXTENSION = "bridgenote"


class JobEngine(Protocol):
    """The methods of a job engine that the wiring uses; ``jobs.engine`` and the tests' fake both have them."""

    def register(self, name: str, function: Any, *, attempts: int = 5) -> None: ...
    def enqueue(
        self,
        session: Any,
        name: str,
        args: Any,
        *,
        key: str | None = None,
        delay: float = 0.0,
        community: str | None = None,
        priority: int = 0,
    ) -> None: ...
    def every(self, name: str, seconds: float) -> None: ...
    def prepare(self) -> None: ...
    def start(self) -> None: ...
    def stop(self, drain: float = 10.0) -> Any: ...


@dataclass
class Wiring:
    """All services that one process uses. ``wire`` creates it once; tests create their own with parts replaced."""

    settings: Settings
    database: Database
    classifiers: Sequence[Classifier]
    note_writer: NoteWriter
    sealer: Sealer
    sender: Sender
    feeds: FeedFetcher
    allow: AllowList
    openid: OpenIdClient
    throttle: Throttle
    mailer: Mailer
    mail_links: MailLinks
    services: ServicePool
    obtainer: Obtainer
    media: MediaStore
    languages: Mapping[str, Language] = field(default_factory=known_languages)
    rules: CommunityRules = field(default_factory=CommunityRules)
    learned: LearnedModels = field(default_factory=LearnedModels)
    matches: KeptMatches = field(default_factory=KeptMatches)
    vectors: Vectors = field(default_factory=Vectors)
    last_totals: LastTotals = field(default_factory=LastTotals)
    jobs: JobEngine | None = None
    first_admin_token: str | None = None
    """Token of the link that ``serve`` prints while there is no admin; stored in plain text only here.
    """
    wake: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        texts.register(self.languages)

    @property
    def community_defaults(self) -> CommunitySettings:
        """Service-wide defaults for settings that a community has not set."""
        defaults: CommunitySettings = self.database.info[community_settings.DEFAULTS]
        return defaults

    def classifiers_for(
        self, session: Session, community_id: uuid.UUID, own: InForce | None = None
    ) -> Sequence[Classifier]:
        """The classifiers that score this community's content: the shipped ones, adapted, the community's own rules,
        the connected services whose scores count, the fact-checks that it uses, and last the model that learned from
        the community's decisions.

        ``own``: what of its own it has in force, if the caller has read it.
        """
        own = own or waiting.read_in_force(session, community_id)
        classifiers = list(self.rules.classifiers(session, community_id, self.classifiers, own.rules_version))
        if own.has_services:
            classifiers += self.services.classifiers(session, community_id)
        if own.has_fact_checks:
            serving = spaces.serving(session, self.services, community_id) if own.has_services else None
            classifiers.append(FactCheckScorer(self.database, self.matches, serving, self.vectors))
        model = self.learned.model(session, community_id) if own.has_learned else None
        return classifiers if model is None else [*classifiers, model]

    def forget(self, erased: Erased) -> int:
        """Remove what an erasure left outside the rows of the database. Call it after the commit.

        Return the number of mails that were deleted from the folder where they are without a mail server.
        """
        mails = remove_mails(mail_folder(self.settings), erased.emails, erased.name) if erased.emails else 0
        self.database.empty_log()
        return mails

    def attach(self, jobs: JobEngine) -> None:
        """Use this engine for the jobs that transactions enqueue."""
        self.jobs = jobs

        self.database.enqueue = writes_to(jobs)


def writes_to(jobs: JobEngine) -> EnqueueJob:
    """What a database needs to hand the jobs of a transaction to this engine."""

    def enqueue(session: Session, job: outbox.Job) -> None:
        jobs.enqueue(
            session,
            job.name,
            dict(job.args),
            key=job.key,
            delay=job.delay,
            community=job.community,
            priority=job.priority,
        )

    return enqueue


def wire(settings: Settings) -> Wiring:
    """Build the service that ``settings`` describe. Call ``settings.ready()`` first."""
    database = Database(settings.sqlalchemy_url, **settings.database_options)
    database.info[community_settings.DEFAULTS] = CommunitySettings(
        min_ratings=settings.min_ratings, undo_seconds=settings.undo_seconds
    )
    database.info[events.REVIEW_TIME] = timedelta(days=settings.review_days)
    allow = AllowList.parse(settings.webhook_allow_hosts)
    classifiers = shipped_classifiers()
    sealer = make_sealer(settings)
    wiring = Wiring(
        settings=settings,
        database=database,
        classifiers=classifiers,
        note_writer=note_writer(settings, classifiers),
        sealer=sealer,
        sender=HttpSender(allow),
        feeds=HttpFeedFetcher(allow),
        allow=allow,
        openid=HttpOpenId(allow),
        throttle=Throttle.from_settings(settings),
        mailer=mailer(settings),
        mail_links=MailLinks(settings.base_url, settings.secret_key.get_secret_value().encode()),
        services=ServicePool(
            known_kinds(model_limits(settings)),
            sealer,
            AllowList.parse(settings.service_allow_hosts),
            DatabaseLedger(lambda: wiring.database),
        ),
        obtainer=HttpObtainer(AllowList.parse(settings.media_allow_hosts)),
        media=media_store(settings),
    )
    database.on_commit = wiring.wake.set
    return wiring


def server_provider(settings: Settings) -> ProviderDraft | None:
    """The sign-in provider that the settings name, or None."""
    if not settings.oidc_issuer:
        return None
    return ProviderDraft(
        label=settings.oidc_label,
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret.get_secret_value(),
        scopes=settings.oidc_scopes,
        groups_claim=settings.oidc_groups_claim,
        creates_accounts=settings.oidc_creates_accounts,
    )


def shipped_classifiers() -> list[Classifier]:
    """The classifiers of a new community: the shipped rules and the shipped model.

    The rules may act without review (tier 1) in every category; the operator's thresholds decide in which they do
    (decision 0009). By default these are only spam and pii. The model never acts without review.
    """
    return [RulePackClassifier(tier1_categories=frozenset(CATEGORIES)), SeedClassifier()]


def model_limits(settings: Settings) -> ModelLimits:
    """What the settings allow to models of files."""
    folder = Path(settings.models_dir) if settings.models_dir else None
    return ModelLimits(folder, settings.model_threads, settings.model_memory_mb)


def make_sealer(settings: Settings) -> Sealer:
    """Create the sealer: it encrypts with the current key and also decrypts with the previous one.

    When a value needs a key it does not know, it reads the keys in the data folder again.
    """
    return Sealer.from_secret(
        settings.encryption_key.get_secret_value(),
        [settings.previous_encryption_key.get_secret_value()],
        settings.kept_encryption_keys,
    )


def note_writer(settings: Settings, classifiers: Sequence[Classifier]) -> NoteWriter:
    """Create the writer of AI notes that the settings choose."""
    builtin = BuiltinWriter()
    if settings.note_writer == "builtin":
        return builtin
    return OpenAiCompatibleWriter(
        settings.ai_base_url,
        settings.ai_api_key.get_secret_value(),
        settings.ai_model,
        fallback=builtin,
        classifiers=classifiers,
        deadline=settings.ai_deadline,
    )


def media_store(settings: Settings) -> MediaStore:
    """Create the store of attachments: the bucket in the settings, or a folder if none is set."""
    if not settings.media_url:
        return FolderStore(settings.media_folder)
    return S3Store(
        settings.media_url,
        settings.media_region,
        settings.media_key_id,
        settings.media_secret_key.get_secret_value(),
    )


def mail_folder(settings: Settings) -> Path:
    """Where mails are written if no mail server is set."""
    return settings.data_dir.resolve() / "mail"


def mailer(settings: Settings) -> Mailer:
    """Create the mailer: the mail server in the settings, or a folder if none is set."""
    if not settings.smtp_host:
        return FolderMailer(mail_folder(settings), settings.mail_from)
    return SmtpMailer(
        settings.smtp_host,
        settings.smtp_port,
        settings.smtp_security,
        settings.mail_from,
        settings.smtp_username,
        settings.smtp_password.get_secret_value(),
    )


def wired() -> Wiring:
    """Return the wiring of the current application."""
    wiring: Wiring = current_app.extensions[EXTENSION]
    return wiring


def base_url() -> str:
    """Return the base of absolute URLs in a response, without a slash at the end.

    It is the public URL, or if none is set, the request's Host, which ``app/process/hosts.py`` has checked.
    """
    settings = wired().settings
    if settings.public_url or "Host" not in request.headers:
        return settings.base_url
    return request.host_url.rstrip("/")


def own_path(url: str) -> str:
    """Return the path and query of a URL if it belongs to this service, else an empty string."""
    for base in (base_url(), request.host_url.rstrip("/")):
        if url.startswith(base + "/"):
            return url.removeprefix(base)
    return ""
