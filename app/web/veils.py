"""Posts hidden behind "Show content", and whether the reader has opened them (decision 0030).

A form about such a post has the field ``seen``, with the id of the post's action, once its content was shown. Script
fills it in when the reader opens the content; without script, the page fetched with ``?show=`` has it filled in. It
describes only what the reader's own browser showed, so blind review is not affected. API callers do not need it.

A form that rates a note in the run has the same field, with the note's id. Pages come with it filled in, because
without script the whole note stands above the form; script empties it until the note's last line was in the window.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.web import auth, forms
from app.web.categories import content_name

SEEN = "seen"
SHOW = "show"
UNSEEN = lazy_gettext("Choose “Show content” first: you cannot judge a post that you have not seen.")
"""Why a shortcut or a form is refused. Script and server use the same text."""
UNREAD = lazy_gettext("Read the note first: you cannot judge what you have not read.")
"""The same for a note."""
_OWN_PLACE = frozenset({SHOW, "at", "item", "note"})


@dataclass(frozen=True)
class Veil:
    """The cover that hides the content of one post.

    ``url`` and ``query`` are the page that shows the content without script. ``form`` is a form of this page with typed
    text, if there is one: showing the content then submits that form, so that the text is kept.
    """

    post_id: uuid.UUID
    warning: str
    is_shown: bool
    url: str
    query: Sequence[tuple[str, str]]
    form: str | None = None

    @property
    def why(self) -> str:
        """Why the reader cannot decide before opening the content."""
        return UNSEEN


def for_action(action: Asked, url: str, *, form: str | None = None) -> Veil | None:
    """Return the veil of the action's post for the signed-in reader, or None if the post is shown at once.

    ``url`` is the page with the post, optionally with an anchor.
    """
    if not hides(action):
        return None
    query = [pair for pair in forms.all_query_args() if pair[0] not in _OWN_PLACE]
    others = [(SHOW, other_id) for other_id in forms.query_args(SHOW) if other_id != str(action.id)]
    return Veil(
        post_id=action.id,
        warning=_("%(content)s. Hidden by your settings.", content=content_name(action.category)),
        is_shown=str(action.id)
        in {*forms.query_args(SHOW), *forms.posted_values(SEEN), *forms.posted_values(SHOW)},
        url=url,
        query=(*query, *others),
        form=form,
    )


def is_veiled(category: str | None) -> bool:
    """Whether the reader wants a warning before a post of this category is shown."""
    return auth.current_reader().account.content_warnings and category in threshold_sets.SENSITIVE


def hides(action: Asked) -> bool:
    """Whether the reader wants a warning before this post is shown."""
    return is_veiled(action.category)


def is_unseen(action: Asked) -> bool:
    """Whether the posted form is about a hidden post that the reader has not opened."""
    return hides(action) and str(action.id) not in forms.posted_values(SEEN)


def is_unread(note_id: uuid.UUID) -> bool:
    """Whether the posted form is about a note whose last line was not in the reader's window."""
    return str(note_id) not in forms.posted_values(SEEN)


def wants_shown() -> bool:
    """Whether the form was posted only to show the content and keep the typed text, by a browser without script."""
    return bool(forms.posted_values(SHOW))
