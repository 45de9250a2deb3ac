"""A webhook receiver, standard library only: verify, deduplicate, answer, then work and acknowledge.

clients/python does the same as a package.

BASE=http://127.0.0.1:8000 KEY=bnk_… SECRET=a-secret-of-mine INBOX=inbox.db python3 docs/receiver.py 8999
"""

import base64
import hmac
import json
import os
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BASE, KEY, SECRET = os.environ["BASE"], os.environ["KEY"], os.environ["SECRET"]
HMAC_KEY = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()

# Every event that arrived, once. Without a file it forgets them when it ends, and works on a repeated one again.
inbox = sqlite3.connect(os.environ.get("INBOX", ":memory:"), isolation_level=None, check_same_thread=False)
inbox.execute("CREATE TABLE IF NOT EXISTS events (event_id PRIMARY KEY, body, is_done DEFAULT 0)")
arrived = threading.Event()


def verified(body, headers):
    """The event, if a signature holds and is at most 300 seconds old; otherwise ValueError."""
    message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(HMAC_KEY, message, "sha256"))
    # While a secret is being replaced there is one for the new and one for the old: any one will do.
    listed = headers["webhook-signature"].encode().split()
    if not any(hmac.compare_digest(expected, signature) for signature in listed):
        raise ValueError("no signature holds")
    if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
        raise ValueError("the timestamp is old")
    return json.loads(body)


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verified(body, self.headers)
        except (ValueError, AttributeError) as error:  # AttributeError: a header is missing
            print("refused:", error, flush=True)
            return self.reply(401)
        # Kept before it is answered, so that nothing is lost. An event_id that is there already was sent before.
        inbox.execute(
            "INSERT OR IGNORE INTO events (event_id, body) VALUES (?, ?)", (event["event_id"], body)
        )
        arrived.set()
        self.reply(204)

    def reply(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def acknowledge(action, **done):
    """Say what the platform has done. Said twice, it changes nothing, so it may be repeated."""
    body = json.dumps(done).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    url = f"{BASE}/api/public/v1/moderation-actions/{action['id']}"
    for wait in (0.5, 1, 2):
        try:
            # The URL is our own service's.
            with urlopen(Request(url, body, headers, method="PATCH"), timeout=30) as answer:  # noqa: S310
                now = json.load(answer)["data"]["attributes"]
                return print("acknowledged:", now["request_id"], now["action_state"], flush=True)
        except HTTPError as error:
            if error.code not in (429, 500, 502, 503, 504):
                return print("not acknowledged:", error.code, flush=True)
            time.sleep(float(error.headers.get("Retry-After", wait)))
        except OSError:
            time.sleep(wait)
    print("not acknowledged: polling finds it again", flush=True)


def carry_out(event):
    name, action = event.get("event") or event["event_type"], event.get("data", {})
    print("event:", name, flush=True)
    if name in ("moderation_action.created", "moderation_action.proposed"):  # the latter on Discourse
        print("platform:", action["action_type"], action["request_id"], flush=True)
        # After the platform did it.
        acknowledge(action, action_state="applied", platform_action_id=f"done-{action['id']}")
    elif name == "moderation_action.overturned" and action.get("undo"):
        print("platform:", action["undo"], action["request_id"], flush=True)
        acknowledge(action, undo_state="done")  # or "impossible"


def work():
    while True:
        arrived.clear()
        for event_id, body in inbox.execute("SELECT event_id, body FROM events WHERE NOT is_done").fetchall():
            carry_out(json.loads(body))
            inbox.execute("UPDATE events SET is_done = 1 WHERE event_id = ?", (event_id,))
        arrived.wait()


if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()
