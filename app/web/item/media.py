"""Attachments of a post as pages show them. Only our own copies are shown; the browser asks no other server."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import url_for

from app.core.models import Attachment
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import AttachmentKind, AttachmentRefusal, AttachmentState, MediaVeil
from app.web import auth

KINDS: Mapping[AttachmentKind, str] = {
    AttachmentKind.IMAGE: lazy_gettext("Picture"),
    AttachmentKind.VIDEO: lazy_gettext("Video"),
    AttachmentKind.AUDIO: lazy_gettext("Sound"),
    AttachmentKind.FILE: lazy_gettext("File"),
    AttachmentKind.LINK: lazy_gettext("Link"),
}
_COUNTED: Mapping[AttachmentKind, Callable[[int], str]] = {
    AttachmentKind.IMAGE: lambda count: ngettext("%(num)s picture", "%(num)s pictures", count),
    AttachmentKind.VIDEO: lambda count: ngettext("%(num)s video", "%(num)s videos", count),
    AttachmentKind.AUDIO: lambda count: ngettext("%(num)s sound", "%(num)s sounds", count),
    AttachmentKind.FILE: lambda count: ngettext("%(num)s file", "%(num)s files", count),
    AttachmentKind.LINK: lambda count: ngettext("%(num)s link", "%(num)s links", count),
}
REASONS: Mapping[str, str] = {
    AttachmentRefusal.BAD_ADDRESS: lazy_gettext("its address leads into a private network or is not valid"),
    AttachmentRefusal.NOT_FOUND: lazy_gettext("it is no longer where it was"),
    AttachmentRefusal.UNREACHABLE: lazy_gettext("its server could not be reached"),
    AttachmentRefusal.TOO_SLOW: lazy_gettext("its server was too slow"),
    AttachmentRefusal.TOO_LARGE: lazy_gettext("it is too large"),
    AttachmentRefusal.TOO_MANY_PIXELS: lazy_gettext("it has too many pixels, or is too long and narrow"),
    AttachmentRefusal.WRONG_TYPE: lazy_gettext("it is not what it is said to be"),
    AttachmentRefusal.UNSUPPORTED: lazy_gettext(
        "its format is not shown here, because it may carry scripts or cannot be read"
    ),
    AttachmentRefusal.DAMAGED: lazy_gettext("it is damaged"),
    AttachmentRefusal.NOT_STORED: lazy_gettext("it could not be stored"),
}
_SHOWS = (("image/", "picture"), ("video/", "video"), ("audio/", "sound"))


@dataclass(frozen=True)
class Medium:
    """One attachment. ``shows``: picture, video, sound, file, link, waiting or refused.

    ``name`` is its name among the post's attachments; ``words`` says why there is nothing to see. ``width`` and
    ``height`` are in pixels, ``size`` in bytes.
    """

    number: int
    shows: str
    kind: AttachmentKind
    name: str
    alt: str
    filename: str
    words: str
    host: str
    path: str
    link: str
    url: str
    preview_url: str
    width: int | None
    height: int | None
    size: int | None


@dataclass(frozen=True)
class Media:
    """The attachments of one post. ``veil``: how pictures look until the reader opens them."""

    id: str
    veil: MediaVeil
    items: Sequence[Medium]

    @property
    def is_veiled(self) -> bool:
        return self.veil is not MediaVeil.NEITHER

    @property
    def pictures(self) -> Sequence[Medium]:
        return [one for one in self.items if one.shows == "picture"]

    @property
    def words(self) -> str:
        """Its attachments in words: "2 pictures, 1 link"."""
        counts = Counter(item.kind for item in self.items)
        return ", ".join(_COUNTED[kind](count) for kind, count in counts.items())


def for_action(action: Asked) -> Media | None:
    """Return the attachments of an action's post for the signed-in reader; None without any."""
    if not action.post.has_attachments:
        return None
    chosen = auth.current_reader().account.media_veil
    veil = chosen if action.category in threshold_sets.SENSITIVE else MediaVeil.NEITHER
    return Media(str(action.id), veil, [_medium(action, one) for one in action.post.attachments])


def _medium(action: Asked, attachment: Attachment) -> Medium:
    host, path = _place(attachment.url)
    kind = KINDS[attachment.kind]
    return Medium(
        number=attachment.position,
        shows=_shows(attachment),
        kind=attachment.kind,
        name=_("%(kind)s %(number)s", kind=kind, number=attachment.position),
        alt=(attachment.alt or "").strip(),
        filename=(attachment.filename or "").strip(),
        words=_words(attachment, kind),
        host=host,
        path=path,
        link=attachment.url if attachment.kind is AttachmentKind.LINK else "",
        url=url_for("web.media", action_id=action.id, number=attachment.position),
        preview_url=url_for("web.media_preview", action_id=action.id, number=attachment.position),
        width=attachment.stored_width,
        height=attachment.stored_height,
        size=attachment.stored_size,
    )


def _shows(attachment: Attachment) -> str:
    if attachment.state is not AttachmentState.KEPT:
        return attachment.state.value
    if attachment.kind is AttachmentKind.LINK:
        return "link"
    media_type = attachment.media_type or ""
    return next((word for prefix, word in _SHOWS if media_type.startswith(prefix)), "file")


def _words(attachment: Attachment, kind: str) -> str:
    if attachment.state is AttachmentState.WAITING:
        return _("%(kind)s, being fetched. Reload the page in a moment.", kind=kind)
    if attachment.state is AttachmentState.REFUSED:
        why = REASONS.get(attachment.reason or "", _("it was refused"))
        return _("%(kind)s, not shown: %(why)s.", kind=kind, why=why)
    return ""


def _place(url: str) -> tuple[str, str]:
    """Return host and path of a URL, for people to read."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.path if parts.path != "/" else ""
    except ValueError:
        return url[:60], ""
