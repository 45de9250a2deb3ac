"""Authentication of API calls: the key, the acting user, and the rate limits (docs/integrate/api.md)."""

import uuid
from dataclasses import dataclass, replace

import flask
import sqlalchemy as sa
from flask import Request, Response
from sqlalchemy.orm import Session

from app.api import acting
from app.api.acting import Asserted
from app.core import clock, limits, security_events
from app.core.communities import communities
from app.core.errors import Conflict, Forbidden, NotFound, Unauthenticated
from app.core.models import Community, Profile
from app.core.people import keys, profiles
from app.core.people.keys import LiveKey
from app.core.people.profiles import Identity
from app.core.permissions import Actor
from app.core.security_events import SecurityEvent
from app.core.vocabulary import KeyTemplate, Scope
from app.throttle import LimitName, OverLimit, Standing
from app.wiring import wired

MISSING = "Missing authentication credentials"
WRONG = "Invalid authentication credentials"
NO_SCOPE = "API key lacks required scope"
READ_ONLY = "This API key may only read"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_PLATFORMS = frozenset({profiles.WEB, profiles.SERVICE_PLATFORM})


@dataclass(frozen=True)
class Caller:
    """The caller of a request: the ``actor`` for the core, and the values of the X-Adapter headers.

    ``scope_id`` is the community in X-Adapter-Scope. ``home`` is the community in which the acting user's profile was
    looked up: the one in X-Adapter-Scope, else the key's only community. It is loaded only if the user's platform
    numbers its users per community.
    """

    actor: Actor
    key_id: uuid.UUID
    asserted: Asserted
    scope_id: uuid.UUID | None
    home: Community | None

    @property
    def platform(self) -> str | None:
        return self.asserted.platform

    def identity_in(self, community: Community | None) -> Identity | None:
        """Return the acting user's identity in a community; None if the call names no user."""
        platform, user_id = self.asserted.platform, self.asserted.user_id
        if platform is None or user_id is None:
            return None
        return Identity(platform, user_id, profiles.scope_in(platform, community))


def caller() -> Caller:
    """Return the caller of this request. Available after ``authenticate``."""
    current: Caller = flask.g.caller
    return current


def actor() -> Actor:
    """Return the caller's actor, as the core's verbs expect it."""
    return caller().actor


def caller_in(session: Session, community_id: uuid.UUID) -> Caller:
    """Return the caller with the acting user's profile in this community (decision 0015).

    Needed by verbs that check who owns something. Call it in a writing session: it creates the profile of a user who
    is new to the community.
    """
    current = caller()
    if current.actor.profile_id is None:
        return current
    community = session.get_one(Community, community_id)
    identity = current.identity_in(community)
    if identity is None or identity == current.identity_in(current.home):
        return current
    asserted = current.asserted
    profile = profiles.ensure(
        session, *identity, display_name=asserted.username, trust_level=asserted.trust_level
    )
    return replace(current, actor=replace(current.actor, profile_id=profile.id), home=community)


def known_caller_in(session: Session, community_id: uuid.UUID) -> Caller:
    """Return the caller as ``caller_in``, but create no profile: that of a user new to the community stays as it is."""
    current = caller()
    identity = current.identity_in(session.get_one(Community, community_id))
    profile = profiles.find(session, *identity) if identity is not None else None
    if profile is None or current.actor.profile_id is None:
        return current
    return replace(current, actor=replace(current.actor, profile_id=profile.id))


def authenticate(*scopes: Scope, limit: LimitName = "key", token: str | None = None) -> None:
    """Authenticate a call or refuse it. Runs as ``before_request`` of every blueprint of the API.

    Needs one database read, and a few more if the call names a user or a community. Writes only if the key's last
    recorded use is older than a minute, or the asserted user is new or changed. The key needs one of ``scopes``.
    ``token``: the key, where it is in neither of our headers.
    """
    request = flask.request
    with wired().database.reading() as session:
        key = identify(session, request, token)
    flask.g.key_id = key.id
    flask.g.standing = (limit, count(limit, str(key.id)))
    if not {scope.value for scope in scopes} & set(key.scopes):
        raise Forbidden(NO_SCOPE)
    read_only = key.template is KeyTemplate.READ_ONLY
    if read_only and request.method not in SAFE_METHODS:
        raise Forbidden(READ_ONLY)
    asserted = acting.read(request.headers)
    caller, identity, profile = _resolve_caller(key, asserted, read_only)
    profile = _record_use(key, asserted, identity, profile, read_only or Scope.SCORES in scopes)
    if profile is not None:
        name = f"{asserted.username or asserted.user_id} via {key.name}"
        actor = replace(caller.actor, name=name[: limits.NAME_MAX], profile_id=profile.id)
        caller = replace(caller, actor=actor)
    flask.g.caller = caller


def _resolve_caller(
    key: LiveKey, asserted: Asserted, read_only: bool
) -> tuple[Caller, Identity | None, Profile | None]:
    """Return the caller, the acting user's identity in their community, and their profile if it exists."""
    actor = _actor(key, asserted, read_only)
    if asserted.scope is None and asserted.user_id is None:
        return Caller(actor, key.id, asserted, None, None), None, None
    with wired().database.reading() as session:
        scope = _scope(session, actor, asserted)
        has_local_id = asserted.user_id is not None and asserted.platform not in profiles.GLOBAL_PLATFORMS
        home = communities.only_one(session, actor) if scope is None and has_local_id else scope
        caller = Caller(actor, key.id, asserted, scope.id if scope is not None else None, home)
        identity = caller.identity_in(home)
        return caller, identity, _known_profile(session, identity)


def identify(session: Session, request: Request, token: str | None = None) -> LiveKey:
    """Return the live API key in the headers.

    A Bearer token with our prefix is used first; otherwise X-API-Key, even if there is an unrelated Bearer token; then
    ``token``. Two different valid keys are refused. Unknown, malformed, revoked and expired keys get the same answer.
    """
    bearer = _bearer(request)
    other = request.headers.get("X-API-Key") or token
    if bearer is None and other is None:
        raise Unauthenticated(MISSING)
    ours = bearer if bearer is not None and keys.looks_like_key(bearer) else None
    key = keys.authenticate(session, ours or other or "")
    if key is None:
        raise _wrong(request)
    if (
        ours is not None
        and other is not None
        and other != ours
        and keys.authenticate(session, other) is not None
    ):
        raise _wrong(request)
    return key


def _wrong(request: Request) -> Unauthenticated:
    security_events.log(SecurityEvent.KEY_REFUSED, client_ip=request.remote_addr)
    return Unauthenticated(WRONG)


def _bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _actor(key: LiveKey, asserted: Asserted, read_only: bool) -> Actor:
    asserted_staff = asserted.is_staff and key.may_assert_staff
    return Actor(
        kind="key",
        name=key.name,
        key_id=key.id,
        communities=None if key.everywhere else key.communities,
        staff=not read_only and (asserted_staff if asserted.has_user else True),
        read_only=read_only,
        may_open_communities=key.may_open_communities and not read_only,
        archived=key.archived,
    )


def _scope(session: Session, actor: Actor, asserted: Asserted) -> Community | None:
    """Return the community in X-Adapter-Scope. An unknown one is allowed only if the view and the key may open it."""
    if asserted.scope is None:
        return None
    try:
        return communities.resolve(session, actor, asserted.scope, asserted.platform)
    except (NotFound, Conflict):
        view = flask.current_app.view_functions[flask.request.endpoint or ""]
        if actor.may_open_communities and getattr(view, "opens_communities", False):
            return None
        raise Forbidden("X-Adapter-Scope names no community of this API key") from None


def _known_profile(session: Session, identity: Identity | None) -> Profile | None:
    if identity is None:
        return None
    if identity.platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {identity.platform} through an API key")
    return profiles.find(session, *identity)


def _record_use(
    key: LiveKey, asserted: Asserted, identity: Identity | None, profile: Profile | None, finds_only: bool
) -> Profile | None:
    """Store the key's last use and the acting user's data if they changed. Returns the user's profile.

    ``finds_only``: no profile is made or changed.
    """
    now = clock.now()
    view = flask.current_app.view_functions[flask.request.endpoint or ""]
    is_poll = getattr(view, "is_poll", False)
    moments = [key.last_used_at, *([key.last_polled_at] if is_poll else [])]
    used = any(last is None or last < now - keys.LAST_USED_EVERY for last in moments)
    changed = identity is not None and not finds_only and _differs(profile, asserted)
    if not used and not changed:
        return profile
    if not changed and flask.request.method in ("GET", "HEAD"):
        try:
            with wired().database.writing() as session:
                keys.record_use(session, key.id, now, is_poll=is_poll)
        except sa.exc.DBAPIError as error:
            # Reads must still work when the disk is full. The next call stores the key's last use.
            flask.current_app.logger.warning("the use of a key was not written: %s", error.orig)
        return profile
    with wired().database.writing() as session:
        if used:
            keys.record_use(session, key.id, now, is_poll=is_poll)
        if changed and identity is not None:
            profile = profiles.ensure(
                session, *identity, display_name=asserted.username, trust_level=asserted.trust_level
            )
    return profile


def _differs(profile: Profile | None, asserted: Asserted) -> bool:
    if profile is None:
        return True
    renamed = asserted.username is not None and asserted.username != profile.display_name
    return renamed or (asserted.trust_level is not None and asserted.trust_level != profile.trust_level)


def count(name: LimitName, *who: str, times: int = 1, only_check: bool = False) -> Standing | None:
    """Count ``times`` calls of ``who`` against a limit. Returns the limit's state, or None when limits are off.

    ``only_check``: count nothing, but refuse who has no calls left; returns None.

    Raises:
        OverLimit: the limit is exceeded; the rate headers of the response then describe this limit.
    """
    try:
        if only_check:
            wired().throttle.check(name, *who)
            return None
        return wired().throttle.hit(name, *who, times=times)
    except OverLimit as refusal:
        flask.g.standing = (refusal.name, refusal.standing)
        raise


def add_rate_headers(response: Response) -> Response:
    """Add ``RateLimit`` and ``RateLimit-Policy`` (IETF draft-ietf-httpapi-ratelimit-headers), and forbid caching.

    The headers describe the key's limit, or the limit that refused the call.
    """
    name, standing = flask.g.get("standing", ("key", None))
    if standing is not None:
        response.headers["RateLimit-Policy"] = f'"{name}";q={standing.limit};w={standing.window}'
        response.headers["RateLimit"] = f'"{name}";r={standing.remaining};t={standing.reset}'
    response.headers.setdefault("Cache-Control", "no-store")
    return response
