"""The deliveries of one process as `serve` has them, without the rest: python -m tools.bench._dispatching URL KEY"""

import signal
import sys
import threading

from app.adapters.webhook_sender import HttpSender
from app.core.db import Database
from app.core.outbound import AllowList
from app.core.sealing import Sealer
from app.jobs.dispatcher import Dispatcher


def main(url: str, sealing_key: str) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    database = Database(url)
    sealer, sender = Sealer.from_secret(sealing_key), HttpSender(AllowList.parse("127.0.0.1"))
    dispatcher = Dispatcher(database, sender, sealer, (10, 30), threading.Event(), "bench")
    dispatcher.start()
    print("ready", flush=True)
    ended.wait()
    dispatcher.stop(drain_seconds=1)
    database.dispose()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
