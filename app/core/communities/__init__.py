"""Communities: the forums and servers that the service moderates for.

A community is opened by an integration's key, an admin or a signed-in person (``communities``, ``founding``). Its
settings have service-wide defaults (``settings``). People join a public community or accept an invitation
(``joining``). To change, pause or archive one: ``upkeep.community_revisions``.
"""
