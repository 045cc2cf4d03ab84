"""
Settings. Everything that differs between installations comes from the environment:

  DEBUG               1 for development. Off by default, and the site is then strict: see SECRET_KEY, INSECURE_HTTP.
  SECRET_KEY          required unless DEBUG.
  ALLOWED_HOSTS       host names, comma-separated. With DEBUG, this machine's own names are allowed as well.
  CSRF_TRUSTED_ORIGINS  origins such as https://ratings.example, comma-separated; needed behind a proxy that changes Host.
  INSECURE_HTTP       1 to serve plain http without DEBUG: no redirect to https, no HSTS, cookies without "secure".
                      For a run on one's own machine; never for a site on a network.
  TRUST_PROXY         1 where a proxy in front ends https and always sets X-Forwarded-Proto itself.
  HSTS_SECONDS        how long browsers insist on https, in seconds; a year by default, 0 for not at all.
  DATABASE_URL        postgresql://user:password@host:5432/name, or sqlite:///path; SQLite at VAR_DIR/db.sqlite3 by default.
  REDIS_URL           redis://host:6379/0, for the cache and the tasks. Without it both use files under VAR_DIR: one machine only.
  SITE_URL            https://ratings.example, for links in mail; by default the first of ALLOWED_HOSTS.
  EMAIL_URL           smtp+tls://user:password@host:587; by default mail is printed.
  DEFAULT_FROM_EMAIL  the sender of the site's mail.
  WEBHOOKS_MAY_BE_PRIVATE  1 where webhooks may be sent by plain http and to addresses that are not on the public internet.
  REPORT_HOURS        hours after which silence confirms a reported result; 24 by default.
  APPEAL_DAYS         days in which a player can appeal against how his match was settled; 14 by default.
  VAR_DIR             where the site keeps files at run time; var/ beside manage.py by default.
  LOG_LEVEL           INFO by default.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var"))).resolve()
VAR_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = env.bool("DEBUG", default=False)
INSECURE_HTTP = env.bool("INSECURE_HTTP", default=False)
HTTPS = not (DEBUG or INSECURE_HTTP)

SECRET_KEY = env.str("SECRET_KEY", default="")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Put a long random text into the environment variable SECRET_KEY "
            "(or DEBUG=1 for development, where a fixed key is used)."
        )
    SECRET_KEY = "django-insecure-for-development-only"

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- Applications ---

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "axes",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "players.apps.PlayersConfig",
    "matches.apps.MatchesConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "players.languages.LanguageAtLogin",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "ratings_site.middleware.BusyDatabase",
    "ratings_site.middleware.UntakenValue",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "ratings_site.urls"
WSGI_APPLICATION = "ratings_site.wsgi.application"
ASGI_APPLICATION = "ratings_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database ---

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

_database: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": VAR_DIR / "db.sqlite3"}
if env.str("DATABASE_URL", default=""):
    _database = env.db_url("DATABASE_URL")
    if not _database.get("ENGINE"):
        raise ImproperlyConfigured("DATABASE_URL names no database: postgresql://user:password@host:5432/name or sqlite:///path.")
if _database["ENGINE"].endswith("sqlite3"):
    _database["OPTIONS"] = {
        # Take the write lock when a transaction starts: one that reads first and writes later could not wait
        # for another writer and would fail at once with "database is locked".
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,  # seconds to wait for that lock
        # Readers go on while somebody writes. NORMAL cannot corrupt a WAL database; a power cut may undo the last commits.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        **_database.get("OPTIONS", {}),
    }
else:
    # A connection is kept by the thread that opened it, so there are never more than gunicorn's threads plus
    # Celery's processes: a number that is known beforehand. A pool would add a second limit, a wait of its own and
    # threads that a forking worker must not inherit.
    _database.setdefault("CONN_MAX_AGE", 600)  # seconds
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"] = {"connect_timeout": 5, **_database.get("OPTIONS", {})}
# Transactions are the services' own (never one around a whole request): a page that only reads must not take
# SQLite's write lock, nor a request hold row locks while it renders.
_database["ATOMIC_REQUESTS"] = False
DATABASES = {"default": _database}

# --- Cache and tasks ---

REDIS_URL = env.str("REDIS_URL", default="")

if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "ratings_site.cache.Cache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "ratings",
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
        }
    }
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # Nobody waits for a broker that is gone: what a task is for stands in the database, and a sweep finds it.
        # max_retries is for publishing; the worker itself goes on trying (broker_connection_max_retries).
        "socket_connect_timeout": 1,
        "socket_timeout": 1,
        "retry_on_timeout": False,
        "max_retries": 0,
        "global_keyprefix": "ratings:",
    }
else:
    CACHES = {
        "default": {
            # Files, not memory: the worker's changes must reach the pages of the web process.
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": VAR_DIR / "cache",
            "OPTIONS": {"MAX_ENTRIES": 1000},
        }
    }
    _broker = VAR_DIR / "broker"
    for _folder in ("messages", "control"):
        (_broker / _folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "filesystem://localhost"
    CELERY_BROKER_TRANSPORT = "ratings_site.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_broker / "messages"),
        "data_folder_out": str(_broker / "messages"),
        "control_folder": str(_broker / "control"),
    }

CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_TIMEOUT = 1  # seconds
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
# Tasks are idempotent: better one twice than one lost with its worker.
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = bool(REDIS_URL)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")

# --- Results ---

REPORT_HOURS = env.int("REPORT_HOURS", default=24)
APPEAL_DAYS = env.int("APPEAL_DAYS", default=14)

# --- People ---

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/cashier/"
LOGOUT_REDIRECT_URL = "/"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
ACCOUNT_FORMS = {"signup": "players.accounts.signing_up.SignupForm"}
ACCOUNT_SIGNUP_FORM_CLASS = "players.accounts.forms.SignUpForm"
ACCOUNT_LOGIN_METHODS = {"email", "username"}  # a name is for those whom organisers gave a login
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
# Whoever has not confirmed his address may look around and play, but claims no player and gets no mail.
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
ACCOUNT_RATE_LIMITS = {"login_failed": None}  # see AXES: in the database, not in a cache that may be gone
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if env.bool("TRUST_PROXY", default=False) else 0
AXES_VERBOSE = False
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_USERNAME_CALLABLE = "players.accounts.guard.name_tried"
AXES_CLIENT_IP_CALLABLE = "players.accounts.guard.comes_from"
AXES_LOCKOUT_CALLABLE = "players.accounts.guard.locked_out"
AXES_DISABLE_ACCESS_LOG = True  # where people were, and when, is nobody's business

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("de", _("German")), ("da", _("Danish")), ("nl", _("Dutch"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600  # seconds
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
USE_I18N = True
FORMAT_MODULE_PATH = "ratings_site.formats"
TIME_ZONE = "UTC"
USE_TZ = True

# --- Files that browsers fetch ---

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# An upload of match files is held to the number that its form names, with a word beside the field.
DATA_UPLOAD_MAX_NUMBER_FILES = 1000

# --- Security ---

if env.bool("TRUST_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=365 * 24 * 3600) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
# To have a domain built into browsers is for its owner to decide, and hard to undo.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

# Everything comes from this site, and nothing is written into a page: no inline script or style, no data: address.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# --- The API ---

API_RATES = {"read": 300, "compute": 120, "write": 120}
"""Requests a minute for those without a key, by address or login; each key has a rate of its own."""
REST_FRAMEWORK = {
    # Views say themselves how they parse, render and check: `players.api.base`.
    "EXCEPTION_HANDLER": "players.api.errors.answer_of",
    "DEFAULT_SCHEMA_CLASS": "players.api.schema.Schema",
    # Without a proxy in front, whoever asks could write any address into X-Forwarded-For.
    "NUM_PROXIES": 1 if env.bool("TRUST_PROXY", default=False) else 0,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Rating Room",
    "VERSION": "1",
    "DESCRIPTION": "Ratings, rankings and matches to read, and results from game servers. "
    "Everybody may read; writing takes a key. Errors all have one shape: a code for programs, a sentence for people, "
    "and the fields that are at fault.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "displayOperationId": False,
        "docExpansion": "list",
        "persistAuthorization": False,
    },
    "TAGS": [{"name": name} for name in ("pools", "players", "matches", "lobby", "feed")],
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_NAME_OVERRIDES": {
        "MatchKind": "players.systems.base.ALL_KINDS",
        "MatchStatus": "matches.api.shapes.MATCH_STATUS",
        "TableStatus": "matches.api.shapes.TABLE_STATUS",
        "JobStatus": "matches.api.shapes.JOB_STATUS",
        "RevisionKind": "matches.api.shapes.REVISION_KIND",
        "EventType": "matches.api.shapes.EVENT_TYPE",
        "Unit": "matches.api.shapes.UNIT",
    },
}

WEBHOOKS_MAY_BE_PRIVATE = env.bool("WEBHOOKS_MAY_BE_PRIVATE", default=False)

# --- Mail and log ---

globals().update(env.email_url("EMAIL_URL", default="consolemail://"))
_own_host = next((host for host in ALLOWED_HOSTS if not host.startswith(("*", "."))), "")
_own_url = f"{'https' if HTTPS else 'http'}://{_own_host}" if _own_host else "http://127.0.0.1:8000"
SITE_URL = env.str("SITE_URL", default=_own_url).rstrip("/")
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="ratings@localhost")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    # Django's own set-up prints nothing unless DEBUG; the process manager keeps what is printed.
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        # Some tasks run every few seconds: only those that fail are worth a line.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        # It warns of every HEAD request that Django answers.
        "gunicorn.http.wsgi": {"level": "ERROR"},
    },
}
