"""Who is calling: the key, the user it speaks for, and how much it may still ask (Contract: section 1)."""

import uuid
from dataclasses import dataclass, replace

import flask
from flask import Request, Response
from sqlalchemy.orm import Session

from app.api import acting
from app.api.acting import Asserted
from app.core import clock, communities, keys, profiles, rules
from app.core.errors import Conflict, Forbidden, NotFound, TooMany, Unauthenticated
from app.core.models import ApiKey, Profile
from app.core.permissions import Actor
from app.core.vocabulary import KeyTemplate, Scope
from app.throttle import Standing
from app.wiring import wired

MISSING = "Missing authentication credentials"
WRONG = "Invalid authentication credentials"
NO_SCOPE = "API key lacks required scope"
READ_ONLY = "This API key may only read"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_PLATFORMS = frozenset({profiles.WEB, profiles.SERVICE_PLATFORM})


@dataclass(frozen=True)
class Caller:
    """Who asks: ``actor`` for the core; ``platform`` and ``scope_id`` as the X-Adapter headers say."""

    actor: Actor
    key_id: uuid.UUID
    platform: str | None
    scope_id: uuid.UUID | None


def caller() -> Caller:
    """The caller of this request, known once its blueprint let it in."""
    found: Caller = flask.g.caller
    return found


def actor() -> Actor:
    """The caller as the core's verbs take it."""
    return caller().actor


def authenticate(scope: Scope = Scope.ADAPTER) -> None:
    """Let a call in, or refuse it: the ``before_request`` of every blueprint of the API.

    Three or four reads; it writes only when the key's last use is older than a minute, or when the asserted user is
    new or changed.
    """
    request = flask.request
    with wired().database.reading() as session:
        key = identify(session, request)
        flask.g.key_id = key.id
        _count(key.id)
        if scope.value not in key.scopes:
            raise Forbidden(NO_SCOPE)
        read_only = key.template is KeyTemplate.READ_ONLY
        if read_only and request.method not in SAFE_METHODS:
            raise Forbidden(READ_ONLY)
        asserted = acting.read(request.headers)
        base = _actor(key, asserted, read_only)
        scope_id = _scope(session, base, asserted)
        profile = _known_profile(session, asserted)
    profile = _keep(key, asserted, profile, read_only)
    name = key.name if profile is None else f"{asserted.username or asserted.user_id} via {key.name}"
    flask.g.caller = Caller(
        actor=replace(base, name=name[: rules.NAME_MAX], profile_id=profile.id if profile else None),
        key_id=key.id,
        platform=asserted.platform,
        scope_id=scope_id,
    )


def identify(session: Session, request: Request) -> ApiKey:
    """The live key that the headers carry.

    A Bearer token with our prefix decides; otherwise X-API-Key counts, even beside an unrelated Bearer token. Two
    different valid keys are refused. Unknown, malformed, revoked and expired look alike.
    """
    bearer = _bearer(request)
    other = request.headers.get("X-API-Key") or None
    if bearer is None and other is None:
        raise Unauthenticated(MISSING)
    ours = bearer if bearer is not None and keys.looks_like_key(bearer) else None
    key = keys.authenticate(session, ours or other or "")
    if key is None:
        raise Unauthenticated(WRONG)
    if (
        ours is not None
        and other is not None
        and other != ours
        and keys.authenticate(session, other) is not None
    ):
        raise Unauthenticated(WRONG)
    return key


def _bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _actor(key: ApiKey, asserted: Asserted, read_only: bool) -> Actor:
    asserted_staff = asserted.is_staff and key.may_assert_staff
    return Actor(
        kind="key",
        name=key.name,
        key_id=key.id,
        communities=None if key.everywhere else frozenset(row.community_id for row in key.communities),
        staff=not read_only and (asserted_staff if asserted.speaks_of_a_user else True),
        read_only=read_only,
        may_open_communities=key.may_open_communities and not read_only,
    )


def _scope(session: Session, actor: Actor, asserted: Asserted) -> uuid.UUID | None:
    """The community that X-Adapter-Scope names. Only a call that may open it may name one that is not there."""
    if asserted.scope is None:
        return None
    try:
        return communities.resolve(session, actor, asserted.scope, asserted.platform).id
    except (NotFound, Conflict):
        view = flask.current_app.view_functions[flask.request.endpoint or ""]
        if actor.may_open_communities and getattr(view, "opens_communities", False):
            return None
        raise Forbidden("X-Adapter-Scope names no community of this API key") from None


def _known_profile(session: Session, asserted: Asserted) -> Profile | None:
    if asserted.platform is None or asserted.user_id is None:
        return None
    if asserted.platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {asserted.platform} through an API key")
    return profiles.find(session, asserted.platform, asserted.user_id)


def _keep(key: ApiKey, asserted: Asserted, profile: Profile | None, read_only: bool) -> Profile | None:
    """Write down the key's use and the user, when there is something to write: the user's profile."""
    now = clock.now()
    used = key.last_used_at is None or key.last_used_at < now - keys.LAST_USED_EVERY
    named = asserted.platform is not None and asserted.user_id is not None
    changed = named and not read_only and _differs(profile, asserted)
    if not used and not changed:
        return profile
    with wired().database.writing() as session:
        if used:
            keys.note_use(session, key.id, now)
        if changed and asserted.platform is not None and asserted.user_id is not None:
            profile = profiles.ensure(
                session,
                asserted.platform,
                asserted.user_id,
                display_name=asserted.username,
                trust_level=asserted.trust_level,
            )
    return profile


def _differs(profile: Profile | None, asserted: Asserted) -> bool:
    if profile is None:
        return True
    renamed = asserted.username is not None and asserted.username != profile.display_name
    return renamed or (asserted.trust_level is not None and asserted.trust_level != profile.trust_level)


def _count(key_id: uuid.UUID) -> None:
    throttle = wired().throttle
    try:
        flask.g.standing = throttle.hit("key", str(key_id))
    except TooMany:
        flask.g.standing = throttle.standing("key", str(key_id))
        raise


def add_rate_headers(response: Response) -> Response:
    """``RateLimit`` and ``RateLimit-Policy`` (IETF draft-ietf-httpapi-ratelimit-headers), and no caching."""
    standing: Standing | None = flask.g.get("standing")
    if standing is not None:
        response.headers["RateLimit-Policy"] = f'"key";q={standing.limit};w={standing.window}'
        response.headers["RateLimit"] = f'"key";r={standing.remaining};t={standing.reset}'
    response.headers.setdefault("Cache-Control", "no-store")
    return response
