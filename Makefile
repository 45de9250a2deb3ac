# One word per chore. Every target makes the tools it needs ready first (see scripts/setup).

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test test-both sure lint types unit bench bench-scale simulate-consensus faults a11y docs screenshots format clean wheel clients image image-check lock audit messages

BIN := .venv/bin

# To check all types takes half a minute of a processor. What was found is kept, so that a fresh checkout checks only changes.
KEPT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/bridgenote
export MYPY_CACHE_DIR ?= $(KEPT)/mypy

# PORT may come from the command line or the environment; HOST only from the command line, for some shells export
# the machine's name under it.
RUN_OPTIONS := $(if $(PORT),--port $(PORT))
ifeq ($(DEMO),no)
RUN_OPTIONS += --no-demo
endif
ifeq ($(origin HOST),command line)
RUN_OPTIONS += --host $(HOST)
endif

help: ## Show this list
	@echo "make run                    start it on http://127.0.0.1:8000 (make run PORT=9000 for another port)"
	@echo "make run DEMO=no            the same without the demo, to begin with a community of your own"
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | grep -v '^run|' | \
		while IFS='|' read -r name what; do printf 'make %-22s %s\n' "$$name" "$$what"; done

# One simple command, so make starts it without a shell between: signals reach the server itself.
run: ## Start it
	@scripts/run $(RUN_OPTIONS)

test: ## Everything that must hold: format, lint, types and all tests
	@scripts/test

test-both: ## The same, with each test that uses a database on SQLite and on PostgreSQL
	@TEST_DATABASE=both scripts/test

sure: test ## The same as test

lint: ## Format and lint, without changing anything
	@scripts/setup dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: ## Type check
	@scripts/setup dev
	@$(BIN)/mypy

unit: ## Only the fast tests of the core, on SQLite; on PostgreSQL too where it differs
	@scripts/setup dev
	@scripts/system-packages postgresql nodejs ruby
	@scripts/pytest -n 3 --dist worksteal --database sqlite tests/unit

bench: ## Measure: figures, no verdicts
	@scripts/setup dev
	@scripts/bench

bench-scale: ## Every page, and every list by its filters, at a million posts; OPTIONS="--copies 8", OPTIONS=--help
	@scripts/setup dev
	@scripts/system-packages postgresql
	@$(BIN)/python -m tools.bench.scale $(OPTIONS)

simulate-consensus: ## Measure how often votes act wrongly under attack; OPTIONS="--quick", OPTIONS=--help
	@scripts/setup dev
	@$(BIN)/python -m tools.bench.consensus $(OPTIONS)

faults: ## Kill it, fill its disk, take its database away, at length; prints what was found
	@scripts/faults

a11y: ## Accessibility: axe over every page, role, theme, screen and state
	@scripts/a11y

docs: ## Build the pages of docs/ into dist/docs/; warnings are errors
	@scripts/setup dev
	@$(BIN)/python -m sphinx -W --keep-going -q -n -b html docs dist/docs
	@echo "dist/docs/index.html"

screenshots: ## Take the pictures in docs/screenshots again
	@scripts/screenshots

format: ## Format, and fix what lint can fix
	@scripts/setup dev
	@$(BIN)/ruff check --fix-only -q .
	@$(BIN)/ruff format .

audit: ## Look for known vulnerabilities in what is installed, and list it in dist/ (CycloneDX)
	@scripts/audit $(OPTIONS)

wheel: ## Build the wheel into dist/, with the versions to install beside it
	@scripts/setup dev
	@$(BIN)/python -m hatchling build -t wheel
	@cp constraints.txt dist/
	@echo "dist/constraints.txt"

clients: ## Make the generated parts of clients/ from the API again
	@scripts/setup dev
	@mkdir -p dist
	@$(BIN)/python -m tools.clients.document >dist/openapi.json
	@scripts/clients dist/openapi.json clients >/dev/null

image: ## Build the container image by podman, docker or buildah
	@scripts/image $(OPTIONS)

image-check: ## Build it and run compose.yaml, alone and in full (root, Debian; ten minutes)
	@scripts/image-check

messages: ## Bring the catalogues of translations up to date with the texts
	@scripts/setup dev
	@scripts/messages

lock: ## Resolve the dependencies again and export them (needs uv)
	@uv lock --python 3.11
	@uv export -q --frozen --no-dev --no-emit-project --no-header -o requirements.txt
	@uv export -q --frozen --no-dev --extra mcp --extra onnx --extra otel --no-emit-project --no-header --no-hashes --no-annotate -o constraints.txt
	@uv export -q --frozen --group docs --no-emit-project --no-header -o requirements-dev.txt
	@uv export -q --frozen --only-group setup --no-header -o requirements-setup.txt
	@uv export -q --frozen --only-group audit --no-header -o requirements-audit.txt
	@uv export -q --frozen --only-group image --no-header -o requirements-image.txt
	@uv export -q --frozen --only-group clients --no-header -o requirements-clients.txt

clean: ## Remove the environment and all caches; what is in var/ stays
	@rm -rf "$(KEPT)" .venv .venv-audit .pytest_cache .mypy_cache .ruff_cache .hypothesis htmlcov .coverage dist test-results
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
