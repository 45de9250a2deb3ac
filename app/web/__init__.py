"""The dashboard: pages for raters, moderators, operators and admins.

A page group is a module of this package that adds its views to ``blueprint.web``. All modules here are imported at
start-up, so a new module needs no registration. A view looks like this::

    @web.get("/second-look")
    @auth.needs(Permission.SEE_QUEUE)             # else 403 with the role it needs
    def second_look() -> Response:
        community = auth.current_community()      # ?community=, else the last one used
        with wired().database.reading() as session:
            rows = …(session, auth.current_actor(), community.id)
        return page.render("moderate/second_look.html", "_second_look.html", rows=rows)

    @web.post("/second-look/<uuid:action_id>/confirm")
    def confirm_action(action_id: uuid.UUID) -> Response:
        form = forms.posted(ReasonForm)           # form.validate() or page.render(…, status=422)
        with wired().database.writing() as session:
            action = actions.with_content(session, auth.current_actor(), action_id)   # foreign: a 404 page
            auth.enter(action.community_id)       # the navigation shows the object's community
            …
        return page.done("moderate/_queue_row.html", url_for("web.second_look"), "Confirmed.", …)

Errors that the core raises become an error page with the matching status (``errors.answer``). Catch ``Conflict`` and
``Invalid`` if text that the user typed must be kept.
"""

import importlib
import pkgutil
from pathlib import Path

from apiflask import APIFlask

from app.web import auth, filters, navigation, security
from app.web.blueprint import web
from app.web.item import note_views
from app.wiring import EXTENSION

_GALLERY = Path(__file__).parents[2] / "tests" / "gallery"
"""Each part of pages, at ``/preview``, for authors of pages, and a pseudo-language: in a checkout only."""


def import_pages() -> None:
    """Import every module of this package, which adds its views to the blueprint."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)


def register(app: APIFlask) -> None:
    """Add the dashboard to the application."""
    import_pages()
    wiring = app.extensions[EXTENSION]
    settings = wiring.settings
    filters.register(app)
    security.register(app, settings)
    auth.register(app)
    app.context_processor(navigation.page_context)
    app.jinja_env.globals["community_of_page"] = navigation.community_of_page
    app.jinja_env.globals.update(rating_levels=note_views.LEVELS, point_keys=note_views.POINT_KEYS)
    app.register_blueprint(web)
    if settings.environment != "production" and _GALLERY.is_dir():
        pseudo = importlib.import_module("tests.pseudo")
        wiring.languages = {**wiring.languages, pseudo.TAG: pseudo.PseudoLanguage()}
        app.register_blueprint(importlib.import_module("tests.gallery.pages").preview_blueprint())
