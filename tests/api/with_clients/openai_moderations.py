"""Asks for moderations with OpenAI's package.

    python openai_moderations.py URL KEY TEXT…

prints what it read, as JSON. Runs in the environment of scripts/clients, not in ours.
"""

import json
import sys
from typing import Any

import openai

url, key, *texts = sys.argv[1:]
image = {"type": "image_url", "image_url": {"url": "https://forum.example/a.png"}}


def error_of(client: openai.OpenAI, given: Any) -> dict[str, Any]:
    try:
        client.moderations.create(input=given)
    except openai.APIStatusError as error:
        return {"kind": type(error).__name__, "code": error.code, "param": error.param, "said": error.message}
    raise AssertionError("it was answered")


with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
    many = client.moderations.create(model="omni-moderation-latest", input=texts)
    one = client.moderations.create(model="any-other-name", input=texts[0])
    parts = client.moderations.create(input=[{"type": "text", "text": text} for text in texts] + [image])
    wrong = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-none", max_retries=0)
    print(
        json.dumps(
            {
                "flagged": [result.flagged for result in many.results],
                "harassment": [result.category_scores.harassment for result in many.results],
                "one": len(one.results),
                "model": one.model,
                "parts": len(parts.results),
                "applied": parts.results[0].category_applied_input_types.to_dict(),
                "image": error_of(client, [image]),
                "wrong": error_of(wrong, "a text"),
            }
        )
    )
