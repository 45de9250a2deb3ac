"""The pages of authors: search, one author's figures and timeline, strikes and notes about them."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from flask import Response, make_response, redirect, url_for
from wtforms import Form, IntegerField, SelectField
from wtforms.validators import InputRequired, NumberRange

from app.core import clock, limits
from app.core.actions import strikes
from app.core.errors import Conflict, Invalid
from app.core.history.reason import Reason
from app.core.ids import parse_id
from app.core.models import AuthorNote
from app.core.permissions import Permission
from app.core.review import author_pages, author_search, author_timeline, authors
from app.core.review.author_pages import Figures
from app.core.review.author_timeline import Cursor
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filter_forms import encoded
from app.web.filters import sentence_end
from app.web.forms import choices
from app.web.item.author import AuthorNoteForm, summary_line
from app.web.item.silence_forms import LiftForm, length_words
from app.web.moderate import author_rows
from app.wiring import wired


class StrikeForm(Form):
    """A strike by hand."""

    points = IntegerField(
        lazy_gettext("Points"),
        [
            InputRequired(lazy_gettext("Enter the points.")),
            NumberRange(1, limits.STRIKE_POINTS_MAX, lazy_gettext("Points must be from 1 to 10.")),
        ],
        default=1,
    )
    category = SelectField(lazy_gettext("File under"), validate_choice=False)
    strike_reason = forms.reason_field(lazy_gettext("Reason for the strike"))

    def offer(self, names: Sequence[str]) -> None:
        """Offer the community's categories."""
        self.category.choices = choices(
            {"": _("None in particular"), **{name: category_name(name) for name in names}}
        )


@web.get("/authors")
@auth.needs(Permission.SEE_HISTORY)
def authors_page() -> Response:
    """Search for authors; without a text, those whose strikes count now."""
    actor, community, text = auth.current_actor(), auth.current_community(), forms.query_arg("q").strip()
    text = text[: limits.ID_MAX]
    with wired().database.reading() as session:
        found = author_search.search(session, actor, community, text)
    return page.render(
        "moderate/authors.html", found=found, text=text, is_full=len(found) == author_search.FOUND
    )


@web.get("/authors/of")
@auth.needs(Permission.SEE_HISTORY)
def author_of() -> Response:
    """Go to the page of the author with this id on the community's platform; their profile is made if there is none."""
    author = forms.query_arg("author")[: limits.ID_MAX]
    with wired().database.writing() as session:
        profile = author_pages.profile_of(session, auth.current_actor(), auth.current_community(), author)
        url = author_url(profile.id)
    return make_response(redirect(url, 303))


def author_url(profile_id: uuid.UUID, **more: str) -> str:
    """URL of the author's page in the current community."""
    query = {"community": auth.current_community().slug, **more}
    return f"{url_for('web.author_page', profile_id=profile_id)}?{encoded(query)}"


@web.get("/authors/<uuid:profile_id>")
@auth.needs(Permission.SEE_HISTORY)
def author_page(profile_id: uuid.UUID) -> Response:
    return _show(profile_id)


@web.post("/authors/<uuid:profile_id>/strikes")
@auth.needs(Permission.MODERATE)
def add_strike(profile_id: uuid.UUID) -> Response:
    form = forms.posted(StrikeForm)
    actor, community = auth.current_actor(), auth.current_community()
    if not form.validate():
        return _show(profile_id, form, status=422)
    try:
        with wired().database.writing() as session:
            _profile, author = author_pages.author_of(session, actor, community, profile_id)
            reason, category = Reason(form.strike_reason.data or ""), form.category.data or None
            strikes.add(
                session, actor, community.id, author, form.points.data or 0, reason=reason, category=category
            )
    except Invalid as refusal:
        forms.explain(form, refusal, {"reason": "strike_reason"})
        return _show(profile_id, form, status=422)
    return page.done(None, author_url(profile_id), _("The strike is added."))


@web.post("/authors/<uuid:profile_id>/strikes/<uuid:strike_id>/lift")
@auth.needs(Permission.MODERATE)
def lift_strike(profile_id: uuid.UUID, strike_id: uuid.UUID) -> Response:
    form = forms.posted(LiftForm)
    actor, community = auth.current_actor(), auth.current_community()
    if not form.validate():
        return _show(profile_id, form, status=422, lifting=strike_id)
    try:
        with wired().database.writing() as session:
            _profile, author = author_pages.author_of(session, actor, community, profile_id)
            strike = strikes.find(session, actor, community.id, author, strike_id)
            strikes.lift(session, actor, strike, reason=Reason(form.lift_reason.data or ""))
    except Invalid as refusal:
        forms.explain(form, refusal, {"reason": "lift_reason"})
        return _show(profile_id, form, status=422, lifting=strike_id)
    except Conflict as refusal:
        return page.done(None, author_url(profile_id), sentence_end(refusal.detail), status=409)
    return page.done(None, author_url(profile_id), _("The strike is lifted."))


@web.post("/authors/<uuid:profile_id>/note")
@auth.needs(Permission.MODERATE)
def note_author(profile_id: uuid.UUID) -> Response:
    form = forms.posted(AuthorNoteForm)
    actor, community = auth.current_actor(), auth.current_community()
    if not form.validate():
        return _show(profile_id, form, status=422)
    try:
        with wired().database.writing() as session:
            _profile, author = author_pages.author_of(session, actor, community, profile_id)
            authors.write_note(session, actor, community.id, author, form.about_author.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal, {"text": "about_author"})
        return _show(profile_id, form, status=422)
    message = _("The note about the author is saved. Only moderators see it.")
    return page.done(None, author_url(profile_id), message)


def _show(
    profile_id: uuid.UUID, posted: Form | None = None, *, status: int = 200, lifting: uuid.UUID | None = None
) -> Response:
    actor, community, older = auth.current_actor(), auth.current_community(), _cursor()
    with wired().database.reading() as session:
        profile, author = author_pages.author_of(session, actor, community, profile_id)
        linked = author_pages.linked_to(session, actor, profile)
        figures = author_pages.figures(session, community.id, author)
        ids = [profile.id, *(one.id for one in linked)]
        entries, following = author_timeline.timeline(
            session, actor, community.id, author, ids, older_than=older
        )
        moderates = auth.may(Permission.MODERATE, community.id)
        notes = authors.note_versions(session, actor, community.id, author, limit=1) if moderates else ()
        current = notes[0] if notes and notes[0].text else None
        strike_form = posted if isinstance(posted, StrikeForm) else StrikeForm()
        strike_form.offer([one.name for one in threshold_sets.current(session, community.id).categories])
        return page.render(
            "moderate/author.html",
            status=status,
            form=posted or strike_form,
            profile=profile,
            author=author,
            name=profile.display_name or author,
            summary=summary_line(figures),
            figures=figures,
            silenced=_silenced(figures),
            facts=author_pages.facts_of(session, community.id, author),
            reports=author_pages.reports_about(session, community.id, author),
            linked=linked,
            strikes=strikes.of_author(session, community.id, author),
            strike_form=strike_form,
            lift_form=posted if isinstance(posted, LiftForm) else LiftForm(),
            lifting=lifting,
            note=current,
            note_form=posted if isinstance(posted, AuthorNoteForm) else _note_form(current),
            moderates=moderates,
            rows=[author_rows.row_of(entry) for entry in entries],
            open_url=url_for("web.matching", author=author, community=community.slug),
            queue_url=url_for("web.review", author=author, community=community.slug),
            history_url=url_for("web.history_page", author=author, community=community.slug),
            older_url=author_url(profile.id, older=f"{clock.iso(following[0])}~{following[1]}")
            if following is not None
            else None,
            is_first=older is None,
            first_url=author_url(profile.id),
        )


def _note_form(current: AuthorNote | None) -> AuthorNoteForm:
    return AuthorNoteForm(about_author=current.text if current is not None else "")


def _cursor() -> Cursor | None:
    """Return where the asked page of the timeline begins; None for the first, and for what cannot be read."""
    moment, _tilde, last = forms.query_arg("older").partition("~")
    row_id = parse_id(last)
    try:
        at = datetime.fromisoformat(moment)
        return (at.astimezone(UTC), row_id) if row_id is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _silenced(figures: Figures) -> tuple[str, str] | None:
    """Return until when the author is silenced, and the item's URL; None if they are not."""
    action = figures.silenced
    if action is None:
        return None
    return _("Silenced %(until)s", until=length_words(action.until)), url_for("web.item", action_id=action.id)
