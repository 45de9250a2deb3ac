"""The gallery of parts opens in development, with every part in it, and nowhere else."""

import re
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from flask import Flask
from jinja2 import nodes

from app import create_app
from app.core.models import Account
from app.core.people import sessions
from app.core.states import ACTION
from app.web.filters import STATES
from app.wiring import Wiring
from tests.cast import Cast
from tests.gallery.pages import EXAMPLES

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "templates"
GALLERY = ROOT / "tests" / "gallery" / "templates"


@pytest.fixture
def development(wiring: Wiring) -> Flask:
    wiring.settings = wiring.settings.model_copy(update={"environment": "development"})
    return create_app(wiring)


def pages(app: Flask) -> Iterator[str]:
    """Every address of the gallery: each example, in each theme."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("preview.") and "GET" in (rule.methods or ()):
            paths = [rule.rule]
            while "<" in paths[0]:
                values = re.search(r"<any\(([^)]*)\):\w+>", paths[0])
                assert values, rule.rule
                chosen = values[1].split(", ")
                paths = [path.replace(values[0], value) for path in paths for value in chosen]
            yield from paths


@pytest.mark.parametrize("is_signed_in", [False, True], ids=["signed out", "signed in"])
def test_every_page_of_the_gallery_opens(
    development: Flask, wiring: Wiring, cast: Cast, is_signed_in: bool
) -> None:
    client = development.test_client()
    if is_signed_in:
        with wiring.database.writing() as session:
            account = session.get_one(Account, cast.admin.account_id)
            client.set_cookie("bridgenote", sessions.begin(session, account, "Test"))
    found = {path: client.get(path) for path in pages(development)}
    assert len(found) >= 18
    # The sign-in form is shown as it looks after a mistake.
    wanted = {path: 422 if "signin" in path else 200 for path in found}
    assert {path: answer.status_code for path, answer in found.items()} == wanted
    gallery = found["/preview"].text
    assert "Each part in each state" in gallery
    assert "Riverside Forum" in gallery
    for section in ("States", "Buttons", "Notices", "Figures", "Fields", "Content", "Viewpoints", "Empty"):
        assert section in gallery
    for answer in found.values():
        assert re.search(r"<h1[^>]*>", answer.text)


def test_the_forms_of_the_gallery_can_be_tried(development: Flask) -> None:
    client = development.test_client()
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/preview").text)
    assert token
    answer = client.post("/preview/echo", data={"csrf_token": token[1]}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "Claimed. Yours for 10 minutes." in answer.text


def macros(name: str) -> set[str]:
    tree = jinja2.Environment(autoescape=True, extensions=["jinja2.ext.i18n"]).parse(
        (TEMPLATES / "macros" / name).read_text()
    )
    return {one.name for one in tree.find_all(nodes.Macro) if not one.name.startswith("_")}


def used_in_the_gallery() -> set[str]:
    """The macros that its pages call, in their own templates and in those they include."""
    environment = jinja2.Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    waiting = ["base.html", "gallery.html", "gallery_undo.html", "macros/ui.html", "macros/forms.html"]
    waiting += [template for template, _ in EXAMPLES.values()]
    seen: set[str] = set()
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        folder = GALLERY if name.startswith("gallery") else TEMPLATES
        tree = environment.parse((folder / name).read_text())
        used |= {call.node.name for call in tree.find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
        waiting += [
            include.template.value
            for include in tree.find_all(nodes.Include)
            if isinstance(include.template, nodes.Const)
        ]
    return used


def test_the_gallery_has_no_pages_of_its_own() -> None:
    assert {path.name for path in GALLERY.iterdir()} == {"gallery.html", "gallery_undo.html"}
    assert not [template for template, _ in EXAMPLES.values() if template.startswith("gallery")]


def test_the_gallery_shows_every_part() -> None:
    parts = macros("ui.html") | macros("forms.html") | macros("viewpoints.html")
    assert len(parts) > 15
    assert sorted(parts - used_in_the_gallery()) == []
    assert {str(move.target) for move in ACTION.moves} <= STATES.keys()


def test_production_has_no_gallery(wiring: Wiring) -> None:
    wiring.settings = wiring.settings.model_copy(update={"environment": "production"})
    client = create_app(wiring).test_client()
    assert client.get("/preview").status_code == 404


def test_a_drawing_is_small_and_takes_the_colour_of_its_page() -> None:
    drawings = sorted((ROOT / "static" / "pictures").iterdir())
    assert [path.name for path in drawings] == ["bridge.svg", "lamp.svg", "pier.svg"]
    for path in drawings:
        drawing = path.read_text()
        assert len(drawing.encode()) <= 2_048
        assert '<g fill="none" stroke="currentColor"' in drawing
        assert "#" not in drawing, "a colour of its own would not follow the theme"
