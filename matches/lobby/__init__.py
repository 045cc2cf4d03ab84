"""The lobby: tables, matchmaking, who may sit down, and the pages where players find opponents."""
