"""Account pages: sign up, sign in and out, passwords, invitations, personal settings."""
