#!/usr/bin/env python
"""Django's command line for this site."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ratings_site.settings")
    try:
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit(
            "Django is not installed for this Python. Run `make install`, then use .venv/bin/python manage.py."
        ) from error
    try:
        # Django itself goes on without settings, and may say anything in the end.
        _ = settings.DEBUG
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has had enough, as `head` does; nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + 13)  # as the shell tells of SIGPIPE


if __name__ == "__main__":
    main()
