"""People: accounts, profiles, members, invitations and API keys.

An account signs in (``accounts``, ``credentials``, ``sessions``; links sent by mail: ``mailed_links``). A profile
is one person on one platform (``profiles``); ``link_codes`` let somebody show that a profile is theirs. Membership
gives an account a role in a community (``members``, ``invitations``). Integrations use keys: ``keys`` checks them
on each call, ``key_admin`` creates, lists and revokes them.
"""
