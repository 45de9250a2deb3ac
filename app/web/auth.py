"""Sign-in, permissions and the current community of dashboard requests. Views need a sign-in unless marked open."""

# flask-login has no types.
# mypy: disallow-untyped-calls=False

import ipaddress
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

from flask import (
    Flask,
    Request,
    Response,
    abort,
    current_app,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask_login import LoginManager, UserMixin, current_user

from app.core import clock, permissions
from app.core.communities import communities, settings, sign_in_rules
from app.core.communities.sign_in_rules import Demand
from app.core.errors import Forbidden, NotFound, Unauthenticated
from app.core.models import Account, Community, SignIn
from app.core.people import accounts, profiles, sessions
from app.core.permissions import Actor, Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role
from app.process import replica_reads
from app.web import community_choice, page, reader_language, security
from app.web.blueprint import web
from app.wiring import own_path, wired

ROLE_WORDS = {
    Role.RATER: lazy_gettext("rater"),
    Role.MODERATOR: lazy_gettext("moderator"),
    Role.OPERATOR: lazy_gettext("operator"),
    Role.ADMIN: lazy_gettext("admin"),
}
"""The roles within a sentence."""
View = TypeVar("View", bound=Callable[..., Any])


class SignedOut(Unauthenticated):
    """A form of the dashboard was sent without a sign-in."""

    def __init__(self) -> None:
        super().__init__(_("You are signed out, so nothing was changed"))


@dataclass(frozen=True, eq=False)
class Reader(UserMixin):
    """The signed-in account of this browser: detached rows, with the communities the account belongs to.

    ``demand``: what the rules about second factors ask of it in this session.
    """

    account: Account
    sign_in: SignIn
    actor: Actor
    communities: Sequence[Community]
    demand: Demand | None = None

    @property
    def name(self) -> str:
        return self.account.display_name

    def get_id(self) -> str:
        return str(self.account.id)


def register(app: Flask) -> None:
    """Register our request loader with flask-login.

    Not with its ``init_app``, which would add a remember-me hook to every response, also the API's; we have no such
    cookie.
    """
    manager = LoginManager()
    # It would protect users in Flask's session, where we keep none, and rewrite that cookie at a browser's second
    # request: the late answer to a request of htmx would then undo the message that a form left there meanwhile.
    manager.session_protection = None  # type: ignore[assignment]  # as its documentation says
    manager.request_loader(_load)
    app.login_manager = manager  # type: ignore[attr-defined]  # where flask-login looks


def open_to_all(view: View) -> View:
    """Mark a view that does not need a sign-in."""
    view.is_open = True  # type: ignore[attr-defined]
    return view


def from_mail(view: View) -> View:
    """Mark a view that people open from a link in a mail. It needs no sign-in, and its URL is never sent as a referrer.

    Without a referrer, browsers send ``Origin: null`` with the page's form; the form's token proves that it is ours.
    """
    view.is_open = True  # type: ignore[attr-defined]
    view.is_from_mail = True  # type: ignore[attr-defined]
    return view


def one_click(view: View) -> View:
    """Mark a view that mail programs post to without a form (RFC 8058). The token in its URL is enough proof."""
    from_mail(view)
    view.is_one_click = True  # type: ignore[attr-defined]
    return view


def from_server(view: View) -> View:
    """Mark a view that other servers post to. It needs no sign-in and no form's token: it checks what it is sent."""
    view.is_open = True  # type: ignore[attr-defined]
    view.is_one_click = True  # type: ignore[attr-defined]
    return view


def signs_in(view: View) -> View:
    """Mark a view that signs in. It needs no sign-in, and its form may be older than a sign-in in another tab."""
    view.is_open = True  # type: ignore[attr-defined]
    view.signs_in = True  # type: ignore[attr-defined]
    return view


def passive(view: View) -> View:
    """Mark a view that pages poll. Its requests do not keep a session alive."""
    view.is_passive = True  # type: ignore[attr-defined]
    return view


def asks_again(*, own: str = "") -> Callable[[View], View]:
    """Mark a view that needs a proof of the last ten minutes that it is the person (``account/confirming.py``).

    ``own``: the form's field with a password that the view checks itself. Where it is filled in, nothing else is asked.
    """

    def wrap(view: View) -> View:
        view.asks_again = True  # type: ignore[attr-defined]
        view.own_proof = own  # type: ignore[attr-defined]
        return view

    return wrap


def needs(permission: Permission) -> Callable[[View], View]:
    """Require a permission in the current community for a view. Otherwise 403, with the role that is needed."""

    def wrap(view: View) -> View:
        @wraps(view)
        def checked_view(**values: Any) -> Any:
            require(permission, current_community().id)
            return view(**values)

        return checked_view  # type: ignore[return-value]

    return wrap


def for_service_admins(view: View) -> View:
    """Require a service admin for a view. Otherwise 403."""

    @wraps(view)
    def checked_view(**values: Any) -> Any:
        if not current_actor().service_admin:
            raise Forbidden(_("This needs a service admin"))
        return view(**values)

    return checked_view  # type: ignore[return-value]


def require(permission: Permission, community_id: uuid.UUID) -> None:
    """Like ``permissions.require``, but the error names the role that is needed.

    Raises:
        NotFound: the account does not belong to the community.
        Forbidden: the account's role is too low.
    """
    actor = current_actor()
    if not actor.sees(community_id):
        raise NotFound("page")
    if not may(permission, community_id):
        if permissions.is_closed(actor, permission, community_id):
            raise Forbidden(permissions.ARCHIVED)
        needed, role = permissions.least_role(permission), actor.role_in(community_id)
        if role:
            why = _(
                "This needs the role %(needed)s or a higher one. Your role in this community is %(role)s",
                needed=ROLE_WORDS[needed],
                role=ROLE_WORDS[role],
            )
        else:
            why = _(
                "This needs the role %(needed)s or a higher one. You have no role in this community",
                needed=ROLE_WORDS[needed],
            )
        raise Forbidden(why)


def may(permission: Permission, community_id: uuid.UUID) -> bool:
    """Whether the signed-in account has a permission in a community. Templates call this too."""
    who = reader()
    return who is not None and permissions.allows(who.actor, permission, community_id)


@web.before_request
def guard() -> Response | None:
    """Check every request: first its origin, then the sign-in, then the form token."""
    reader_language.choose()
    security.limit_body()
    view = current_app.view_functions.get(request.endpoint or "")
    mailed = getattr(view, "is_from_mail", False)
    if mailed:
        g.referrer_policy = "no-referrer"
    security.check_origin(null_is_ours=mailed)
    choose_language()
    if reader() is None and not getattr(view, "is_open", False):
        return ask_to_sign_in()
    if not getattr(view, "is_one_click", False):
        security.check_token(signs_in=getattr(view, "signs_in", False))
    if not getattr(view, "is_passive", False):
        _mark_seen()
    return None


web.after_request(replica_reads.remember_write)


def ask_to_sign_in() -> Response:
    """Return the response for a signed-out request: a redirect to the sign-in page, which leads back here.

    A POST is answered with 401 and a sign-in form instead, so that what was typed stays (``account/sessions.py``).
    """
    back = current_path() if request.method in security.SAFE_METHODS else None
    view = current_app.view_functions.get(request.endpoint or "")
    if page.wants_part() and getattr(view, "is_passive", False):
        # 286 tells htmx to stop polling. Text being typed on that page stays.
        sign_in_url = url_for("web.sign_in", next=page_behind_part())
        return make_response(render_template("account/_signed_out.html", sign_in_url=sign_in_url), 286)
    if page.wants_part() and back is not None:
        response = make_response("", 401)
        response.headers["HX-Redirect"] = url_for("web.sign_in", next=page_behind_part())
        return response
    if back is not None:
        return make_response(redirect(url_for("web.sign_in", next=back), 303))
    raise SignedOut


def reader() -> Reader | None:
    """Return the signed-in account, or None. Reads the database once per request."""
    if "reader" not in g:
        who: Any = current_user
        user = who._get_current_object()
        g.reader = user if user.is_authenticated else None
        g.account_id = g.reader.account.id if g.reader is not None else None
    found: Reader | None = g.reader
    return found


def choose_language() -> None:
    """Set the language of this request: of the reader, else of the browser, else of the community."""
    community = community_or_none() if reader() is not None else None
    if community is None:
        reader_language.choose()
    else:
        own = settings.for_community(community, wired().community_defaults)
        reader_language.choose(own.language)


def current_reader() -> Reader:
    who = reader()
    if who is None:
        raise Unauthenticated(_("Sign in first"))
    return who


def current_actor() -> Actor:
    """Return the signed-in account as an actor, with its profile for rating and writing notes."""
    return current_reader().actor


def current_profile_id() -> uuid.UUID:
    """Return the id of the profile with which the signed-in account rates and writes notes."""
    profile_id = current_actor().profile_id
    assert profile_id is not None, "accounts act with their web profile"  # noqa: S101 - narrows the type
    return profile_id


def current_community() -> Community:
    """Return the community of this page: ``?community=`` (UUID or slug), the form's, else the one last used.

    Raises:
        NotFound: it is unknown or not the account's, or the account belongs to none.
    """
    community = community_or_none()
    if community is None:
        raise NotFound("community")
    return community


def community_or_none() -> Community | None:
    """Like ``current_community``, but return None instead of raising."""
    if "community" not in g:
        who = current_reader()
        g.community = community_choice.choose(who.account, who.communities)
    chosen: Community | None = g.community
    return chosen


def enter(community_id: uuid.UUID) -> None:
    """Make an object's community the current one, whichever was current before.

    If ``?community=`` names another one, the user switched communities: redirect to that community's home page.
    """
    communities = current_reader().communities
    selected = community_choice.find_by_reference(communities, request.args.get("community", ""))
    if selected is not None and selected.id != community_id:
        g.community = selected
        abort(make_response(redirect(url_for("web.home", community=selected.slug), 303)))
    g.community = next((c for c in communities if c.id == community_id), None)
    if g.community is not None:
        community_choice.remember(current_reader().account, g.community, communities)


def client_ip() -> str:
    """Return the client's IP address. Behind a trusted proxy, the server has already put the real one here."""
    return request.remote_addr or "unknown"


def is_from_this_machine() -> bool:
    """Whether the client's IP address is a loopback address."""
    try:
        return ipaddress.ip_address(client_ip()).is_loopback
    except ValueError:
        return False


def current_path() -> str:
    """Return the path of this request with its query."""
    return request.full_path.rstrip("?") if request.query_string else request.path


def browser_languages() -> list[str]:
    """Return the primary subtags of the languages that the browser asks for: "de" for "de-AT"."""
    tags = (tag.partition("-")[0].lower() for tag in reader_language.asked_for())
    return [tag for tag in dict.fromkeys(tags) if tag.isalpha()]


def safe_next(raw: str | None) -> str:
    """Return where to go after signing in: ``raw`` if it is a path of this service, else the home page (ASVS 3.7.2).

    Backslashes, tabs and line ends are removed first: browsers read a backslash as a slash and drop the others.
    """
    path = re.sub(r"[\x00-\x20\x7f-\xa0\\]", "", raw or "")
    return path if re.match(r"/(?!/)", path) and len(path) <= 2_000 else "/"


def cookie_name() -> str:
    """Return the cookie's name. ``__Host-`` binds it to this host over https; over http browsers would refuse it."""
    return "__Host-bridgenote" if wired().settings.environment == "production" else "bridgenote"


def _load(request: Request) -> Reader | None:
    token = request.cookies.get(cookie_name())
    if not token:
        return None
    settings = wired().settings
    idle = timedelta(minutes=settings.session_idle_minutes)
    longest = timedelta(hours=settings.session_hours)
    who = _read(token, idle, longest)
    if who is not None:
        # "UTC" is the default of a new account and means the browser's time zone. Etc/UTC means real UTC.
        timezone = who.account.timezone
        g.language = who.account.language
        g.timezone = timezone if timezone not in {"", "UTC"} else None
    return who


def _read(token: str, idle: timedelta, longest: timedelta) -> Reader | None:
    with wired().database.reading() as reading:
        signed_in = sessions.signed_in(reading, token, idle=idle, longest=longest)
        if signed_in is None:
            return None
        account, sign_in = signed_in
        profile = profiles.find(reading, profiles.WEB, str(account.id))
        visible = communities.visible(reading, accounts.actor_for(account))
        demand = sign_in_rules.of_session(reading, account, sign_in, visible)
    if profile is None:
        with wired().database.writing() as writing:
            profile = profiles.of_account(writing, account)
    archived = frozenset(community.id for community in visible if community.archived_at is not None)
    actor = replace(accounts.actor_for(account, profile.id), archived=archived)
    return Reader(account, sign_in, actor, tuple(visible), demand)


def _mark_seen() -> None:
    who = reader()
    if who is not None and clock.now() - who.sign_in.last_seen_at > sessions.SEEN_EVERY:
        with wired().database.writing() as writing:
            sessions.mark_seen(writing, who.sign_in)


def page_behind_part() -> str:
    """Return the page from which htmx sent the request, because the URL of a part shows only the part."""
    return safe_next(own_path(request.headers.get("HX-Current-URL", "")))
