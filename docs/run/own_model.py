"""A model of your own behind HTTP, as small as it gets: python docs/run/own_model.py 9000, then add http://…:9000/score."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def score(text: str) -> dict[str, float]:
    return {"spam": min(1.0, 0.3 * text.lower().count("buy")), "toxicity": 0.0}  # your model here


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"model": "buy-counter-1", "results": [{"scores": score(text)} for text in asked["texts"]]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
