# Pombo: `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
T ?= tests
MARIADB_URL ?= mysql://root@127.0.0.1:3306/pombo
# Checks need no secrets: in development mode Django starts without a .env.
CHECK := DEBUG=true $(BIN)/python manage.py
# How the suite is spread; the tests that kill processes run after it, alone.
PYTEST ?= $(BIN)/pytest -q -p no:cacheprovider
PARALLEL ?= -n 2 --dist loadfile

.PHONY: help run test test-sqlite test-mariadb lint types e2e bench format docs messages clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: $(VENV)/run.stamp ## Set everything up, then run web server and worker until Ctrl-C
	@$(BIN)/python -m config.envfile
	@$(BIN)/python manage.py compilemessages -v 0 --ignore=$(VENV)
	@$(BIN)/python manage.py bootstrap
	@exec $(BIN)/python -m config.run

test: $(VENV)/dev.stamp messages test-sqlite test-mariadb ## Run the whole suite, or T=tests/flags of it

test-sqlite:
	@echo "== SQLite =="
	@set -e; env -u DATABASE_URL $(PYTEST) $(PARALLEL) -m "not e2e and not chaos and not browser" $(T); \
	env -u DATABASE_URL $(PYTEST) -m "e2e or chaos or browser" $(T) || test $$? = 5

test-mariadb:
	@if $(BIN)/python -m config.probe $(MARIADB_URL); then \
	  set -e; echo "== MariaDB =="; export DATABASE_URL=$(MARIADB_URL); \
	  $(PYTEST) $(PARALLEL) -m "not e2e and not chaos and not browser" $(T); \
	  $(PYTEST) -m "chaos" $(T) || test $$? = 5; \
	elif [ -n "$$MARIADB_REQUIRED" ]; then echo "MariaDB does not answer at $(MARIADB_URL)"; exit 1; \
	else echo "== MariaDB does not answer at $(MARIADB_URL): left out =="; fi

lint: $(VENV)/dev.stamp ## Check style, templates, arrows between apps, settings and migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --check --lint --quiet templates
	$(BIN)/lint-imports
	$(CHECK) check --fail-level WARNING
	$(CHECK) makemigrations --check --dry-run
	$(CHECK) settings_docs --check

types: $(VENV)/dev.stamp ## Check types with mypy
	DEBUG=true $(BIN)/mypy

e2e: $(VENV)/dev.stamp messages ## Only the tests with real processes and a real browser
	$(PYTEST) -m "e2e or browser" $(T)

bench: $(VENV)/bench.stamp ## Run the benchmarks beside their peers, one after another
	@for file in benchmarks/[a-z]*.py; do echo "== $$file =="; $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

format: $(VENV)/dev.stamp ## Format code and templates
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint --reformat --quiet templates

docs: $(VENV)/dev.stamp ## Write docs/settings.md from the settings
	$(CHECK) settings_docs

messages: $(VENV)/run.stamp
	@$(CHECK) compilemessages -v 0 --ignore=$(VENV)

clean: ## Remove what the targets made, but not .env and not the database
	rm -rf $(VENV) var/static .mypy_cache .ruff_cache .pytest_cache

$(VENV)/run.stamp: requirements.txt
	@scripts/system-packages run
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.txt requirements-mongod.txt
	@scripts/system-packages test
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-mongod.txt
	@touch $@

$(VENV)/bench.stamp: $(VENV)/dev.stamp requirements-bench.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	@touch $@
