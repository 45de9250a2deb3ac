"""Serves the stored files of attachments, to people who may see the post. The URL tells nothing but post and number.

Files come from strangers. So each answer has a type that was found in the content, forbids the browser to guess
another, may run nothing and load nothing, and is kept by no shared cache.
"""

import uuid

from flask import Response

from app.core.attachments.files import MissingFile, StoreFailed
from app.core.errors import NotFound, Unavailable
from app.core.models import Attachment
from app.core.texts import gettext as _
from app.web import auth, page
from app.web.blueprint import web
from app.web.item import answering
from app.wiring import wired

PREVIEW_TYPE = "image/webp"
_ENDINGS = {
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/ogg": "ogv",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "application/pdf": "pdf",
}
"""Types with the ending of a downloaded file. Only pictures, videos and sounds are shown in the browser."""


@web.get("/review/<uuid:action_id>/media/<int:number>")
@auth.passive
def media(action_id: uuid.UUID, number: int) -> Response:
    attachment = _find(action_id, number)
    if attachment.sha256 is None:
        raise NotFound("attachment")
    media_type = attachment.media_type or "application/octet-stream"
    return _served(attachment.sha256, attachment.stored_size or 0, media_type, number)


@web.get("/review/<uuid:action_id>/media/<int:number>/preview")
@auth.passive
def media_preview(action_id: uuid.UUID, number: int) -> Response:
    attachment = _find(action_id, number)
    if attachment.preview_sha256 is None:
        raise NotFound("attachment")
    return _served(attachment.preview_sha256, None, PREVIEW_TYPE, number)


def _find(action_id: uuid.UUID, number: int) -> Attachment:
    """Return an attachment of a post that the reader may see. Raises the same NotFound for all others."""
    with wired().database.reading() as session:
        request = answering.find_asked(session, action_id, enter=False).post
        attachments = request.attachments if request.content_removed_at is None else []
        found = next((one for one in attachments if one.position == number), None)
    if found is None:
        raise NotFound("attachment")
    return found


def _served(name: str, size: int | None, media_type: str, number: int) -> Response:
    """Return a stored file, or the part of it that the browser asked for; a preview, without ``size``, as a whole."""
    is_shown = media_type.startswith(("image/", "video/", "audio/"))
    ending = _ENDINGS.get(media_type, "bin")
    try:
        return page.stored_file(
            wired().media.read,
            name,
            size,
            media_type if is_shown else "application/octet-stream",
            f"{'inline' if is_shown else 'attachment'}; filename=attachment-{number}.{ending}",
        )
    except MissingFile as error:
        raise NotFound("attachment") from error
    except StoreFailed as error:
        raise Unavailable(_("The store of attachments does not answer; try again in a moment")) from error
