"""The main navigation: the pages that exist and that the reader's role may open."""

from typing import Any

from flask import current_app, g, request

from app.core.communities import founding
from app.core.models import Community
from app.core.permissions import Permission
from app.web import auth, origins
from app.web.page import NavItem
from app.web.webhooks import deliveries
from app.wiring import wired

Entry = tuple[str, str, str, Permission | None]

GROUPS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Rate",
        (
            ("Help needed", "/help-needed", "hand-helping", Permission.RATE),
            ("My impact", "/me", "trending-up", Permission.RATE),
        ),
    ),
    (
        "Moderate",
        (
            ("Review queue", "/review", "inbox", Permission.SEE_QUEUE),
            ("Second look", "/second-look", "scan-eye", Permission.SEE_QUEUE),
            ("Action history", "/history", "history", Permission.SEE_HISTORY),
            ("Insights", "/insights", "chart-column", Permission.SEE_HISTORY),
        ),
    ),
    (
        "Operate",
        (
            ("Thresholds", "/thresholds", "sliders-horizontal", Permission.REVISE_POLICY),
            ("Classifiers", "/classifiers", "scan-text", Permission.REVISE_POLICY),
            ("Datasets", "/datasets", "database", Permission.REVISE_POLICY),
            ("Webhooks", "/endpoints", "webhook", Permission.MANAGE_WEBHOOKS),
            ("Deliveries", "/deliveries", "send", Permission.MANAGE_WEBHOOKS),
            ("Reasons and policies", "/reasons", "scale", Permission.REVISE_POLICY),
            ("Community", "/community", "landmark", Permission.SEE_SETTINGS),
        ),
    ),
    (
        "Administer",
        (
            ("API keys", "/keys", "key-round", Permission.MANAGE_KEYS),
            ("People", "/people", "users", Permission.MANAGE_PEOPLE),
        ),
    ),
    ("You", (("Settings", "/settings", "settings", None),)),
)


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
    """Whether to show the first steps: the reader may see the settings, and nobody has hidden the list."""
    return (
        community.getting_started_hidden_at is None
        and community.archived_at is None
        and auth.may(Permission.SEE_SETTINGS, community.id)
    )


def navigation(community: Community | None, *, several: bool = False) -> list[tuple[str, list[NavItem]]]:
    """Return the groups of links for this reader's role, without pages that are not routed."""
    routed = _paths()
    query = f"?community={community.slug}" if community and several else ""
    counted = deliveries.attention(community)
    groups = []
    if community is not None and offers_first_steps(community):
        first = "/getting-started"
        groups.append(("", [NavItem("Getting started", first + query, "circle-dashed", _is_current(first))]))
    for title, entries in GROUPS:
        items = [
            NavItem(
                label,
                path + (query if needed else ""),
                icon,
                _is_current(path),
                *counted.get(path, (None, "")),
            )
            for label, path, icon, needed in entries
            if path in routed
            and (needed is None or (community is not None and auth.may(needed, community.id)))
        ]
        if items:
            groups.append((title, items))
    return groups


def has_page(path: str) -> bool:
    """Whether a page is routed at this path."""
    return path in _paths()


def _paths() -> frozenset[str]:
    paths: frozenset[str] | None = current_app.extensions.get("bridgenote.paths")
    if paths is None:
        rules = current_app.url_map.iter_rules()
        paths = frozenset(rule.rule for rule in rules if "GET" in (rule.methods or ()))
        current_app.extensions["bridgenote.paths"] = paths
    return paths


def _is_current(path: str) -> bool:
    # For an item, the current page is the list from which it was opened.
    if request.path.startswith("/review/") and path in ("/review", "/second-look"):
        return (path == "/second-look") == origins.is_second_look()
    return request.path == path or request.path.startswith(path + "/")
