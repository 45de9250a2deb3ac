"""Who is asking, and in which community. Deny by default: a view is open only if it says so."""

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
from app.core.communities import communities
from app.core.errors import Forbidden, NotFound, Unauthenticated
from app.core.models import Account, Community, SignIn
from app.core.people import accounts, profiles
from app.core.permissions import Actor, Permission
from app.web import community_choice, page, security
from app.web.account import session_cookie
from app.web.blueprint import web
from app.wiring import own_path, wired

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Reader(UserMixin):
    """Whoever is signed in on this browser: rows loaded and detached, memberships with them."""

    account: Account
    sign_in: SignIn
    actor: Actor
    communities: Sequence[Community]

    @property
    def name(self) -> str:
        return self.account.display_name

    def get_id(self) -> str:
        return str(self.account.id)


def register(app: Flask) -> None:
    """Let flask-login know how a request names its account.

    Its own ``init_app`` would add a remember-me hook to every answer, the API's too; we have no such cookie.
    """
    manager = LoginManager()
    manager.request_loader(_load)
    app.login_manager = manager  # type: ignore[attr-defined]  # where flask-login looks


def open_to_all(view: View) -> View:
    """Let this view answer people who are not signed in."""
    view.is_open = True  # type: ignore[attr-defined]
    return view


def from_mail(view: View) -> View:
    """People reach this view by a link that was mailed to them. Open to all; its address is nobody's referrer.

    Browsers that send no referrer send ``Origin: null`` with the page's own form; its token says it is ours.
    """
    view.is_open = True  # type: ignore[attr-defined]
    view.is_from_mail = True  # type: ignore[attr-defined]
    return view


def one_click(view: View) -> View:
    """A mail program posts to this view by itself (RFC 8058), without a form of ours: the address proves enough."""
    from_mail(view)
    view.is_one_click = True  # type: ignore[attr-defined]
    return view


def signs_in(view: View) -> View:
    """This view signs a browser in. Open to all; its form may be older than a sign-in in another tab."""
    view.is_open = True  # type: ignore[attr-defined]
    view.signs_in = True  # type: ignore[attr-defined]
    return view


def passive(view: View) -> View:
    """Requests of this view come by themselves (polling), so they do not keep a session alive."""
    view.is_passive = True  # type: ignore[attr-defined]
    return view


def needs(permission: Permission) -> Callable[[View], View]:
    """Close a list page to those whose role in the current community is too low: 403, naming the role."""

    def wrap(view: View) -> View:
        @wraps(view)
        def asked(**values: Any) -> Any:
            require(permission, current_community().id)
            return view(**values)

        return asked  # type: ignore[return-value]

    return wrap


def require(permission: Permission, community_id: uuid.UUID) -> None:
    """As ``permissions.require``, with the role named.

    Raises:
        NotFound: the community is not theirs.
        Forbidden: their role is too low.
    """
    actor = current_actor()
    if not actor.sees(community_id):
        raise NotFound("page")
    if not may(permission, community_id):
        if permissions.is_closed(actor, permission, community_id):
            raise Forbidden(permissions.ARCHIVED)
        wanted, held = permissions.least_role(permission), actor.role_in(community_id)
        yours = f"Your role in this community is {held}" if held else "You have no role in this community"
        raise Forbidden(f"This needs the role {wanted} or a higher one. {yours}")


def may(permission: Permission, community_id: uuid.UUID) -> bool:
    """Whether whoever is signed in may; templates ask this of what they draw."""
    who = reader()
    return who is not None and permissions.allows(who.actor, permission, community_id)


@web.before_request
def guard() -> Response | None:
    """The order for every request: origin, sign-in, token. What is not open stays shut."""
    security.limit_body()
    view = current_app.view_functions.get(request.endpoint or "")
    mailed = getattr(view, "is_from_mail", False)
    if mailed:
        g.referrer_policy = "no-referrer"
    security.check_origin(null_is_ours=mailed)
    if reader() is None and not getattr(view, "is_open", False):
        return ask_to_sign_in()
    if not getattr(view, "is_one_click", False):
        security.check_token(signs_in=getattr(view, "signs_in", False))
    if not getattr(view, "is_passive", False):
        _note_seen()
    return None


def ask_to_sign_in() -> Response:
    """Signed out: to the sign-in page and back. Typed text stays where it is: a POST is answered with 401."""
    back = here() if request.method in security.SAFE_METHODS else None
    view = current_app.view_functions.get(request.endpoint or "")
    if page.wants_part() and getattr(view, "is_passive", False):
        # 286 tells htmx to stop polling. Whatever is being typed on that page stays.
        sign_in_url = url_for("web.sign_in", next=_page_behind_part())
        return make_response(render_template("account/_signed_out.html", sign_in_url=sign_in_url), 286)
    if page.wants_part():
        response = make_response("", 401)
        if back is not None:
            response.headers["HX-Redirect"] = url_for("web.sign_in", next=_page_behind_part())
        return response
    if back is not None:
        return make_response(redirect(url_for("web.sign_in", next=back), 303))
    raise Unauthenticated("You are signed out, so nothing was changed")


def reader() -> Reader | None:
    """Whoever is signed in, or None; asked of the database once per request."""
    who: Any = current_user
    return who._get_current_object() if who.is_authenticated else None


def current_reader() -> Reader:
    who = reader()
    if who is None:
        raise Unauthenticated("Sign in first")
    return who


def current_actor() -> Actor:
    """The signed-in account as an actor, with the profile with which it rates and writes."""
    return current_reader().actor


def current_profile_id() -> uuid.UUID:
    """The profile with which the signed-in account rates and writes."""
    profile_id = current_actor().profile_id
    assert profile_id is not None, "accounts act with their web profile"  # noqa: S101 - narrows the type
    return profile_id


def current_community() -> Community:
    """The community this page is about: ``?community=`` (UUID or slug), a form's own, else the one last used.

    Raises:
        NotFound: unknown, or not theirs; or they belong to none.
    """
    community = community_or_none()
    if community is None:
        raise NotFound("community")
    return community


def community_or_none() -> Community | None:
    """As ``current_community``, with None instead of the refusal."""
    if "community" not in g:
        who = current_reader()
        g.community = community_choice.chosen(who.account, who.communities)
    chosen: Community | None = g.community
    return chosen


def enter(community_id: uuid.UUID) -> None:
    """An object's page belongs to the object's community, whatever was chosen before.

    Switching to another community there leads to that community's start.
    """
    mine = current_reader().communities
    asked = community_choice.named(mine, request.args.get("community", ""))
    if asked is not None and asked.id != community_id:
        g.community = asked
        abort(make_response(redirect(url_for("web.home", community=asked.slug), 303)))
    g.community = next((c for c in mine if c.id == community_id), None)
    if g.community is not None:
        community_choice.remember(current_reader().account, g.community, mine)


def client_ip() -> str:
    """The caller's address; behind a configured proxy the server has already put the real one here."""
    return request.remote_addr or "unknown"


def is_from_this_machine() -> bool:
    """Whether the caller's address is of this machine itself."""
    try:
        return ipaddress.ip_address(client_ip()).is_loopback
    except ValueError:
        return False


def here() -> str:
    """This page's own path with its query."""
    return request.full_path.rstrip("?") if request.query_string else request.path


def safe_next(raw: str | None) -> str:
    """Where to go after signing in: a path of ours, or the start (ASVS 3.7.2).

    Browsers read a backslash as a slash and drop tabs and line ends, so those go first.
    """
    path = re.sub(r"[\x00-\x20\x7f-\xa0\\]", "", raw or "")
    return path if re.match(r"/(?!/)", path) and len(path) <= 2_000 else "/"


def _load(asked: Request) -> Reader | None:
    token = asked.cookies.get(session_cookie.name())
    if not token:
        return None
    settings = wired().settings
    with wired().database.reading() as reading:
        found = accounts.signed_in(
            reading,
            token,
            idle=timedelta(minutes=settings.session_idle_minutes),
            longest=timedelta(hours=settings.session_hours),
        )
        if found is None:
            return None
        account, sign_in = found
        profile = profiles.find(reading, profiles.WEB, str(account.id))
        mine = communities.visible(reading, accounts.actor_for(account))
    if profile is None:
        with wired().database.writing() as writing:
            profile = profiles.of_account(writing, account)
    # "UTC" is what an account begins with: times are shown in the browser's zone. Who wants UTC has Etc/UTC.
    g.timezone = account.timezone if account.timezone not in {"", "UTC"} else None
    archived = frozenset(one.id for one in mine if one.archived_at is not None)
    actor = replace(accounts.actor_for(account, profile.id), archived=archived)
    return Reader(account, sign_in, actor, tuple(mine))


def _note_seen() -> None:
    who = reader()
    if who is not None and clock.now() - who.sign_in.last_seen_at > accounts.SEEN_EVERY:
        with wired().database.writing() as writing:
            accounts.mark_seen(writing, who.sign_in.id)


def _page_behind_part() -> str:
    """The page that htmx asked from, when it says so: the part's own address shows only a part."""
    return safe_next(own_path(request.headers.get("HX-Current-URL", "")))
