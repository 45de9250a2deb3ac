"""Two real providers on loopback: the package ``oidc-provider``, which is certified, and Debian's Glewlwyd."""

import json
import re
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import httpx
from joserfc.jwk import RSAKey

from tests.browser.live import ROOT
from tests.faults.service import free_port

CLIENT = {"client_id": "bridgenote", "client_secret": "a-secret-of-the-client"}
REDIRECT_URI = "http://localhost/sign-in/callback"
EMAIL = "robin@example.org"
_SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")


class RealProvider(Protocol):
    """A running provider with one person, Robin, whose browser keeps its cookies."""

    issuer: str
    scopes: str

    def set_groups(self, *groups: str) -> None:
        """Make Robin a person with these groups, signed out."""
        ...

    def remove_person(self) -> None: ...

    def authorize(self, url: str) -> dict[str, str]:
        """Sign Robin in, consent, and return what the browser brings back."""
        ...


def _brought_back(location: str | None) -> dict[str, str] | None:
    if location and location.startswith(REDIRECT_URI):
        return dict(parse_qsl(urlsplit(location).query))
    return None


class OidcProvider:
    """``oidc_provider.mjs``, whose pages are filled in as a browser would."""

    scopes = "openid email profile groups offline_access"

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.browser = httpx.Client(timeout=10)

    def control(self, **change: Any) -> None:
        assert httpx.post(f"{self.issuer}/control", json=change).status_code == 200

    def set_groups(self, *groups: str) -> None:
        person = {"email": EMAIL, "email_verified": True, "name": "Robin", "groups": groups}
        self.control(people={"robin": person})

    def remove_person(self) -> None:
        self.control(people={"robin": None})

    def authorize(self, url: str) -> dict[str, str]:
        response = self.browser.get(url)
        for _ in range(12):
            location = response.headers.get("Location")
            answer = _brought_back(location)
            if answer is not None:
                return answer
            if location:
                response = self.browser.get(httpx.URL(url).join(location))
                continue
            assert response.status_code == 200, response.text
            response = self._submit(response)
        raise AssertionError("the provider leads in a circle")

    def sign_out(self) -> None:
        """Sign out there; the provider calls its clients by the back channel before it answers."""
        response = self.browser.get(f"{self.issuer}/session/end")
        form = re.search(r'<form[^>]*action="([^"]+)"', response.text)
        token = re.search(r'name="xsrf" value="([^"]+)"', response.text)
        assert form, response.text
        assert token, response.text
        self.browser.post(form[1], data={"xsrf": token[1], "logout": "yes"})

    def _submit(self, response: httpx.Response) -> httpx.Response:
        form = re.search(r'<form[^>]*action="([^"]+)"', response.text)
        assert form, response.text
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', response.text))
        if 'name="login"' in response.text:
            fields |= {"login": "robin", "password": "any"}
        return self.browser.post(unescape(form[1]), data=fields)


class Glewlwyd:
    """Glewlwyd, whose pages are an application of its own: its calls are made as that makes them."""

    scopes = "openid"

    def __init__(self, port: int) -> None:
        self.api = f"http://127.0.0.1:{port}/api"
        self.issuer = f"{self.api}/oidc"
        self.browser = httpx.Client(timeout=10)
        self.admin = httpx.Client(timeout=10)

    def set_up(self) -> None:
        """Add the plugin for OpenID Connect, the property of groups, and the client."""
        key = RSAKey.generate_key(2048)
        parameters = {
            "iss": self.issuer,
            "subject-type": "public",
            "jwt-type": "rsa",
            "jwt-key-size": "256",
            "key": key.as_pem(private=True).decode(),
            "cert": key.as_pem(private=False).decode(),
            "access-token-duration": 3600,
            "refresh-token-duration": 86_400,
            "code-duration": 600,
            "refresh-token-rolling": False,
            "refresh-token-one-use": "always",
            "allow-non-oidc": False,
            **{
                f"auth-type-{name}-enabled": name in ("code", "refresh")
                for name in ("code", "token", "id-token", "none", "password", "client", "refresh")
            },
            "pkce-allowed": True,
            "pkce-required": True,
            "pkce-method-plain-allowed": False,
            "email-claim": "mandatory",
            "name-claim": "mandatory",
            "claims": [
                {
                    "name": "groups",
                    "user-property": "groups",
                    "type": "string",
                    "mandatory": True,
                    "on-demand": False,
                    "scope": [],
                }
            ],
            "oauth-as-iss-id": True,
        }
        self._call("POST", "/auth/", username="admin", password="password")
        self._call(
            "POST",
            "/mod/plugin/",
            module="oidc",
            name="oidc",
            display_name="OIDC",
            enabled=True,
            parameters=parameters,
        )
        people = self.admin.get(f"{self.api}/mod/user/database").json()
        people["parameters"]["data-format"]["groups"] = {"multiple": True, "read": True, "write": True}
        self._call("PUT", "/mod/user/database", **people)
        self._call("PUT", "/mod/user/database/reset")
        self._call(
            "POST",
            "/client/",
            **CLIENT,
            name="Bridgenote",
            confidential=True,
            redirect_uri=[REDIRECT_URI],
            authorization_type=["code", "refresh_token"],
            token_endpoint_auth_method=["client_secret_basic"],
            enabled=True,
            scope=[],
        )

    def set_groups(self, *groups: str) -> None:
        is_known = self.admin.get(f"{self.api}/user/robin").status_code == 200
        person = {"name": "Robin", "email": EMAIL, "scope": ["openid"], "enabled": True, "groups": groups}
        if is_known:
            self._call("PUT", "/user/robin", **person)
        else:
            self._call("POST", "/user/", username="robin", password="correct horse", **person)

    def remove_person(self) -> None:
        self._call("DELETE", "/user/robin")

    def authorize(self, url: str) -> dict[str, str]:
        sign_in = {"username": "robin", "password": "correct horse"}
        assert self.browser.post(f"{self.api}/auth/", json=sign_in).status_code == 200
        grant = self.browser.put(f"{self.api}/auth/grant/bridgenote", json={"scope": "openid"})
        assert grant.status_code == 200
        response = self.browser.get(f"{url}&g_continue")
        answer = _brought_back(response.headers.get("Location"))
        assert answer is not None, response.headers.get("Location")
        return answer

    def _call(self, method: str, path: str, **body: Any) -> None:
        response = self.admin.request(method, f"{self.api}{path}", json=body or None)
        assert response.status_code == 200, f"{path}: {response.text}"


@contextmanager
def oidc_provider() -> Iterator[OidcProvider]:
    """Run it with the packages and the Node.js that ``scripts/clients`` installs."""
    installed = subprocess.run(
        ["scripts/clients"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
    )
    folder, port = Path(installed.stdout.strip()), free_port()
    settings = {"port": port, "redirect_uri": REDIRECT_URI, "modules": str(folder / "node_modules"), **CLIENT}
    command = [folder / "bin/node", Path(__file__).with_name("oidc_provider.mjs"), json.dumps(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert any(line.strip() == "ready" for line in process.stdout)
            provider = OidcProvider(f"http://127.0.0.1:{port}")
            with provider.browser:
                yield provider
        finally:
            process.terminate()


@contextmanager
def glewlwyd() -> Iterator[Glewlwyd]:
    """Run it on an SQLite database of its own."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        database, settings = Path(folder) / "glewlwyd.db", Path(folder) / "glewlwyd.conf"
        connection = sqlite3.connect(database)
        connection.executescript(_SCHEMA.read_text())
        connection.close()
        settings.write_text(
            f"""
            port = {port}
            bind_address = "127.0.0.1"
            external_url = "http://127.0.0.1:{port}/"
            login_url = "login.html"
            api_prefix = "api"
            log_mode = "console"
            log_level = "ERROR"
            allow_origin = "*"
            session_expiration = 86400
            session_key = "GLEWLWYD2_SESSION_ID"
            admin_scope = "g_admin"
            profile_scope = "g_profile"
            user_module_path = "/usr/lib/glewlwyd/user"
            client_module_path = "/usr/lib/glewlwyd/client"
            user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
            plugin_module_path = "/usr/lib/glewlwyd/plugin"
            use_secure_connection = false
            secure_connection_key_file = "none"
            secure_connection_pem_file = "none"
            secure_connection_ca_file = "none"
            hash_algorithm = "SHA512"
            database = {{ type = "sqlite3"; path = "{database}"; }};
            """
        )
        with subprocess.Popen(
            ["glewlwyd", f"--config-file={settings}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                _await_port(port, process)
                provider = Glewlwyd(port)
                with provider.browser, provider.admin:
                    provider.set_up()
                    yield provider
            finally:
                process.terminate()


def _await_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/")
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("Glewlwyd does not answer")
