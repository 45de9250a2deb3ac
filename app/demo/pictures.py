"""Pictures of the demo's posts, drawn here: nobody's photograph is copied."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO

import sqlalchemy as sa
from PIL import Image, ImageDraw, ImageFont
from sqlalchemy.orm import Session

from app.core.models import Attachment, Request
from app.core.vocabulary import AttachmentKind, AttachmentState

KeepPicture = Callable[[Session, uuid.UUID, bytes], None]
"""Checks and stores a picture for an attachment that waits for it, as if it had been fetched."""
SIZE = (960, 640)
_SKY, _SEA, _STONE, _DARK, _PALE = "#b9d4de", "#2f6f86", "#8d9296", "#1d2b33", "#f4f6f6"


@dataclass(frozen=True)
class Drawn:
    """The attachments of the post that begins with ``text``: a drawing, and perhaps a link."""

    text: str
    draw: Callable[[ImageDraw.ImageDraw], None]
    alt: str
    filename: str
    link: str = ""


def _gulls(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((0, 0, *SIZE), _SKY)
    pen.rectangle((0, 380, *SIZE), _SEA)
    pen.polygon([(0, 640), (0, 470), (620, 400), (960, 640)], _STONE)
    pen.line([(700, 380), (740, 60), (780, 380)], _DARK, 8)
    for y in range(120, 380, 60):
        half = (y - 60) * 40 // 320
        pen.line([(740 - half, y), (740 + half, y)], _DARK, 4)
    for x, y in ((180, 160), (300, 110), (420, 190)):
        pen.arc((x - 40, y - 20, x, y + 20), 200, 340, _DARK, 5)
        pen.arc((x, y - 20, x + 40, y + 20), 200, 340, _DARK, 5)
    for x in (220, 400):
        pen.ellipse((x, 478, x + 90, 510), _PALE)
        pen.polygon([(x + 90, 490), (x + 112, 496), (x + 90, 502)], "#d9922b")


def _crane(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((0, 0, *SIZE), "#3b3f57")
    pen.ellipse((650, 60, 760, 170), "#e7d9a8")
    pen.rectangle((0, 500, *SIZE), "#22384a")
    pen.rectangle((250, 140, 280, 500), "#c2632b")
    pen.line([(180, 150), (720, 150)], "#c2632b", 16)
    pen.line([(265, 90), (720, 150)], "#c2632b", 6)
    pen.line([(640, 150), (640, 330)], _DARK, 4)
    pen.polygon([(540, 330), (740, 330), (700, 400), (580, 400)], _PALE)
    pen.ellipse((430, 415, 460, 445), _DARK)
    pen.rectangle((436, 445, 454, 500), _DARK)


def _rope(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((0, 0, *SIZE), "#f3c434")
    for ring in range(5):
        edge = 90 + ring * 34
        pen.ellipse((edge, edge + 40, 560 - edge + 90, 510 - edge + 130), outline="#8a5a24", width=20)
    pen.text((600, 150), "-50 %", "#a11a1a", ImageFont.load_default(110))
    pen.text((600, 290), "TODAY ONLY", _DARK, ImageFont.load_default(52))
    pen.text((600, 370), "rope, any length", _DARK, ImageFont.load_default(36))


DRAWN: Sequence[Drawn] = (
    Drawn(
        "The 5G mast makes the gulls sick",
        _gulls,
        "Two gulls lie on the breakwater, in front of a mast",
        "breakwater.png",
        "https://harbour.example/masts/measurements",
    ),
    Drawn(
        "Take down the one of me under the crane",
        _crane,
        "A crane at night with a boat in its sling",
        "crane.png",
    ),
    Drawn("Marine rope clearance!", _rope, "A coil of rope: 50 % off, today only", "rope.png"),
)


def attach(session: Session, keep: KeepPicture) -> None:
    """Attach the drawings to their posts."""
    for drawn in DRAWN:
        request = session.scalars(sa.select(Request).where(Request.content.startswith(drawn.text))).one()
        picture = Attachment(
            community_id=request.community_id,
            request_id=request.id,
            position=1,
            url=f"https://pictures.harbour.example/{drawn.filename}",
            kind=AttachmentKind.IMAGE,
            alt=drawn.alt,
            filename=drawn.filename,
            attempts=1,
        )
        session.add(picture)
        if drawn.link:
            session.add(
                Attachment(
                    community_id=request.community_id,
                    request_id=request.id,
                    position=2,
                    url=drawn.link,
                    kind=AttachmentKind.LINK,
                    state=AttachmentState.KEPT,
                )
            )
        request.has_attachments = True
        session.flush()
        keep(session, picture.id, _png(drawn))


def _png(drawn: Drawn) -> bytes:
    picture = Image.new("RGB", SIZE)
    drawn.draw(ImageDraw.Draw(picture))
    target = BytesIO()
    picture.save(target, "PNG")
    return target.getvalue()
