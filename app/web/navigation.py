"""The main navigation: the pages that the reader's role may open."""

from typing import Any, Literal

from flask import g, request, url_for

from app.core.communities import founding
from app.core.models import Community
from app.core.people import dashboard
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, list_filters
from app.web.moderate import open_counts
from app.web.page import NavItem
from app.web.webhooks import deliveries
from app.wiring import wired

SERVICE_ADMIN: Literal["service admin"] = "service admin"
Entry = tuple[str, str, str, Permission | Literal["service admin"] | None]
"""What it is called, its view, its icon, and what one must be allowed, or be, to see it."""

GROUPS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    ("", ((lazy_gettext("Home"), "web.desk", "house", Permission.RATE),)),
    (
        lazy_gettext("Rate"),
        (
            (lazy_gettext("Help needed"), "web.help_needed", "hand-helping", Permission.RATE),
            (lazy_gettext("My impact"), "web.my_impact", "trending-up", Permission.RATE),
        ),
    ),
    (
        lazy_gettext("Moderate"),
        (
            (lazy_gettext("Review queue"), "web.review", "inbox", Permission.SEE_QUEUE),
            (lazy_gettext("Second look"), "web.second_look", "scan-eye", Permission.SEE_QUEUE),
            (lazy_gettext("Authors"), "web.authors_page", "users", Permission.SEE_HISTORY),
            (lazy_gettext("Reports"), "web.reports_page", "flag", Permission.SEE_QUEUE),
            (lazy_gettext("Action history"), "web.history_page", "history", Permission.SEE_HISTORY),
            (lazy_gettext("Insights"), "web.insights_page", "chart-column", Permission.SEE_HISTORY),
        ),
    ),
    (
        lazy_gettext("Operate"),
        (
            (lazy_gettext("Thresholds"), "web.thresholds", "sliders-horizontal", Permission.REVISE_POLICY),
            (lazy_gettext("Classifiers"), "web.classifiers", "scan-text", Permission.REVISE_POLICY),
            (lazy_gettext("Datasets"), "web.list_datasets", "database", Permission.REVISE_POLICY),
            (lazy_gettext("Webhooks"), "web.endpoints", "webhook", Permission.MANAGE_WEBHOOKS),
            (lazy_gettext("Deliveries"), "web.deliveries_page", "send", Permission.MANAGE_WEBHOOKS),
            (lazy_gettext("Reasons and policies"), "web.reasons", "scale", Permission.REVISE_POLICY),
            (lazy_gettext("Community"), "web.community_page", "landmark", Permission.SEE_SETTINGS),
        ),
    ),
    (
        lazy_gettext("Administer"),
        (
            (lazy_gettext("API keys"), "web.keys_page", "key-round", Permission.MANAGE_KEYS),
            (lazy_gettext("People"), "web.people", "users", Permission.MANAGE_PEOPLE),
            (lazy_gettext("Sign-in"), "web.sign_in_methods", "lock", SERVICE_ADMIN),
        ),
    ),
    (lazy_gettext("You"), ((lazy_gettext("Settings"), "web.settings", "settings", None),)),
)


GO_KEYS = {
    "web.desk": "h",
    "web.review": "r",
    "web.insights_page": "i",
    "web.thresholds": "t",
}
"""The keys that lead to a page after G."""


def page_context() -> dict[str, Any]:
    """Return the variables that ``base.html`` needs on every page. With ``g.bare_page`` it reads no database."""
    who = None if g.get("bare_page") else auth.reader()
    if who is None:
        return {
            "nav": [],
            "communities": [],
            "current_community": None,
            "current_account": None,
            "theme": "system",
            "keys_on": True,
            "key_bindings": {},
            "may": auth.may,
            "may_create_community": lambda: False,
        }
    community = auth.community_or_none()
    return {
        "nav": navigation(community, several=len(who.communities) > 1),
        "communities": who.communities,
        "current_community": community,
        "current_account": who,
        "theme": who.account.theme,
        "keys_on": who.account.shortcuts,
        "key_bindings": dashboard.keys_in_force(who.account),
        "may": auth.may,
        "may_create_community": may_create_community,
    }


def community_of_page() -> str | None:
    """Return the slug of the community for this page's forms; None if the reader has only one community."""
    who = auth.reader()
    community = auth.community_or_none() if who is not None and len(who.communities) > 1 else None
    return community.slug if community is not None else None


def may_create_community() -> bool:
    """Whether the signed-in account may open a community. Templates call this."""
    who = auth.reader()
    if who is None:
        return False
    return founding.may_found(who.actor, open_to_all=wired().settings.open_communities)


def offers_first_steps(community: Community) -> bool:
    """Whether to show the first steps: the reader may see the settings, and the list is not hidden."""
    return (
        community.getting_started_hidden_at is None
        and community.archived_at is None
        and auth.may(Permission.SEE_SETTINGS, community.id)
    )


def navigation(community: Community | None, *, several: bool = False) -> list[tuple[str, list[NavItem]]]:
    """Return the groups of links for this reader's role."""
    query = f"?community={community.slug}" if community and several else ""
    counted: dict[str, tuple[int | str | None, str]] = {**deliveries.attention(community)}
    waiting = open_counts.in_navigation(community)
    counted.update(waiting)
    groups = []
    if community is not None and offers_first_steps(community):
        first = url_for("web.getting_started_page")
        groups.append(
            ("", [NavItem(_("Getting started"), first + query, "circle-dashed", _is_current(first))])
        )
    for title, entries in GROUPS:
        items = [
            NavItem(
                label,
                url_for(view) + (query if isinstance(needed, Permission) else ""),
                icon,
                _is_current(url_for(view)),
                *counted.get(view, (None, "")),
                go=GO_KEYS.get(view, ""),
                live=open_counts.element_id(view) if view in waiting else "",
            )
            for label, view, icon, needed in entries
            if _is_open(needed, community)
        ]
        if items:
            groups.append((title, items))
    return groups


def _is_open(needed: Permission | Literal["service admin"] | None, community: Community | None) -> bool:
    """Whether the reader may open a page that needs this."""
    if needed == SERVICE_ADMIN:
        return auth.current_actor().service_admin
    return needed is None or (
        isinstance(needed, Permission) and community is not None and auth.may(needed, community.id)
    )


def _is_current(path: str) -> bool:
    # For an item, the current page is the list from which it was opened.
    review, second_look = url_for("web.review"), url_for("web.second_look")
    if request.path.startswith(review + "/") and path in (review, second_look):
        return (path == second_look) == list_filters.is_second_look()
    return request.path == path or request.path.startswith(path + "/")
