"""Asks for scores with Google's client, which builds the calls from the discovery document.

    python google_comments.py URL KEY TEXT

prints what it read, as JSON. Runs in the environment of scripts/clients, not in ours.
"""

import json
import sys
from typing import Any

from googleapiclient import discovery
from googleapiclient.errors import HttpError

url, key, text = sys.argv[1:]


def client_with(key: str) -> Any:
    return discovery.build(
        "commentanalyzer",
        "v1alpha1",
        developerKey=key,
        discoveryServiceUrl=f"{url}/$discovery/rest?version=v1alpha1",
        static_discovery=False,
    )


def error_of(client: Any, **body: Any) -> dict[str, Any]:
    try:
        client.comments().analyze(body={"comment": {"text": text}, **body}).execute()
    except HttpError as error:
        return {"status": int(error.resp.status), "said": error.reason, "details": error.error_details}
    raise AssertionError("it was answered")


with client_with(key) as client:
    comment = {"comment": {"text": text}, "languages": ["en"]}
    asked = {"TOXICITY": {}, "THREAT": {}}
    analyzed = client.comments().analyze(body={**comment, "requestedAttributes": asked}).execute()
    suggested = {"TOXICITY": {"summaryScore": {"value": 1}}}
    answered = client.comments().suggestscore(body={**comment, "attributeScores": suggested}).execute()
    print(
        json.dumps(
            {
                "analyzed": analyzed,
                "suggested": answered,
                "unknown": error_of(client, requestedAttributes={"LIKELY_TO_REJECT": {}}),
                "wrong": error_of(client_with("AIzaNone"), requestedAttributes=asked),
            }
        )
    )
