"""The admin of matches: they are entered and corrected here, and what was revised is looked at."""

from matches.admin import imports, jobs, matches, merges, push, queue, rake, revisions, tables

__all__ = ["imports", "jobs", "matches", "merges", "push", "queue", "rake", "revisions", "tables"]
