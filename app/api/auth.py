"""Who is calling: the key, the user it speaks for, and how much it may still ask (docs/integration.md)."""

import uuid
from dataclasses import dataclass, replace

import flask
import sqlalchemy as sa
from flask import Request, Response
from sqlalchemy.orm import Session

from app.api import acting
from app.api.acting import Asserted
from app.core import clock, limits
from app.core.communities import communities
from app.core.errors import Conflict, Forbidden, NotFound, Unauthenticated
from app.core.models import Community, Profile
from app.core.people import keys, profiles
from app.core.people.keys import LiveKey
from app.core.people.profiles import Identity
from app.core.permissions import Actor
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
    """Who asks: ``actor`` for the core, and what the X-Adapter headers say.

    ``scope_id`` is the community that X-Adapter-Scope names. ``home`` is where the acting user of ``actor`` is known:
    that one, else the key's only one, which is read only for users whose ids need it.
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
        """The acting user as a community knows them; None when nobody acts."""
        platform, user_id = self.asserted.platform, self.asserted.user_id
        if platform is None or user_id is None:
            return None
        return Identity(platform, user_id, profiles.scope_in(platform, community))


def caller() -> Caller:
    """The caller of this request, known once its blueprint let it in."""
    found: Caller = flask.g.caller
    return found


def actor() -> Actor:
    """The caller as the core's verbs take it."""
    return caller().actor


def caller_in(session: Session, community_id: uuid.UUID) -> Caller:
    """The caller, with the acting user as this community knows them (Decision 0015).

    For verbs that ask whose something is. Call it in a writing session: a user new to the community is made.
    """
    asked = caller()
    if asked.actor.profile_id is None or asked.platform in profiles.GLOBAL_PLATFORMS:
        return asked
    if asked.home is not None and asked.home.id == community_id:
        return asked
    community = session.get_one(Community, community_id)
    identity = asked.identity_in(community)
    if identity is None or identity == asked.identity_in(asked.home):
        return asked
    said = asked.asserted
    profile = profiles.ensure(session, *identity, display_name=said.username, trust_level=said.trust_level)
    return replace(asked, actor=replace(asked.actor, profile_id=profile.id), home=community)


def authenticate(scope: Scope = Scope.ADAPTER) -> None:
    """Let a call in, or refuse it: the ``before_request`` of every blueprint of the API.

    One read, and some more for a call that names a user or a community; it writes only when the key's last use is
    older than a minute, or when the asserted user is new or changed.
    """
    request = flask.request
    with wired().database.looking() as connection:
        key = identify(connection, request)
    flask.g.key_id = key.id
    flask.g.standing = ("key", count("key", str(key.id)))
    if scope.value not in key.scopes:
        raise Forbidden(NO_SCOPE)
    read_only = key.template is KeyTemplate.READ_ONLY
    if read_only and request.method not in SAFE_METHODS:
        raise Forbidden(READ_ONLY)
    asserted = acting.read(request.headers)
    made, identity, profile = _speaker(key, asserted, read_only)
    profile = _keep(key, asserted, identity, profile, read_only)
    if profile is not None:
        name = f"{asserted.username or asserted.user_id} via {key.name}"
        made = replace(made, actor=replace(made.actor, name=name[: limits.NAME_MAX], profile_id=profile.id))
    flask.g.caller = made


def _speaker(
    key: LiveKey, asserted: Asserted, read_only: bool
) -> tuple[Caller, Identity | None, Profile | None]:
    """The caller by its key; and the user it speaks for, as their community knows them, with the profile if known."""
    actor = _actor(key, asserted, read_only)
    if asserted.scope is None and asserted.user_id is None:
        return Caller(actor, key.id, asserted, None, None), None, None
    with wired().database.reading() as session:
        named = _scope(session, actor, asserted)
        numbered = asserted.user_id is not None and asserted.platform not in profiles.GLOBAL_PLATFORMS
        home = only_community(session, actor) if named is None and numbered else named
        made = Caller(actor, key.id, asserted, named.id if named is not None else None, home)
        identity = made.identity_in(home)
        return made, identity, _known_profile(session, identity)


def identify(connection: sa.Connection, request: Request) -> LiveKey:
    """The live key that the headers carry.

    A Bearer token with our prefix decides; otherwise X-API-Key counts, even beside an unrelated Bearer token. Two
    different valid keys are refused. Unknown, malformed, revoked and expired look alike.
    """
    bearer = _bearer(request)
    other = request.headers.get("X-API-Key") or None
    if bearer is None and other is None:
        raise Unauthenticated(MISSING)
    ours = bearer if bearer is not None and keys.looks_like_key(bearer) else None
    key = keys.authenticate(connection, ours or other or "")
    if key is None:
        raise Unauthenticated(WRONG)
    if (
        ours is not None
        and other is not None
        and other != ours
        and keys.authenticate(connection, other) is not None
    ):
        raise Unauthenticated(WRONG)
    return key


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
        staff=not read_only and (asserted_staff if asserted.speaks_of_a_user else True),
        read_only=read_only,
        may_open_communities=key.may_open_communities and not read_only,
        archived=key.archived,
    )


def _scope(session: Session, actor: Actor, asserted: Asserted) -> Community | None:
    """The community that X-Adapter-Scope names. Only a call that may open it may name one that is not there."""
    if asserted.scope is None:
        return None
    try:
        return communities.resolve(session, actor, asserted.scope, asserted.platform)
    except (NotFound, Conflict):
        view = flask.current_app.view_functions[flask.request.endpoint or ""]
        if actor.may_open_communities and getattr(view, "opens_communities", False):
            return None
        raise Forbidden("X-Adapter-Scope names no community of this API key") from None


def only_community(session: Session, actor: Actor) -> Community | None:
    """The community of a key that has only one."""
    mine = actor.communities
    return session.get(Community, next(iter(mine))) if mine is not None and len(mine) == 1 else None


def _known_profile(session: Session, identity: Identity | None) -> Profile | None:
    if identity is None:
        return None
    if identity.platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {identity.platform} through an API key")
    return profiles.find(session, *identity)


def _keep(
    key: LiveKey, asserted: Asserted, identity: Identity | None, profile: Profile | None, read_only: bool
) -> Profile | None:
    """Write down the key's use and the user, when there is something to write: the user's profile."""
    now = clock.now()
    view = flask.current_app.view_functions[flask.request.endpoint or ""]
    is_poll = getattr(view, "is_poll", False)
    moments = [key.last_used_at, *([key.last_polled_at] if is_poll else [])]
    used = any(last is None or last < now - keys.LAST_USED_EVERY for last in moments)
    changed = identity is not None and not read_only and _differs(profile, asserted)
    if not used and not changed:
        return profile
    if not changed and flask.request.method in ("GET", "HEAD"):
        try:
            with wired().database.writing() as session:
                keys.record_use(session, key.id, now, is_poll=is_poll)
        except sa.exc.DBAPIError as error:
            # A full disk must not end reads; the next call writes the moment.
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


def count(name: LimitName, *who: str) -> Standing | None:
    """Count one call against a limit: where ``who`` stands with it; None when limits are off.

    Raises:
        OverLimit: over it; the answer then describes this limit.
    """
    try:
        return wired().throttle.hit(name, *who)
    except OverLimit as refusal:
        flask.g.standing = (refusal.name, refusal.standing)
        raise


def check_count(name: LimitName, *who: str) -> None:
    """As ``count``, without counting: refuse whoever has nothing left of it."""
    try:
        wired().throttle.check(name, *who)
    except OverLimit as refusal:
        flask.g.standing = (refusal.name, refusal.standing)
        raise


def add_rate_headers(response: Response) -> Response:
    """``RateLimit`` and ``RateLimit-Policy`` (IETF draft-ietf-httpapi-ratelimit-headers), and no caching.

    They describe the key's limit, or whichever limit refused the call.
    """
    name, standing = flask.g.get("standing", ("key", None))
    if standing is not None:
        response.headers["RateLimit-Policy"] = f'"{name}";q={standing.limit};w={standing.window}'
        response.headers["RateLimit"] = f'"{name}";r={standing.remaining};t={standing.reset}'
    response.headers.setdefault("Cache-Control", "no-store")
    return response
