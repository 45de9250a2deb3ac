"""People: accounts, profiles, members, invitations and API keys.

An account signs in (``accounts``, ``credentials``, ``sessions``; one-time links sent by mail: ``mailed_links``). A
profile is one person on one platform (``profiles``); a link code proves that a profile belongs to an account
(``link_codes``). A membership gives an account a role in a community (``members``, ``invitations``). Integrations
use API keys: ``keys`` checks them on each call, ``key_admin`` lists and revokes them.
"""
