"""The dashboard's one blueprint. Page groups (``home``, ``help_needed``, …) add their views to it.

Every view is closed: ``auth.guard`` wants a sign-in, unless the view says ``@auth.open_to_all``.
"""

from flask import Blueprint

web = Blueprint("web", __name__)
