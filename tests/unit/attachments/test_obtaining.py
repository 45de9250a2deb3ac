"""What is fetched for an attachment is checked: nothing hostile is kept, and a picture is written anew."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from app.adapters.media.obtaining import HttpObtainer
from app.adapters.net import Guarded
from app.core import limits
from app.core.attachments.fetching import FetchFailed
from app.core.outbound import AllowList
from app.core.vocabulary import AttachmentKind, AttachmentRefusal
from tests.unit.attachments import pictures
from tests.unit.webhook_sender.conftest import Names, Receiver, Timed

Serve = Callable[..., str]
IMAGE, VIDEO, FILE = AttachmentKind.IMAGE, AttachmentKind.VIDEO, AttachmentKind.FILE
R = AttachmentRefusal


@pytest.fixture
def serve() -> Iterator[Serve]:
    """``serve(body)`` or ``serve(head=…)``: the URL of a server on loopback that answers so."""
    with ExitStack() as stack:

        def start(body: bytes = b"", head: bytes | None = None, drip: bool = False) -> str:
            def answer(connection: socket.socket, receiver: Any) -> None:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(65_536)
                receiver.requests.append(request)
                connection.sendall(head or b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
                connection.sendall(body)
                if drip:
                    receiver.drip(connection, b"x")

            receiver = Receiver(answer)
            stack.callback(receiver.close)
            return str(receiver.url)

        yield start


def _obtain(url: str, kind: AttachmentKind = IMAGE, first_seconds: float = 60.0) -> Any:
    port = url.split(":")[2].split("/")[0]
    return HttpObtainer(AllowList.parse(f"127.0.0.1:{port}"), first_seconds=first_seconds).obtain(url, kind)


def _refusal(url: str, kind: AttachmentKind = IMAGE) -> tuple[AttachmentRefusal, bool]:
    with pytest.raises(FetchFailed) as caught:
        _obtain(url, kind)
    return caught.value.reason, caught.value.retry


HTML = b"<!doctype html><script>alert(1)</script>"


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        (pictures.claiming(10_000, 10_000), IMAGE, R.TOO_MANY_PIXELS),
        (pictures.claiming(2**31 - 1, 2**31 - 1), IMAGE, R.TOO_MANY_PIXELS),
        (pictures.claiming(50, 50), IMAGE, R.DAMAGED),
        (pictures.png()[:45], IMAGE, R.DAMAGED),
        (b"", IMAGE, R.DAMAGED),
        (pictures.SVG, IMAGE, R.UNSUPPORTED),
        (b"\n " + HTML, IMAGE, R.UNSUPPORTED),
        (b"BM" + bytes(60), IMAGE, R.UNSUPPORTED),
        (pictures.MP4, IMAGE, R.WRONG_TYPE),
        (b"MZ" + bytes(600), IMAGE, R.WRONG_TYPE),
        (pictures.png(), VIDEO, R.WRONG_TYPE),
        (HTML, VIDEO, R.WRONG_TYPE),
    ],
    ids=lambda value: "body" if isinstance(value, bytes) else None,
)
def test_what_is_not_what_it_is_called_or_harms_is_refused_for_good(
    serve: Serve, body: bytes, kind: AttachmentKind, reason: AttachmentRefusal
) -> None:
    assert _refusal(serve(body), kind) == (reason, False)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", (R.NOT_FOUND, False)),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", (R.UNREACHABLE, True)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10485761\r\n\r\n", (R.TOO_LARGE, False)),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", (R.UNSUPPORTED, False)),
        (b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\n\r\n", (R.BAD_ADDRESS, False)),
        (b"HTTP/1.1 302 Found\r\nLocation: https://10.0.0.1/a.png\r\n\r\n", (R.BAD_ADDRESS, False)),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", (R.BAD_ADDRESS, False)),
        (b"HTTP/1.1 302 Found\r\nLocation: /hooks\r\n\r\n", (R.UNREACHABLE, False)),
    ],
)
def test_an_answer_that_is_no_file_is_refused_and_only_what_may_pass_is_tried_again(
    serve: Serve, head: bytes, expected: tuple[AttachmentRefusal, bool]
) -> None:
    assert _refusal(serve(head=head)) == expected


def test_a_body_without_a_length_is_cut_at_the_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMAGE_BYTES", 100_000)
    url = serve(pictures.png() + bytes(200_000), head=b"HTTP/1.1 200 OK\r\n\r\n")
    assert _refusal(url) == (R.TOO_LARGE, False)


def test_a_server_that_drips_is_cut_off(serve: Serve) -> None:
    url = serve(pictures.png(), head=b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n", drip=True)
    with Timed() as took, pytest.raises(FetchFailed) as caught:
        _obtain(url, first_seconds=0.2)
    assert (caught.value.reason, caught.value.retry) == (R.TOO_SLOW, True)
    assert took.seconds < 20, "the whole time of a fetch is 30 s"


def test_names_that_lead_inward_are_refused_before_anything_is_sent() -> None:
    dialled: list[Any] = []

    def dial(*place: Any) -> socket.socket:
        dialled.append(place)
        raise ConnectionRefusedError

    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "64:ff9b::a00:1"):
        names = Names([address])
        with pytest.raises(FetchFailed) as caught:
            HttpObtainer(AllowList(), Guarded(names, dial)).obtain(
                "https://pictures.example.org/ä b.png#top", IMAGE
            )
        assert (caught.value.reason, caught.value.retry) == (R.BAD_ADDRESS, False)
        assert names.asked == [("pictures.example.org", 443)]
    assert dialled == []


def test_a_picture_is_written_anew_upright_and_without_what_stood_in_or_behind_it(serve: Serve) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "SECRET-PLACE"  # turned by a quarter, and a description
    body = pictures.written(Image.new("RGB", (80, 40), "red"), "JPEG", exif=exif, comment=b"SECRET-COMMENT")
    with _obtain(serve(body + b"PK\x03\x04<script>SECRET-TAIL</script>")) as obtained:
        stored = obtained.main.content.read()
        preview = obtained.preview.content.read()
    assert (obtained.width, obtained.height) == (40, 80)
    assert obtained.main.media_type == "image/jpeg"
    assert b"SECRET" not in stored + preview
    with Image.open(BytesIO(stored)) as shown:
        assert (shown.size, dict(shown.getexif())) == ((40, 80), {})
        assert shown.convert("RGB").getpixel((20, 40))[0] > 240  # type: ignore[index]


def test_of_an_animation_the_first_frame_is_kept_and_transparency_stays(serve: Serve) -> None:
    frames = [Image.new("RGBA", (30, 20), colour) for colour in ((255, 0, 0, 0), (0, 0, 255, 255))]
    body = pictures.written(frames[0], "GIF", save_all=True, append_images=frames[1:], loop=0)
    with _obtain(serve(body), FILE) as obtained, Image.open(obtained.main.content) as shown:
        assert getattr(shown, "n_frames", 1) == 1
        assert shown.convert("RGBA").getpixel((3, 3))[3] == 0  # type: ignore[index]


def test_a_preview_is_small_whatever_the_picture(serve: Serve) -> None:
    with _obtain(serve(pictures.noise(400, 300))) as obtained:
        assert obtained.preview.size <= limits.PREVIEW_BYTES
        assert obtained.main.size > limits.PREVIEW_BYTES


def test_videos_and_files_are_kept_as_they_are_with_the_type_of_their_content(serve: Serve) -> None:
    for kind in (VIDEO, AttachmentKind.AUDIO, FILE):
        with _obtain(serve(pictures.MP4), kind) as obtained:
            assert obtained.main.content.read() == pictures.MP4
            assert (obtained.main.media_type, obtained.preview) == ("video/mp4", None)
    with _obtain(serve(HTML), FILE) as obtained:
        assert obtained.main.media_type == "application/octet-stream"
