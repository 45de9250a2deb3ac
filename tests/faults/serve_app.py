"""A server process with a tiny application.

    python -m tests.faults.serve_app PORT PROCESSES TRUSTED_PROXIES FOLDER [JOBS_URL]

Port 0 is any free one. With a database of jobs, each worker runs them, as ``web-0``, ``web-1`` and so on.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from app.core import limits
from app.jobs.engine import Engine
from app.process.serve import serve
from tests.faults.engine_app import make_engine

LARGEST = limits.DATASET_FILE_BYTES + limits.METADATA_MAX_BYTES
"""Bytes of the largest body that this application takes, as ours does: less than the server reads at most."""


def main(port: int, processes: int, trusted_proxies: str, folder: Path, jobs_url: str | None = None) -> None:
    engines: list[Engine] = []

    def load_app(slot: int) -> Any:
        if jobs_url is not None:
            engine, _ = make_engine(jobs_url, f"web-{slot}", folder, "old")
            engine.start()
            engines.append(engine)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path == "/gated":
                (folder / "begun").touch()
                while not (folder / "gate").exists():
                    time.sleep(0.02)
            if path == "/crash":
                os.kill(os.getpid(), signal.SIGKILL)
            if path == "/raise":
                raise RuntimeError("a secret of the application")
            declared = int(environ.get("CONTENT_LENGTH") or 0)
            if declared > LARGEST:
                start_response("413 Too Large", [("Content-Type", "application/json")])
                return [json.dumps({"declared": declared, "got": len(environ["wsgi.input"].read())}).encode()]
            seen = {
                "slot": slot,
                "pid": os.getpid(),
                "address": environ["REMOTE_ADDR"],
                "scheme": environ["wsgi.url_scheme"],
                "forwarded": sorted(name for name in environ if name.startswith("HTTP_X_FORWARDED")),
                "blas": os.environ.get("OPENBLAS_NUM_THREADS"),
                "length": len(environ["wsgi.input"].read()),
            }
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(seen).encode()]

        return app

    def stop_app() -> bool:
        (folder / f"stopped-{os.getpid()}").touch()
        return all([engine.stop(drain=1) for engine in engines])

    serve(
        host="127.0.0.1",
        port=port,
        processes=processes,
        threads=2,
        load_app=load_app,
        stop_app=stop_app,
        trusted_proxies=trusted_proxies,
        announce=lambda url: print(url, flush=True),
        graceful_seconds=10,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), *sys.argv[5:])
