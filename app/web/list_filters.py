"""Filter forms of the moderators' lists: review queue, second looks, action history."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from flask import url_for
from wtforms import DateField, HiddenField, SearchField, SelectField, StringField
from wtforms.validators import Optional

from app.core import limits
from app.core.review import history_filters, second_looks
from app.core.review.history_filters import HistoryFilter
from app.core.review.queue_filters import QueueFilter, Sort
from app.core.review.second_looks import SecondLookFilter
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionType
from app.web import auth, forms
from app.web.categories import category_name, reason_word
from app.web.filter_forms import (
    ALL,
    ChosenField,
    Days,
    FilterForm,
    MomentField,
    Query,
    SeveralField,
    typed,
    with_query,
)
from app.web.filters import state_words
from app.web.forms import at_most, choices, number
from app.web.languages import language_name

SORTS = {
    Sort.URGENT: lazy_gettext("Most urgent first"),
    Sort.OLDEST: lazy_gettext("Oldest first"),
    Sort.NEWEST: lazy_gettext("Newest first"),
    Sort.SCORE: lazy_gettext("Highest score first"),
    Sort.RATINGS: lazy_gettext("Most ratings first"),
}
SECOND_LOOK_SORTS = {
    second_looks.Sort.URGENT: lazy_gettext("Most urgent first"),
    second_looks.Sort.DUE: lazy_gettext("Ending first"),
    second_looks.Sort.NEWEST: lazy_gettext("Newest first"),
    second_looks.Sort.OLDEST: lazy_gettext("Oldest first"),
    second_looks.Sort.SCORE: lazy_gettext("Highest score first"),
}
SNOOZED = {"": lazy_gettext("Left out"), "1": lazy_gettext("Only these")}
OVERDUE = {"": lazy_gettext("Any"), "1": lazy_gettext("Overdue")}
TYPES = {
    ActionType.DELETE: lazy_gettext("Delete"),
    ActionType.HIDE: lazy_gettext("Hide"),
    ActionType.SILENCE: lazy_gettext("Silence"),
    ActionType.UNHIDE: lazy_gettext("Unhide"),
    ActionType.WARN: lazy_gettext("Warn"),
}
CLAIMANTS = {"": lazy_gettext("Anyone or nobody"), "nobody": lazy_gettext("Nobody"), "me": lazy_gettext("Me")}


class QueueForm(FilterForm):
    """Filters of the queue, from the query string. ``community`` is no filter; links of the page keep it."""

    community = HiddenField()
    q = SearchField(lazy_gettext("Search"), [at_most(200, lazy_gettext("Search"))])
    category = SeveralField(lazy_gettext("Category"), validate_choice=False)
    language = SeveralField(lazy_gettext("Language"), validate_choice=False)
    author = StringField(lazy_gettext("Author"), [at_most(limits.ID_MAX, lazy_gettext("Author"))])
    channel = StringField(lazy_gettext("Channel"), [at_most(limits.ID_MAX, lazy_gettext("Channel"))])
    claimed_by = SelectField(
        lazy_gettext("Claimed by"), choices=choices(CLAIMANTS), default="", validate_choice=False
    )
    snoozed = SelectField(lazy_gettext("Snoozed"), choices=choices(SNOOZED), default="")
    overdue = SelectField(lazy_gettext("Target time"), choices=choices(OVERDUE), default="")
    sort = SelectField(lazy_gettext("Sort by"), choices=choices(SORTS), default=Sort.URGENT.value)

    PLAIN: ClassVar = {"sort": Sort.URGENT.value}

    def offer(
        self,
        categories: Sequence[str],
        languages: Sequence[str] = (),
        colleagues: Mapping[uuid.UUID, str] | None = None,
    ) -> None:
        """Offer what waiting items have, and what the query string selects even if none waits."""
        named = {str(account_id): name for account_id, name in (colleagues or {}).items()}
        self.claimed_by.choices = choices(CLAIMANTS | named)
        _offer_several(self.category, categories, category_name)
        _offer_several(self.language, languages, language_name)

    def wanted(self) -> QueueFilter:
        """Return the filter that the form describes; one that matches all items if the form is invalid."""
        if not self.validate():
            return QueueFilter()
        return QueueFilter(
            categories=tuple(self.category.data or ()),
            languages=tuple(self.language.data or ()),
            claimed_by=self.claimed_by.data or "",
            search=typed(self.q),
            author=typed(self.author),
            channel=typed(self.channel).removeprefix("#"),
            overdue=bool(self.overdue.data),
            snoozed=bool(self.snoozed.data),
            sort=Sort(self.sort.data),
        )


class HistoryForm(Days, FilterForm):
    """Filters of the action history, from the query string. From and To are whole days in the reader's timezone.

    Links of the home page set ``since``, the moment of the last visit, and ``mine``: what the reader did.
    """

    q = SearchField(lazy_gettext("Search"), [at_most(200, lazy_gettext("Search"))])
    type = SeveralField(
        lazy_gettext("Type"), choices=choices({kind.value: TYPES[kind] for kind in ActionType})
    )
    community = HiddenField()
    state = SeveralField(
        lazy_gettext("State"),
        choices=choices(
            {state: state_words(state).word for state in (*ActionState, *history_filters.TRACES)}
        ),
    )
    actor = StringField(lazy_gettext("Actor"), [at_most(200, lazy_gettext("Actor"))])
    author = StringField(lazy_gettext("Author"), [at_most(limits.ID_MAX, lazy_gettext("Author"))])
    category = SeveralField(lazy_gettext("Category"), validate_choice=False)
    language = SeveralField(lazy_gettext("Language"), validate_choice=False)
    from_day = DateField(lazy_gettext("From"), [Optional()], name="from")
    to_day = DateField(lazy_gettext("To"), [Optional()], name="to")
    last_visit = MomentField(lazy_gettext("Since"), name="since")
    mine = ChosenField(lazy_gettext("By"), lazy_gettext("You"))

    def offer(self, categories: Sequence[str], languages: Sequence[str] = ()) -> None:
        """Offer every category and language that a post ever had, and those that the query string selects."""
        _offer_several(self.category, categories, category_name)
        _offer_several(self.language, languages, language_name)

    def wanted(self) -> HistoryFilter:
        """Return the filter that the form describes; one that matches all changes if the form is invalid."""
        if not self.validate():
            return HistoryFilter()
        return HistoryFilter(
            action_types=tuple(map(ActionType, self.type.data or ())),
            states=tuple(
                ActionState(name) for name in self.state.data or () if name not in history_filters.TRACES
            ),
            traces=tuple(name for name in self.state.data or () if name in history_filters.TRACES),
            search=typed(self.q),
            actor=typed(self.actor),
            account_id=auth.current_actor().account_id if self.mine.data else None,
            author=typed(self.author),
            categories=tuple(self.category.data or ()),
            languages=tuple(self.language.data or ()),
            since=max(filter(None, (self.since, self.last_visit.moment)), default=None),
            until=self.until,
        )


class SecondLookForm(FilterForm):
    """Filters of the second looks, from the query string. ``community`` is no filter; links of the page keep it."""

    community = HiddenField()
    q = SearchField(lazy_gettext("Search"), [at_most(200, lazy_gettext("Search"))])
    state = SelectField(
        lazy_gettext("State"),
        choices=choices(ALL | {state.value: state_words(state).word for state in second_looks.STATES}),
        default="",
    )
    category = SelectField(lazy_gettext("Category"), validate_choice=False)
    sort = SelectField(
        lazy_gettext("Sort by"), choices=choices(SECOND_LOOK_SORTS), default=second_looks.Sort.URGENT.value
    )

    PLAIN: ClassVar = {"sort": second_looks.Sort.URGENT.value}

    def offer(self, categories: Sequence[str]) -> None:
        _offer(self.category, categories)

    def wanted(self) -> SecondLookFilter:
        """Return the filter that the form describes; one that matches all if the form is invalid."""
        if not self.validate():
            return SecondLookFilter()
        return SecondLookFilter(
            state=ActionState(self.state.data) if self.state.data else None,
            category=self.category.data or "",
            search=typed(self.q),
            sort=second_looks.Sort(self.sort.data),
        )


class ReportsForm(FilterForm):
    """Filters of the reports, from the query string. Links set ``tab`` and ``reporter``, a profile's id."""

    community = HiddenField()
    tab = HiddenField()
    reporter = ChosenField(lazy_gettext("Reporter"), "")
    category = SelectField(lazy_gettext("Category"), validate_choice=False)

    def offer(self, categories: Sequence[str]) -> None:
        _offer(self.category, categories, reason_word)


def page_number(raw: str | None) -> int:
    """Parse a page number from the query string; return 1 if it is not a number."""
    return number(raw, digits=6) or 1


def _offer_several(field: SeveralField, offered: Sequence[str], word: Callable[[str], str]) -> None:
    known = dict.fromkeys([*offered, *(field.data or ())])
    field.choices = choices({name: word(name) for name in known})


def _offer(field: SelectField, categories: Sequence[str], word: Callable[[str], str] = category_name) -> None:
    known = list(categories)
    if field.data and field.data not in known:
        known.append(field.data)
    field.choices = choices(ALL | {name: word(name) for name in known})


SECOND_LOOK = "second-look"
"""Value of ``from`` in the URL of an item that was opened from Second look."""


def is_second_look() -> bool:
    return forms.query_arg("from") == SECOND_LOOK


def origin_query() -> Query:
    """Return the query parameters to keep in every URL of the item."""
    if is_second_look():
        return {**forms.queried(SecondLookForm).query(), "from": SECOND_LOOK}
    return forms.queried(QueueForm).query()


def origin_link(row: str) -> tuple[str, str]:
    """Return the URL of the list, at the row with this id, and the list's name."""
    view, name = (
        ("web.second_look", _("Second look")) if is_second_look() else ("web.review", _("Review queue"))
    )
    path = url_for(view)
    carried = {key: text for key, text in origin_query().items() if key != "from"}
    url = with_query(path, carried)
    return (f"{url}#row-{row}" if is_second_look() else url), name
