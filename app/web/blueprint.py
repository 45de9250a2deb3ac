"""The dashboard's blueprint. All page groups (``home``, ``help_needed``, …) add their views to it.

Every view needs a sign-in, which ``auth.guard`` checks, unless it is marked with ``@auth.open_to_all``.
"""

from flask import Blueprint

web = Blueprint("web", __name__)
