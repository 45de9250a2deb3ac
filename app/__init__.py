"""Bridgenote: content scoring, community review and bridging decisions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apiflask import APIFlask

    from app.wiring import Wiring

__version__ = "0.1.0"
"""The version of the service, stated here alone: pyproject.toml, ``--version`` and the OpenAPI document read it."""


def create_app(wiring: "Wiring") -> "APIFlask":
    """Create the WSGI application from this wiring.

    The import is inside the function: jobs, the command line and the core do not need the web framework, and start
    faster without it.
    """
    from app import application

    return application.create_app(wiring, __version__)
