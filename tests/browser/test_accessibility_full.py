"""No axe violation on any page of any role in a community where much is going on."""

from tests.browser import site
from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.place import Place


def test_no_page_of_a_busy_community_has_a_violation(place: Place, visit: Visit) -> None:
    filled = site.fill(place, visit)
    found = []
    for role in ("rater", "moderator", "operator"):
        visitor = visit(getattr(place, role))
        visitor.wants(403, 404)
        for path in site.pages(visitor, filled):
            visitor.open(path)
            found += violations(visitor, f"{role}, {path}")
    assert not found, "\n".join(found)
