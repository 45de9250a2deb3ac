"""People: accounts, profiles, members, invitations and API keys.

An account signs in (``accounts``, ``passwords``, ``credentials``, ``sessions``; one-time links and codes:
``mailed_links``). A profile is one person on one platform (``profiles``); a link code proves that it belongs to an
account. A membership gives an account a role in a community (``members``, ``invitations``). Integrations use API keys:
``keys`` checks them on each call, ``key_admin`` lists and revokes them. ``dashboard`` holds a person's preferences.
"""
