# Every command with its purpose: `make`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
T ?= tests

.DEFAULT_GOAL := help
.PHONY: help venv up test check conformance conformance-placement conformance-keystone soak bench bench-placement clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-22s %s\n", $$1, $$2}'

venv: $(VENV)/.made ## Make .venv with everything for running and testing

$(VENV)/.made: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is needed; name another one with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

up: venv ## Run a whole cloud on SQLite (O='--state DIR --hosts 5' for more)
	$(BIN)/kilonova up $(O)

test: venv check ## Run the checks and every test (T=tests/placement for a part)
	$(BIN)/python -m pytest -n 2 $(T)

check: venv ## Run the linter and the strict type checker
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/mypy

conformance: venv ## Drive a fresh cloud with the community's own clients
	$(BIN)/python scripts/conformance.py

conformance-placement: venv ## Run placement's own suite against kilonova placement, three ways
	$(BIN)/python scripts/conformance_placement.py

conformance-keystone: venv ## Put kilonova placement behind a real Keystone (O='--venv DIR' keeps its environment)
	$(BIN)/python scripts/conformance_keystone.py $(O)

soak: venv ## Crash every operation at every step with kill -9, many rounds
	$(BIN)/python scripts/soak.py

bench: venv ## Measure creates and lists on SQLite, and on PostgreSQL with NATS
	$(BIN)/python bench/create.py

bench-placement: venv ## Measure the placement API beside upstream's, in one run
	$(BIN)/python bench/placement.py $(O)

clean: ## Remove what the other commands made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
