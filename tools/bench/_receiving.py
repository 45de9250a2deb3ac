"""A receiver in a process of its own, so that it takes nothing of the sender's time but the core it runs on.

python -m tools.bench._receiving: prints its port. It answers every POST with 200; GET gives its log, as JSON:
``[[event id, seconds], …]`` in the order of arrival, by this machine's clock.
"""

import asyncio
import json
import time

seen: list[tuple[str, float]] = []


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            body = b""
            if first.startswith("GET"):
                body = json.dumps(seen).encode()
            else:
                await reader.readexactly(int(headers.get("content-length", 0)))
                seen.append((headers["webhook-id"], time.time()))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
