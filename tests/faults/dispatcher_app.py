"""A process that sends deliveries: what tests kill and start again.

python -m tests.faults.dispatcher_app DATABASE_URL SEALING_KEY IN_FLIGHT LEASE_SECONDS
"""

import signal
import sys
import threading

from app.adapters.webhook_sender import HttpSender
from app.core.db import Database
from app.core.outbound import AllowList
from app.core.sealing import Sealer
from app.jobs.dispatcher import Dispatcher


def main(url: str, sealing_key: str, in_flight: int, lease_seconds: float) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    database = Database(url)
    dispatcher = Dispatcher(
        database,
        HttpSender(AllowList.parse("127.0.0.1")),
        Sealer.from_secret(sealing_key),
        retry_delays=(0.5, 0.5),
        wake=threading.Event(),
        owner="storm",
        max_in_flight=in_flight,
        max_stuck=0,
        lease_seconds=lease_seconds,
    )
    dispatcher.start()
    print("ready", flush=True)
    ended.wait()
    dispatcher.stop(drain_seconds=5)
    database.dispose()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
