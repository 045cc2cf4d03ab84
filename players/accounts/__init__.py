"""Logins: signing up, who is let in, the profile, and claims of players who were there before their login."""
