"""A webhook receiver, standard library only: verify, deduplicate, answer, then work and acknowledge.

BASE=http://127.0.0.1:8000 KEY=bnk_… SECRET=a-secret-of-mine python3 docs/integrate/receiver.py 8999
"""

import base64
import hmac
import json
import os
import queue
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BASE, KEY, SECRET = os.environ["BASE"], os.environ["KEY"], os.environ["SECRET"]
STANDARD_KEY = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()
seen, work = set(), queue.Queue()  # yours: a table with a unique event_id, written before you answer


def verified(body, headers):
    """The payload, when both signatures hold and it is at most 300 seconds old; otherwise ValueError."""
    payload = json.loads(body)
    stamp, given = payload.pop("_webhook_timestamp"), payload.pop("_webhook_signature")
    plain = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hmac.digest(SECRET.encode(), f"{stamp}:{plain}".encode(), "sha256").hex()
    message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    standard = b"v1," + base64.b64encode(hmac.digest(STANDARD_KEY, message, "sha256"))
    listed = headers["webhook-signature"].encode().split()  # two of them while a secret is being replaced
    if not (hmac.compare_digest(expected, given) and any(hmac.compare_digest(standard, s) for s in listed)):
        raise ValueError("a signature does not hold")
    if abs(time.time() - stamp) > 300 or str(stamp) != headers["webhook-timestamp"]:
        raise ValueError("the timestamp is old")
    return payload


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            event = verified(self.rfile.read(int(self.headers["Content-Length"])), self.headers)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            print("refused:", error, flush=True)
            return self.reply(401)
        if event["event_id"] not in seen:
            seen.add(event["event_id"])
            work.put(event)
        self.reply(204)

    def reply(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def acknowledge(action):
    """Say that the platform has done it. Said twice, it changes nothing, so it may be repeated."""
    body = json.dumps({"action_state": "applied", "platform_action_id": f"done-{action['id']}"}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    url = f"{BASE}/api/public/v1/moderation-actions/{action['id']}"
    for wait in (0.5, 1, 2):
        try:
            # The URL is our own service's.
            with urlopen(Request(url, body, headers, method="PATCH"), timeout=30) as answer:  # noqa: S310
                done = json.load(answer)["data"]["attributes"]
                return print("acknowledged:", done["request_id"], done["action_state"], flush=True)
        except HTTPError as error:
            if error.code not in (429, 500, 502, 503, 504):
                return print("not acknowledged:", error.code, flush=True)
            time.sleep(float(error.headers.get("Retry-After", wait)))
        except OSError:
            time.sleep(wait)
    print("not acknowledged: polling finds it again", flush=True)


def carry_out():
    while event := work.get():
        print("event:", event.get("event") or event["event_type"], flush=True)
        if event.get("event") in ("moderation_action.created", "moderation_action.proposed"):  # on Discourse
            print("platform:", event["data"]["action_type"], event["data"]["request_id"], flush=True)
            acknowledge(event["data"])  # after the platform did it


if __name__ == "__main__":
    threading.Thread(target=carry_out, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()
