"""The document of Google's discovery format that describes the calls in Perspective's shape (docs/doors.md)."""

from typing import Any

VERSION = "v1alpha1"


def discovery_document(base: str) -> dict[str, Any]:
    """Return a document of Google's discovery format, version 1, with what ``analyze`` and ``suggestscore`` read."""
    text: dict[str, Any] = {"type": "string"}
    texts = {"type": "array", "items": text}

    def schema(name: str, **members: Any) -> dict[str, Any]:
        return {name: {"id": name, "type": "object", "properties": members}}

    def method(name: str, request: str, response: str) -> dict[str, Any]:
        path = f"{VERSION}/comments:{name}"
        return {
            name: {
                "id": f"commentanalyzer.comments.{name}",
                "path": path,
                "flatPath": path,
                "httpMethod": "POST",
                "parameters": {},
                "parameterOrder": [],
                "request": {"$ref": request},
                "response": {"$ref": response},
            }
        }

    score_map = {"type": "object", "additionalProperties": {"$ref": "AttributeScores"}}
    common = {"comment": {"$ref": "TextEntry"}, "languages": texts, "clientToken": text}
    return {
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "id": f"commentanalyzer:{VERSION}",
        "name": "commentanalyzer",
        "version": VERSION,
        "title": "Bridgenote in the shape of Perspective",
        "protocol": "rest",
        "rootUrl": f"{base}/",
        "baseUrl": f"{base}/",
        "basePath": "",
        "servicePath": "",
        "batchPath": "batch",
        "parameters": {
            name: {"type": kind, "location": "query"}
            for name, kind in (("key", "string"), ("alt", "string"), ("prettyPrint", "boolean"))
        },
        "schemas": {
            **schema("TextEntry", text=text, type=text),
            **schema("AttributeParameters", scoreType=text, scoreThreshold={"type": "number"}),
            **schema("Score", value={"type": "number"}, type=text),
            **schema(
                "SpanScore", begin={"type": "integer"}, end={"type": "integer"}, score={"$ref": "Score"}
            ),
            **schema(
                "AttributeScores",
                summaryScore={"$ref": "Score"},
                spanScores={"type": "array", "items": {"$ref": "SpanScore"}},
            ),
            **schema(
                "AnalyzeCommentRequest",
                **common,
                requestedAttributes={
                    "type": "object",
                    "additionalProperties": {"$ref": "AttributeParameters"},
                },
                spanAnnotations={"type": "boolean"},
                doNotStore={"type": "boolean"},
            ),
            **schema(
                "AnalyzeCommentResponse",
                attributeScores=score_map,
                languages=texts,
                detectedLanguages=texts,
                clientToken=text,
            ),
            **schema("SuggestCommentScoreRequest", **common, attributeScores=score_map, communityId=text),
            **schema("SuggestCommentScoreResponse", requestedLanguages=texts, clientToken=text),
        },
        "resources": {
            "comments": {
                "methods": {
                    **method("analyze", "AnalyzeCommentRequest", "AnalyzeCommentResponse"),
                    **method("suggestscore", "SuggestCommentScoreRequest", "SuggestCommentScoreResponse"),
                }
            }
        },
    }
