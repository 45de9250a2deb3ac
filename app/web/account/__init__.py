"""Account pages: signing up, in and out, passwords, invitations, settings of one person."""
