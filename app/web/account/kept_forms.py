"""Gives a form back that arrived without a valid sign-in or token.

Its fields go back in the page, and after the sign-in of the same person a button sends them. Nothing of it is stored,
and nothing is carried out before.
"""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from flask import Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from app.core import limits
from app.web import auth, page, security
from app.web.blueprint import web
from app.web.errors import answer
from app.wiring import own_path

_SECRET = re.compile("password|secret|^key$")
"""Names of fields that no page gives back."""


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
        return [
            (name.replace("_", " ").capitalize(), value)
            for name, value in self.fields
            if re.search(r"\S\s+\S|://", value)
        ]

    def as_json(self) -> str:
        """Return it for one hidden field, in which line ends stay as they are."""
        return json.dumps([self.path, self.back, self.token, self.fields, self.lacks], ensure_ascii=False)

    def belongs_to(self, account_id: uuid.UUID) -> bool:
        return security.is_issued_to(account_id, self.token)


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
    posted = [pair for pair in request.form.items(multi=True) if pair[0] != "csrf_token"]
    fields = tuple(pair for pair in posted if not _SECRET.search(pair[0]))
    back = auth.safe_next(own_path(request.headers.get("Referer", "")))
    lacks = len(fields) < len(posted) or any(file.filename for file in request.files.values())
    # The text of a part of a page is still there; only its token is needed.
    return KeptForm(auth.current_path(), back, token, () if page.wants_part() else fields, lacks)


def carried() -> KeptForm | None:
    """Return the form that the sign-in form carries, or None."""
    try:
        path, back, token, fields, lacks = json.loads(request.form.get("kept", ""))
        pairs = tuple((str(name), str(value)) for name, value in fields)
    except (ValueError, TypeError):
        return None
    return KeptForm(auth.safe_next(str(path)), auth.safe_next(str(back)), str(token), pairs, bool(lacks))


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
        security.StaleToken("You signed in again since this page was opened. Press the button again")
    )
    page.renew_token(response, security.csrf_token())
    return response
