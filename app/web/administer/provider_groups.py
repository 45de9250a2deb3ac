"""Groups to roles, for service admins: what the groups of a provider give in each community (docs/run/scim.md)."""

import uuid
from collections.abc import Mapping
from typing import Self

from flask import Response, url_for
from wtforms import FieldList, Form, FormField, SelectField, StringField

from app.core import limits
from app.core.errors import Invalid, NotFound
from app.core.ids import parse_id
from app.core.models import Community
from app.core.people import group_maps, key_admin, provider_groups, providers
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role
from app.web import auth, forms, page
from app.web.account.joining import ROLE_WORDS
from app.web.blueprint import web
from app.wiring import wired

BLANK_ROWS = 3
SUGGESTED = 200
"""How many names of groups a field suggests at most."""


class GroupForm(Form):
    """A group and its role. A row without a group counts for nothing, so that emptying it removes the group."""

    group = StringField(
        lazy_gettext("Group"),
        [forms.at_most(limits.NAME_MAX, lazy_gettext("Group"))],
        filters=[forms.trimmed],
    )
    role = SelectField(lazy_gettext("Role"), choices=forms.choices(ROLE_WORDS), default=Role.MODERATOR.value)


class MapForm(Form):
    """The groups that give a role in one community."""

    rows = FieldList(FormField(GroupForm), max_entries=limits.GROUP_ROLES.number + BLANK_ROWS)
    reason = forms.reason_field(required=False)

    @classmethod
    def filled(cls, roles: Mapping[str, Role]) -> Self:
        """Return the form with these groups and some empty rows."""
        rows = [{"group": value, "role": role.value} for value, role in roles.items()]
        return cls(data={"rows": [*rows, *[{}] * BLANK_ROWS]})

    def roles(self) -> dict[str, Role] | None:
        """Return the roles by group; None if a value is not valid, which its row and the summary then say."""
        is_valid, roles = self.validate(), dict[str, Role]()
        for row in self.rows:
            value = row.form.group.data
            if value and value in roles:
                row.form.group.errors, is_valid = [_("This group is named twice.")], False
            elif value and not row.form.errors:
                roles[value] = Role(row.form.role.data)
        self.rows.errors = [
            _("Row %(value)s: %(error)s", value=number, error=error)
            for number, row in enumerate(self.rows, 1)
            for field in row.form
            for error in field.errors
        ]
        return roles if is_valid else None


@web.get("/sign-in-methods/<uuid:provider_id>/groups")
@auth.for_service_admins
def provider_communities(provider_id: uuid.UUID) -> Response:
    """Show the communities, to choose the one in which groups are to give roles."""
    words = forms.query_arg("q").strip()
    with wired().database.reading() as session:
        provider = providers.get(session, provider_id)
        communities, following = key_admin.mintable(
            session, auth.current_actor(), words=words, after=parse_id(forms.query_arg("after"))
        )
        counts = {community.id: n for community, n in group_maps.mapped_communities(session, provider_id)}
    return page.render(
        "administer/provider_communities.html",
        provider=provider,
        communities=communities,
        counts=counts,
        following=following,
        search=words,
    )


@web.get("/sign-in-methods/<uuid:provider_id>/groups/<uuid:community_id>")
@auth.for_service_admins
def provider_groups_page(provider_id: uuid.UUID, community_id: uuid.UUID) -> Response:
    return _show(provider_id, community_id)


@web.post("/sign-in-methods/<uuid:provider_id>/groups/<uuid:community_id>")
@auth.for_service_admins
@auth.asks_again()
def save_provider_groups(provider_id: uuid.UUID, community_id: uuid.UUID) -> Response:
    form = forms.posted(MapForm)
    roles = form.roles()
    if roles is None:
        return _show(provider_id, community_id, form)
    try:
        with wired().database.writing() as session:
            community = _community(session.get(Community, community_id))
            group_maps.set_map(
                session, auth.current_actor(), provider_id, community_id, roles, form.reason.data or ""
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(provider_id, community_id, form)
    return page.done(
        None,
        url_for("web.provider_page", provider_id=provider_id) + "#groups",
        _("Saved for %(name)s. Roles follow within seconds.", name=community.name),
    )


def _community(community: Community | None) -> Community:
    if community is None:
        raise NotFound("community")
    return community


def _show(provider_id: uuid.UUID, community_id: uuid.UUID, form: MapForm | None = None) -> Response:
    """Show one community's groups; ``form``: the one that was refused."""
    with wired().database.reading() as session:
        provider = providers.get(session, provider_id)
        community = _community(session.get(Community, community_id))
        roles = group_maps.read_map(session, provider_id, community_id)
        sent = provider_groups.listed(session, provider_id, [], 0, SUGGESTED)[1]
    return page.render(
        "administer/provider_groups.html",
        status=200 if form is None else 422,
        provider=provider,
        community=community,
        form=form or MapForm.filled(roles),
        known=sorted(group.name for group in sent),
    )
