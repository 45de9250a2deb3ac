"""``python -m tools.clients.document`` prints the OpenAPI document of the API, for scripts/clients."""

import json
import sys
from tempfile import TemporaryDirectory

from app import __version__
from app.api.documents import openapi
from app.application import create_app
from app.settings import Settings
from app.wiring import wire

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        app = create_app(wire(Settings.model_validate({"data_dir": folder}).ready()), __version__)
        with app.app_context():
            json.dump(openapi.generated_document(app), sys.stdout)
