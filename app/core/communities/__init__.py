"""Communities: the forums and servers that the service moderates for.

A community is opened by an integration's key, an admin or a person's own wish (``communities``, ``founding``). Its
settings have service-wide defaults (``settings``). People join a public community or accept an invitation
(``joining``). Changing, pausing and archiving one: ``upkeep.community_revisions`` and ``upkeep.community_states``.
"""
