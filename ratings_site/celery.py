"""The task queue and the schedule of what runs by itself."""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ratings_site.settings")

app = Celery("ratings_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# The schedule is code: a new installation needs no rows for it, and a change is reviewed like any other.
# Every task here may run twice, or late, without harm. `expires` (seconds) drops what a stopped worker left
# waiting, so that it does not run the same task many times over when it is back.
app.conf.beat_schedule = {
    # A correction in the background is a row; whatever happens to the message or to its worker, it is found here.
    "sweep corrections": {
        "task": "matches.tasks.sweep_corrections",
        "schedule": crontab(),
        "options": {"expires": 50},
    },
    # Whoever waits to be paired looks at the page: seconds count. Nothing but a row is asked of the request that makes him wait,
    # so that it works without a broker.
    "pair players": {
        "task": "matches.tasks.pair_players",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "sweep lobbies": {
        "task": "matches.tasks.sweep_lobbies",
        "schedule": crontab(),
        "options": {"expires": 50},
    },
    # Events are rows as well: here they get their places in the feed, and webhooks are told.
    "sweep events": {
        "task": "matches.tasks.sweep_events",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "send mail": {
        "task": "matches.tasks.send_mail",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "warn of decay": {
        "task": "matches.tasks.warn_of_decay",
        "schedule": crontab(minute=40),
        "options": {"expires": 50 * 60},
    },
    "forget events": {
        "task": "matches.tasks.forget_events",
        "schedule": crontab(hour=4, minute=20),
        "options": {"expires": 6 * 3600},
    },
    # Silence confirms a reported result after a day, so that some minutes more are nothing.
    "confirm silent": {
        "task": "matches.tasks.confirm_silent",
        "schedule": crontab(minute="*/5"),
        "options": {"expires": 4 * 60},
    },
    # The same for imports of files.
    "sweep imports": {
        "task": "matches.tasks.sweep_imports",
        "schedule": crontab(),
        "options": {"expires": 50},
    },
    # Decay, and who is away: counted in whole days from each player's last match, so that any moment will do.
    # Hourly, because a player's day ends at any hour; at five past, when the hour's last results are in.
    "update standings": {
        "task": "players.tasks.update_standings",
        "schedule": crontab(minute=5),
        "options": {"expires": 50 * 60},
    },
    # What a process that died had not told Redis of is found within minutes: a count and a sum for each pool.
    "check rankings": {
        "task": "players.tasks.check_rankings",
        "schedule": crontab(minute="*/10"),
        "options": {"expires": 9 * 60},
    },
    # And once a day, when few play, the rankings in Redis are filled anew, whatever may have happened to them.
    "rebuild rankings": {
        "task": "players.tasks.rebuild_rankings",
        "schedule": crontab(hour=3, minute=35),
        "options": {"expires": 6 * 3600},
    },
}
