"""Bridgenote: content scoring, community review and bridging decisions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apiflask import APIFlask

    from app.wiring import Wiring


def create_app(wiring: "Wiring") -> "APIFlask":
    """The WSGI application over this wiring.

    Imported late: jobs, the command line and the core are used without the web framework, and start faster so.
    """
    from app import application

    return application.create_app(wiring)
