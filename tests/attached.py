"""Attachments in every state, stored with a post."""

import uuid
from io import BytesIO

from app.adapters.media import pictures as decoding
from app.core.attachments.fetching import Obtained, PreparedFile
from app.core.models import Action, Attachment, Request
from app.core.vocabulary import AttachmentKind, AttachmentState
from app.wiring import Wiring
from tests.unit.attachments import pictures

VIDEO = bytes(range(256)) * 4
SECRET = "telltale"


def _file(content: bytes, media_type: str) -> PreparedFile:
    return PreparedFile("ab" * 32, len(content), media_type, BytesIO(content))


def attach(wiring: Wiring, action_id: uuid.UUID) -> list[Attachment]:
    """A picture, a video, a page called a file, a link, one that waits and one that was refused: 1 to 6."""
    kinds = [AttachmentKind(kind) for kind in ("image", "video", "file", "link", "image", "image")]
    obtained = [
        decoding.rewrite(pictures.png(80, 60)),
        Obtained(_file(VIDEO, "video/mp4")),
        Obtained(_file(b"<script>", "application/octet-stream")),
    ]
    states = ["kept", "kept", "kept", "kept", "waiting", "refused"]
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        request.has_attachments = True
        rows = [
            Attachment(
                community_id=request.community_id,
                request_id=request.id,
                position=position,
                url=f"https://cdn.example.org/{SECRET}/{position}?who={SECRET}",
                kind=kind,
                state=AttachmentState(state),
                reason="too_large" if state == "refused" else None,
                alt="A pier & a <boat>" if position == 1 else None,
                filename=f"{SECRET}.html" if position == 3 else None,
                attempts=1,
            )
            for position, (kind, state) in enumerate(zip(kinds, states, strict=True), start=1)
        ]
        for row, one in zip(rows, obtained, strict=False):
            row.sha256 = f"{row.position}{one.main.sha256[1:]}"
            row.media_type, row.stored_size = one.main.media_type, one.main.size
            row.stored_width, row.stored_height = one.width, one.height
            wiring.media.put(row.sha256, one.main.content, one.main.size)
            if one.preview is not None:
                row.preview_sha256 = one.preview.sha256
                wiring.media.put(one.preview.sha256, one.preview.content, one.preview.size)
        session.add_all(rows)
        return rows
