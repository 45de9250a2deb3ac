"""Settings tab of the action history: all setting changes of a community, with filters in the URL; also as CSV."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from flask import Response, url_for
from wtforms import DateField, HiddenField, SearchField, SelectField, StringField
from wtforms.validators import Optional

from app.core import clock
from app.core.history import settings as setting_history
from app.core.history.settings import AREA_OF, Area, SettingFilter
from app.core.models import HistoryEntry, HistoryText
from app.core.permissions import Actor, Permission
from app.core.texts import lazy_gettext
from app.process.replica_reads import may_be_old
from app.web import auth, csv_files, filters, forms, page
from app.web.blueprint import web
from app.web.filter_forms import ALL, Days, FilterForm, typed
from app.web.history import setting_words
from app.web.history.actions import list_context, list_url, number_from
from app.web.history.setting_words import Difference
from app.web.item.timeline import actor_name, cause_words, reason_words, why_words
from app.wiring import wired

PAGE_SIZE = 50
SHOWN_LINES = 8
"""How many changed values a row shows; the entry's own page shows all."""
SHOWN_VALUE = 90
CELLS: Mapping[str, Callable[[HistoryEntry, HistoryText, Difference], object]] = {
    "time": lambda entry, text, line: clock.iso(entry.at),
    "area": lambda entry, text, line: setting_words.AREAS[AREA_OF[entry.object_type]],
    "change": lambda entry, text, line: setting_words.sentence(entry),
    "about": lambda entry, text, line: setting_words.subject_name(entry, {}),
    "setting": lambda entry, text, line: line.label,
    "before": lambda entry, text, line: line.before,
    "after": lambda entry, text, line: line.after,
    "actor_kind": lambda entry, text, line: entry.actor_kind,
    "actor": lambda entry, text, line: actor_name(text),
    "reason": lambda entry, text, line: text.reason,
    "cause": lambda entry, text, line: entry.cause,
    "entry": lambda entry, text, line: entry.number,
    "entry_id": lambda entry, text, line: entry.id,
}
"""The columns of the CSV file."""


class SettingHistoryForm(Days, FilterForm):
    """The filters in the URL. From and To are whole days in the reader's time zone."""

    q = SearchField(lazy_gettext("Reason"), [forms.at_most(200, lazy_gettext("Reason"))])
    area = SelectField(lazy_gettext("Settings of"), default="")
    actor = StringField(lazy_gettext("Actor"), [forms.at_most(200, lazy_gettext("Actor"))])
    from_day = DateField(lazy_gettext("From"), [Optional()], name="from")
    to_day = DateField(lazy_gettext("To"), [Optional()], name="to")
    community = HiddenField()

    def offer(self, areas: list[Area]) -> None:
        """Set the choices to the areas whose changes the reader may see."""
        self.area.choices = forms.choices(ALL | {area.value: setting_words.AREAS[area] for area in areas})

    def criteria(self) -> SettingFilter:
        """Return the filter. Call it only on a valid form."""
        return SettingFilter(
            area=Area(self.area.data) if self.area.data else None,
            search=typed(self.q),
            actor=typed(self.actor),
            since=self.since,
            until=self.until,
        )


@web.get("/history/settings")
@auth.needs(Permission.SEE_SETTINGS)
@may_be_old
def setting_history_page() -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    form, holds = _filters(actor, community.id)
    with wired().database.reading() as session:
        page_of_changes = setting_history.changes(
            session,
            actor,
            community.id,
            form.criteria() if holds else SettingFilter(),
            size=PAGE_SIZE,
            older_than=number_from("older"),
            newer_than=number_from("newer"),
        )
        names = setting_history.names(session, page_of_changes.rows)
    return page.render(
        "history/history_settings.html",
        status=200 if holds else 422,
        rows=[_row(entry, text, names) for entry, text in page_of_changes.rows],
        csv_url=list_url(url_for("web.setting_history_csv"), form.query(), always=True),
        **list_context(form, page_of_changes, url_for("web.setting_history_page"), actor, community.id),
    )


@web.get("/history/settings/<uuid:change_id>")
def setting_history_entry(change_id: uuid.UUID) -> Response:
    """Show one change in full: every value before and after, and the hashes that prove it was not altered."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        entry, text = setting_history.change(session, actor, change_id)
        auth.enter(entry.community_id)
        names = setting_history.names(session, [(entry, text)])
    area = AREA_OF[entry.object_type]
    return page.render(
        "history/history_setting.html",
        entry=entry,
        what=setting_words.sentence(entry),
        about=setting_words.subject_name(entry, names),
        about_url=setting_words.leads_to(entry, names),
        area=setting_words.AREAS[area],
        area_url=url_for(setting_words.PAGES[area]),
        actor=actor_name(text),
        cause=cause_words(entry.cause),
        reason=reason_words(entry, text),
        differences=setting_words.differences(entry),
        back_url=list_url(
            url_for("web.setting_history_page"), forms.queried(SettingHistoryForm).query(), always=True
        ),
    )


@web.get("/history/settings.csv")
@auth.needs(Permission.SEE_SETTINGS)
@may_be_old
def setting_history_csv() -> Response:
    """Stream the changes that match the filters as CSV, one line for each changed value."""
    actor, community = auth.current_actor(), auth.current_community()
    form, holds = _filters(actor, community.id)
    if not holds:
        return setting_history_page()  # the page shows which filter is invalid
    name = f"setting-history-{community.slug}-{clock.now():%Y-%m-%d}.csv"
    return csv_files.attachment(_lines(actor, community.id, form.criteria()), name)


def _filters(actor: Actor, community_id: uuid.UUID) -> tuple[SettingHistoryForm, bool]:
    form = forms.queried(SettingHistoryForm)
    form.offer(setting_history.areas(actor, community_id))
    return form, form.validate()


def _row(entry: HistoryEntry, text: HistoryText, names: Mapping[uuid.UUID, str]) -> dict[str, Any]:
    """One change in the list. ``url``: page of the replayed deliveries; ``is_one``: one delivery and not a range."""
    differing = setting_words.differences(entry)
    return {
        "id": entry.id,
        "at": entry.at,
        "what": setting_words.sentence(entry),
        "about": setting_words.subject_name(entry, names),
        "url": setting_words.leads_to(entry, names),
        "is_one": entry.object_type == "delivery",
        "area": setting_words.AREAS[AREA_OF[entry.object_type]],
        "made_by": actor_name(text),
        "reason": why_words(entry, text),
        "lines": [filters.excerpt(str(line), SHOWN_VALUE) for line in differing[:SHOWN_LINES]],
        "more": max(0, len(differing) - SHOWN_LINES),
    }


def _lines(actor: Actor, community_id: uuid.UUID, wanted: SettingFilter) -> Iterator[Sequence[object]]:
    yield tuple(CELLS)
    with wired().database.reading() as session:
        for entry, text in setting_history.export(session, actor, community_id, wanted):
            for line in setting_words.differences(entry) or [Difference("", "", "")]:
                yield [cell(entry, text, line) for cell in CELLS.values()]
