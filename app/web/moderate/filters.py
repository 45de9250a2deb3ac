"""The filters of the moderators' lists: the queue, the second looks, the action history."""

from collections.abc import Sequence
from typing import ClassVar

from wtforms import DateField, HiddenField, SearchField, SelectField, StringField
from wtforms.validators import Optional

from app.core import limits
from app.core.review import decision_trace, second_looks
from app.core.review.action_history import HistoryFilter
from app.core.review.queue import QueueFilter
from app.core.review.queue_order import Sort
from app.core.review.second_looks import LookFilter
from app.core.vocabulary import ActionState, ActionType
from app.web.categories import category_name
from app.web.filter_forms import ALL, Days, FilterForm, SeveralField, typed
from app.web.filters import state_word
from app.web.forms import at_most, choices, number

SORTS = {
    Sort.OLDEST: "Oldest first",
    Sort.NEWEST: "Newest first",
    Sort.SCORE: "Highest score first",
    Sort.RATINGS: "Most ratings first",
}
LOOK_SORTS = {
    second_looks.Sort.DUE: "Ending first",
    second_looks.Sort.NEWEST: "Newest first",
    second_looks.Sort.OLDEST: "Oldest first",
    second_looks.Sort.SCORE: "Highest score first",
}
CLAIMANTS = {"": "Anyone or nobody", "nobody": "Nobody", "me": "Me"}


class QueueForm(FilterForm):
    """The queue's filters, in the address. ``community`` only goes along."""

    community = HiddenField()
    q = SearchField("Search", [at_most(200, "Search")])
    category = SeveralField("Category", validate_choice=False)
    claimed_by = SelectField("Claimed by", choices=choices(CLAIMANTS), default="")
    sort = SelectField("Sort by", choices=choices(SORTS), default=Sort.OLDEST.value)

    PLAIN: ClassVar = {"sort": Sort.OLDEST.value}

    def offer(self, categories: Sequence[str]) -> None:
        """Offer the categories that wait; those that are asked for stay although nothing of them waits."""
        _offer_several(self.category, categories)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the order is asked for."""
        return any((self.q.data, self.category.data, self.claimed_by.data))

    def wanted(self) -> QueueFilter:
        """What a valid form asks for."""
        return QueueFilter(
            categories=tuple(self.category.data or ()),
            claimed_by=self.claimed_by.data or "",
            search=typed(self.q),
            sort=Sort(self.sort.data),
        )


class HistoryForm(Days, FilterForm):
    """The action history's filters, in the address. From and To are whole days of the reader's timezone."""

    q = SearchField("Search", [at_most(200, "Search")])
    type = SeveralField("Type", choices=choices({kind.value: kind.value.capitalize() for kind in ActionType}))
    community = HiddenField()
    state = SeveralField(
        "State", choices=choices({one: state_word(one) for one in (*ActionState, *decision_trace.TRACES)})
    )
    actor = StringField("Actor", [at_most(200, "Actor")])
    author = StringField("Author", [at_most(limits.ID_MAX, "Author")])
    category = SeveralField("Category", validate_choice=False)
    from_day = DateField("From", [Optional()], name="from")
    to_day = DateField("To", [Optional()], name="to")

    def offer(self, categories: Sequence[str]) -> None:
        """Offer the categories that actions ever had; those that are asked for stay."""
        _offer_several(self.category, categories)

    def wanted(self) -> HistoryFilter:
        """What a valid form asks for."""
        return HistoryFilter(
            action_types=tuple(map(ActionType, self.type.data or ())),
            states=tuple(
                ActionState(one) for one in self.state.data or () if one not in decision_trace.TRACES
            ),
            traces=tuple(one for one in self.state.data or () if one in decision_trace.TRACES),
            search=typed(self.q),
            actor=typed(self.actor),
            author=typed(self.author),
            categories=tuple(self.category.data or ()),
            since=self.since,
            until=self.until,
        )


class LookForm(FilterForm):
    """The filters of the second looks, in the address. ``community`` only goes along."""

    community = HiddenField()
    q = SearchField("Search", [at_most(200, "Search")])
    state = SelectField(
        "State",
        choices=choices(ALL | {one.value: state_word(one) for one in second_looks.STATES}),
        default="",
    )
    category = SelectField("Category", validate_choice=False)
    sort = SelectField("Sort by", choices=choices(LOOK_SORTS), default=second_looks.Sort.DUE.value)

    PLAIN: ClassVar = {"sort": second_looks.Sort.DUE.value}

    def offer(self, categories: Sequence[str]) -> None:
        _offer(self.category, categories)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the order is asked for."""
        return any((self.q.data, self.state.data, self.category.data))

    def wanted(self) -> LookFilter:
        """What a valid form asks for."""
        return LookFilter(
            state=ActionState(self.state.data) if self.state.data else None,
            category=self.category.data or "",
            search=typed(self.q),
            sort=second_looks.Sort(self.sort.data),
        )


def page_number(raw: str | None) -> int:
    """A page's number from an address; anything else is the first page."""
    return number(raw, digits=6) or 1


def _offer_several(field: SeveralField, categories: Sequence[str]) -> None:
    known = dict.fromkeys([*categories, *(field.data or ())])
    field.choices = choices({name: category_name(name) for name in known})


def _offer(field: SelectField, categories: Sequence[str]) -> None:
    known = list(categories)
    if field.data and field.data not in known:
        known.append(field.data)
    field.choices = choices(ALL | {name: category_name(name) for name in known})
