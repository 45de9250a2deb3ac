"""``mcp``: assistants of moderators read by the Model Context Protocol (docs/integrate/assistants.md).

``items`` and ``figures`` read by the core's functions, ``calls`` checks, answers and logs each call; only ``command``
imports the SDK.
"""
