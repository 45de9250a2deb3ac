"""Puts the service together: settings in, everything the doors use out. Only this module knows them all."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flask import current_app, request
from sqlalchemy.orm import Session

from app.adapters.builtin_notes import BuiltinWriter
from app.adapters.mail import FolderMailer, SmtpMailer
from app.adapters.openai_notes import OpenAiCompatibleWriter
from app.adapters.webhook_sender import HttpSender
from app.core import outbox
from app.core.classify import CATEGORIES, Classifier
from app.core.classify.rulepack import RulePackClassifier
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import Database, EnqueueJob
from app.core.mail import Mailer
from app.core.notes.ai_notes import NoteWriter
from app.core.rulesets.compiled import CommunityRules
from app.core.sealing import Sealer
from app.core.upkeep.mail_texts import Letterhead
from app.core.webhooks.sending import AllowList, Sender
from app.settings import Settings
from app.throttle import Throttle

EXTENSION = "bridgenote"


class JobEngine(Protocol):
    """What the wiring needs of a job engine; ``jobs.engine`` and its test double both have it."""

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
    ) -> None: ...
    def every(self, name: str, seconds: float) -> None: ...
    def prepare(self) -> None: ...
    def start(self) -> None: ...
    def stop(self, drain: float = 10.0) -> Any: ...


@dataclass
class Wiring:
    """Everything one process uses. Made once by ``wire``; tests make their own with parts replaced."""

    settings: Settings
    database: Database
    classifiers: Sequence[Classifier]
    note_writer: NoteWriter
    sealer: Sealer
    sender: Sender
    allow: AllowList
    throttle: Throttle
    mailer: Mailer
    letterhead: Letterhead
    rules: CommunityRules = field(default_factory=CommunityRules)
    jobs: JobEngine | None = None
    first_admin_token: str | None = None
    """The link that ``serve`` made while there is no admin; kept nowhere else in plain text (Decision 0031)."""
    wake: threading.Event = field(default_factory=threading.Event)

    def attach(self, jobs: JobEngine) -> None:
        """Let this engine take the jobs that transactions note."""
        self.jobs = jobs

        self.database.enqueue = writes_to(jobs)


def writes_to(jobs: JobEngine) -> EnqueueJob:
    """What a database needs to hand the jobs of a transaction to this engine."""

    def enqueue(session: Session, job: outbox.Job) -> None:
        jobs.enqueue(session, job.name, dict(job.args), key=job.key, delay=job.delay, community=job.community)

    return enqueue


def wire(settings: Settings) -> Wiring:
    """The service as its settings say. ``settings`` must be ``ready()``."""
    database = Database(settings.sqlalchemy_url)
    community_settings.set_defaults(
        CommunitySettings(min_ratings=settings.min_ratings, undo_seconds=settings.undo_seconds)
    )
    allow = AllowList.parse(settings.webhook_allow_hosts)
    # Which of its categories act by themselves is the operator's word (decision 0009): none ships so
    # but spam and pii.
    classifiers = [RulePackClassifier(tier1_categories=frozenset(CATEGORIES))]
    wiring = Wiring(
        settings=settings,
        database=database,
        classifiers=classifiers,
        note_writer=note_writer(settings, classifiers),
        sealer=make_sealer(settings),
        sender=HttpSender(allow),
        allow=allow,
        throttle=Throttle.from_settings(settings),
        mailer=mailer(settings),
        letterhead=Letterhead(settings.base_url, settings.secret_key.get_secret_value().encode()),
    )
    database.on_commit = wiring.wake.set
    return wiring


def make_sealer(settings: Settings) -> Sealer:
    """Seals with the key in force; opens with the one before too, and with what the data folder has come to hold."""
    return Sealer.from_secret(
        settings.encryption_key.get_secret_value(),
        [settings.previous_encryption_key.get_secret_value()],
        settings.kept_encryption_keys,
    )


def note_writer(settings: Settings, classifiers: Sequence[Classifier]) -> NoteWriter:
    """Who drafts AI notes, by the settings' word."""
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


def mailer(settings: Settings) -> Mailer:
    """Who hands mail on: the mail server of the settings, or a folder where none is set."""
    if not settings.smtp_host:
        return FolderMailer(settings.data_dir.resolve() / "mail", settings.mail_from)
    return SmtpMailer(
        settings.smtp_host,
        settings.smtp_port,
        settings.smtp_security,
        settings.mail_from,
        settings.smtp_username,
        settings.smtp_password.get_secret_value(),
    )


def wired() -> Wiring:
    """The wiring of the application that is serving this request."""
    wiring: Wiring = current_app.extensions[EXTENSION]
    return wiring


def base_url() -> str:
    """What the absolute URLs of an answer begin with, without a slash at the end.

    That is the public URL; where none is set, the host that the request names, which ``app/process/hosts.py`` has
    checked.
    """
    settings = wired().settings
    if settings.public_url or "Host" not in request.headers:
        return settings.base_url
    return request.host_url.rstrip("/")


def own_path(url: str) -> str:
    """The path and query of a URL of this service; empty for any other."""
    for base in (base_url(), request.host_url.rstrip("/")):
        if url.startswith(base + "/"):
            return url.removeprefix(base)
    return ""
