# `make` lists the targets. Only Python 3.11 or newer is needed; all else goes into .venv.

SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
# The newest first; PYTHON=... takes another.
PYTHONS := $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
BENCH := $(VENV)/.bench-installed

HOST ?=
PORT ?=
export HOST PORT

.DEFAULT_GOAL := help
.PHONY: help install install-dev run test test-full screenshots lint format bench messages pins

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(RUNTIME)  ## put what the site needs into .venv

install-dev: $(DEV)  ## and what its tests and checks need

run: $(RUNTIME)  ## the site with demonstration data on http://127.0.0.1:8000/ (PORT=, HOST=, DEMO=0 for an empty one)
	@exec $(PY) -m ratings_site.local

# Both runs always happen, and the last line tells of both.
test: $(DEV)  ## all tests: the core on SQLite, then everything on PostgreSQL and Valkey
	@sqlite=passed; postgres=passed; \
	echo "== On SQLite =="; \
	$(PY) -m pytest -n logical -m "not concurrency and not browser and not contract" $(ARGS) || sqlite=FAILED; \
	echo "== On PostgreSQL and Valkey =="; \
	$(PY) -m pytest -n logical --on postgres -m "not full and not screenshots" $(ARGS) || postgres=FAILED; \
	echo; echo "make test: SQLite $$sqlite, PostgreSQL and Valkey $$postgres"; \
	[ "$$sqlite$$postgres" = passedpassed ]

test-full: $(DEV)  ## every page in every language and scheme, in a browser
	@$(PY) -m pytest -n logical --on postgres -m full $(ARGS)

screenshots: $(DEV)  ## the pictures that the README shows
	@$(PY) -m pytest --on postgres -m screenshots tests/e2e

lint: $(DEV)  ## style, types, imports between the apps, templates, missing migrations
	@failed=; \
	check() { echo "-- $$*"; "$$@" || failed="$$failed $$1"; }; \
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH"; export DEBUG=1; \
	check ruff check; \
	check ruff format --check; \
	check lint-imports --no-logo; \
	check mypy; \
	check djlint templates --lint --quiet; \
	check python manage.py makemigrations --check --dry-run; \
	[ -z "$$failed" ] || { echo "make lint FAILED:$$failed"; exit 1; }; \
	echo "make lint: passed"

format: $(DEV)  ## put the code into the style that lint wants
	@$(PY) -m ruff check --fix-only --quiet; $(PY) -m ruff format

bench: $(BENCH)  ## how fast it is (ARGS="compute decay" for some of it; ARGS=--keep puts the tables into docs/performance.md)
	@exec $(PY) -m benchmarks $(ARGS)

messages: $(DEV)  ## gather new strings into the catalogues (this needs GNU gettext) and compile what is translated
	DEBUG=1 $(PY) manage.py makemessages --all --no-location --no-obsolete
	$(PY) -m babel.messages.frontend compile --directory locale --domain django

pins: $(DEV)  ## renew requirements*.txt from requirements*.in
	for name in requirements requirements-dev requirements-bench; do \
	  $(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links --output-file $$name.txt $$name.in || exit 1; \
	done

$(PY):
	@for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    "$$python" -m venv --clear $(VENV) && exit 0; \
	    rm -rf $(VENV); \
	    echo "$$python could not make a virtual environment. On Debian and Ubuntu, install python3-venv." >&2; exit 1; \
	  fi; \
	done; \
	echo "No Python 3.11 or newer was found (looked for: $(strip $(PYTHONS))). Install one, or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1

$(RUNTIME): requirements.txt | $(PY)
	@echo "Installing what the site needs ..."
	@$(PIP) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt | $(PY)
	@echo "Installing what the site and its tests need ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@ $(RUNTIME)

$(BENCH): requirements-bench.txt $(DEV)
	@echo "Installing what the benchmarks compare with ..."
	@$(PIP) -r requirements-bench.txt
	@touch $@
