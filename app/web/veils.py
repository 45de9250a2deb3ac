"""Posts behind "Show content": what hides them, and whether the reader has opened them.

A form about such a post carries ``seen``, the id of the post's action, once its content was shown: script fills it in
when the content is opened in place, and without script the page that was fetched with ``?show=`` has it. It says what
the reader's own browser showed them and nothing about others, so blindness is not touched. API callers send no such
field and need none. Decision 0030.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.models import Action
from app.web import auth, forms
from app.web.categories import content_name, is_veiled

SEEN = "seen"
SHOW = "show"
UNSEEN = "Choose “Show content” first: you cannot judge a post that you have not seen."
"""Why a key or a form is refused; script says the same words as the server."""
_OWN_PLACE = frozenset({SHOW, "at", "item", "note"})


@dataclass(frozen=True)
class Veil:
    """What stands before the content of one post.

    ``url`` and ``query`` are the page that shows the content without script. ``form`` is a form of this page that
    holds typed text: then showing the content sends that form, so that the text stays.
    """

    post_id: uuid.UUID
    warning: str
    is_shown: bool
    url: str
    query: Sequence[tuple[str, str]]
    form: str | None = None

    @property
    def why(self) -> str:
        """Why nothing can be decided before the content was shown."""
        return UNSEEN


def over(action: Action, url: str, *, form: str | None = None) -> Veil | None:
    """The veil over the action's post for the signed-in reader, None when it is shown at once.

    ``url`` is the page it stands on, perhaps with the place on it.
    """
    if not hides(action):
        return None
    query = [pair for pair in forms.whole_address() if pair[0] not in _OWN_PLACE]
    others = [(SHOW, one) for one in forms.query_args(SHOW) if one != str(action.id)]
    return Veil(
        post_id=action.id,
        warning=f"{content_name(action.category)}. Hidden by your settings.",
        is_shown=str(action.id)
        in {*forms.query_args(SHOW), *forms.all_posted(SEEN), *forms.all_posted(SHOW)},
        url=url,
        query=(*query, *others),
        form=form,
    )


def hides(action: Action) -> bool:
    """Whether the reader wants to be warned before they see this post."""
    return is_veiled(action.category, warn=auth.current_reader().account.content_warnings)


def is_unseen(action: Action) -> bool:
    """Whether the form that was sent is about a post that its sender has not opened."""
    return hides(action) and str(action.id) not in forms.all_posted(SEEN)


def wants_shown() -> bool:
    """Whether the form was sent only to show the content, without script, and to keep what was typed."""
    return bool(forms.all_posted(SHOW))
