"""Forms that arrived without a valid sign-in or token: their fields go back in the page, and a button sends them.

Nothing is carried out before. Nothing is stored either, except while the person is away at a provider, in the
step of that sign-in, for ten minutes (``providers.leave``).
"""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from flask import Response, make_response, redirect, request, url_for
from werkzeug.exceptions import RequestEntityTooLarge

from app.core import limits
from app.core.errors import Invalid
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, page, security
from app.web.blueprint import web
from app.web.errors import answer
from app.wiring import own_path

_SECRET = re.compile("password|secret|^key$")
"""Names of fields that no page gives back."""
OF_ANOTHER = lazy_gettext(
    "What was typed before belongs to another person, so it was dropped. Nothing was changed."
)
_OURS = re.compile("csrf_token$|proof_|credential$")
"""Names of fields that are about the sending, not what is sent."""


@dataclass(frozen=True)
class KeptForm:
    """A form as it was posted to ``path`` from the page ``back``, without its token and without secrets.

    ``token`` shows for whom the form was made. ``lacks`` says that a secret or a file has to be entered again.
    """

    path: str
    back: str
    token: str
    fields: tuple[tuple[str, str], ...]
    lacks: bool

    @property
    def texts(self) -> Sequence[tuple[str, str]]:
        """What a person wrote, by the names of the fields: values of several words, and links."""
        return [(name, value) for name, value in self.fields if _is_written(value)]

    @property
    def others(self) -> Sequence[tuple[str, str]]:
        """The fields that are no ``texts``."""
        return [(name, value) for name, value in self.fields if not _is_written(value)]

    def as_json(self) -> str:
        """Return it for one hidden field, in which line ends stay as they are."""
        return json.dumps([self.path, self.back, self.token, self.fields, self.lacks], ensure_ascii=False)

    def as_portable(self) -> str | None:
        """Return it as JSON, if it is short enough to be stored while the person is away at a provider."""
        written = self.as_json()
        return written if len(written) <= limits.KEPT_AWAY_MAX else None

    def belongs_to(self, account_id: uuid.UUID) -> bool:
        return security.is_issued_to(account_id, self.token)


def _is_written(value: str) -> bool:
    return re.search(r"\S\s+\S|://", value) is not None


def of_request() -> KeptForm | None:
    """Return the posted form, or None if it has no token: then it is none of ours.

    None also for a body longer than a form's: strangers do not get the room that a dataset file has.
    """
    request.max_content_length = limits.BODY_MAX_BYTES
    try:
        token = request.form.get("csrf_token")
    except RequestEntityTooLarge:
        return None
    if not token:
        return None
    posted = [pair for pair in request.form.items(multi=True) if not _OURS.match(pair[0])]
    fields = tuple(pair for pair in posted if not _SECRET.search(pair[0]))
    back = auth.safe_next(own_path(request.headers.get("Referer", "")))
    lacks = len(fields) < len(posted) or any(file.filename for file in request.files.values())
    # The text of a part of a page is still there; only its token is needed.
    return KeptForm(auth.current_path(), back, token, () if page.wants_part() else fields, lacks)


def carried() -> KeptForm | None:
    """Return the form that the sign-in form carries, or None."""
    return read(request.form.get("kept", ""))


def read(written: str) -> KeptForm | None:
    """Return what ``KeptForm.as_json`` wrote, or None. It may come from anyone."""
    try:
        loaded = json.loads(written)
        limits.storable_tree(loaded, "kept")
        path, back, token, fields, lacks = loaded
        pairs = tuple((str(name), str(value)) for name, value in fields)
    except (ValueError, TypeError, RecursionError, Invalid):
        return None
    return KeptForm(auth.safe_next(str(path)), auth.safe_next(str(back)), str(token), pairs, bool(lacks))


def return_to(target: str, kept: KeptForm | None, account_id: uuid.UUID) -> Response:
    """Go to ``target`` after a sign-in, or on with the form that was kept, if it is this person's."""
    if kept is None:
        return make_response(redirect(target, 303))
    if not kept.belongs_to(account_id):
        return page.done(None, url_for("web.home"), OF_ANOTHER, status=409)
    return ask_to_send(kept, account_id, 200)


def ask_to_send(kept: KeptForm, account_id: uuid.UUID, status: int) -> Response:
    """Show the form's texts and a button that sends it, with a token of this account."""
    token = security.csrf_token_for(account_id)
    return page.render("account/send_again.html", status=status, kept=kept, token=token)


@web.errorhandler(security.StaleToken)
def give_back(error: security.StaleToken) -> Response:
    """Return a form with a fresh token if its token was this very person's, as after the browser lost its cookies."""
    who, kept = auth.reader(), of_request()
    if who is None or kept is None or not kept.belongs_to(who.account.id):
        return answer(error)
    if not page.wants_part():
        return ask_to_send(kept, who.account.id, 400)
    response = answer(
        security.StaleToken(_("You signed in again since this page was opened. Press the button again"))
    )
    page.renew_token(response, security.csrf_token())
    return response
