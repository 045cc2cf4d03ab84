"""The site: settings, addresses and the task queue. No rule of the domain lives here."""

# Loaded with Django, so that `shared_task` finds the configured app in every process.
from ratings_site.celery import app as celery_app

__all__ = ["celery_app"]
