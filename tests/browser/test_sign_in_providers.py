"""The button of a sign-in provider leads there, with script and without, though forms may lead to no other host."""

import pytest
from playwright.sync_api import Browser

from app.core import clock
from app.core.people import providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM
from tests.browser.live import Service
from tests.lying_provider import CLIENT_ID, lying_provider


@pytest.mark.parametrize("has_script", [True, False])
def test_the_button_leads_to_the_provider(service: Service, browser: Browser, has_script: bool) -> None:
    database, sealer = service.wiring.database, service.wiring.sealer
    with lying_provider() as provider, browser.new_context(java_script_enabled=has_script) as context:
        document = {"authorization_endpoint": f"{provider.issuer}/authorize"}
        draft = Draft("Harbour Co-op", provider.issuer, CLIENT_ID)
        with database.writing() as session:
            row = providers.add(session, SYSTEM, sealer, draft, document)
            row.tried_at = row.enabled_at = clock.now()
        try:
            page = context.new_page()
            page.goto(f"{service.url}/sign-in?next=/review")
            page.get_by_role("button", name="Sign in with Harbour Co-op").click()
            page.wait_for_url(f"{provider.issuer}/authorize?**")
            assert "code_challenge_method=S256" in page.url
        finally:
            # Other tests look for the only button of the sign-in page.
            with database.writing() as session:
                kept = providers.get(session, row.id)
                kept.enabled_at, kept.removed_at = None, clock.now()
