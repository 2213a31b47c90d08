# Each target is a shorthand; README.md and CONTRIBUTING.md list the plain commands.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
BIN := .venv/bin
DEMO := .demo/venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without .pyc files every process that a test starts compiles all modules, and each worker all tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help action demo examples sdks harnesses teams trackers tracker-documents test matrix check bench bench-peers lock schema docs language-server python clean

help:
	@echo "make demo    run the gate on the bundled example: a green run, then a failing pull request"
	@echo "make examples  install the frameworks of examples/, and run each: a green run, then a stopped pull request"
	@echo "make test    run all tests"
	@echo "make matrix  inject every fault at every request, search at random; the tests run a sample"
	@echo "make sdks    install the SDKs of model providers, whose agents the tests record"
	@echo "make harnesses  install Codex (npm), which the tests record"
	@echo "make teams   print what several agents at work call, and what each of two recordings has of it"
	@echo "make trackers  install the servers of MLflow and Phoenix, which tests publish to"
	@echo "make tracker-documents  download LangSmith's description of its API, which tests compare requests with"
	@echo "make check   run linters, type checks, import contracts, workflow checks"
	@echo "make bench   measure CPU time and memory against a hand-written minimum"
	@echo "make bench-peers  measure the same job with promptfoo, pydantic-evals and agentevals (network)"
	@echo "make lock    update the versions in requirements/"
	@echo "make action REGISTRY=HOST/PATH  name the released image in a registry of yours in action.yml"
	@echo "make schema  write the JSON Schemas to schemas/"
	@echo "make language-server  install the YAML language server of editors, for the tests of the schema (npm)"
	@echo "make docs    write what follows from other files: tables in docs/, mkdocs.yml, llms.txt, inputs of the Action"

python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "error: Python 3.11 or newer is needed, here is $$({ "$(or $(PYTHON),python3)" --version || echo none; } 2>/dev/null);" \
			"install one, or name one that you have: make PYTHON=/path/to/python3" >&2; exit 1; }

.venv/.ready: requirements/dev.txt pyproject.toml | python
	@"$(PYTHON)" .ci/environment.py test
	@touch $@

.demo/.ready: pyproject.toml | python
	@"$(PYTHON)" .ci/environment.py demo
	@touch $@

TRACERS := openinference traceloop genai
TRACKERS := mlflow phoenix

.sdks/.ready: requirements/sdks.txt $(TRACERS:%=requirements/tracers-%.txt) requirements/node/package-lock.json | python
	$(PYTHON) -m venv .sdks/venv
	.sdks/venv/bin/python -m pip install --quiet --require-hashes --requirement requirements/sdks.txt
	for name in $(TRACERS); do .sdks/venv/bin/python -m pip install --quiet --require-hashes --no-deps --upgrade \
		--target .sdks/$$name --requirement requirements/tracers-$$name.txt || exit 1; done
	mkdir -p .sdks/node && cp requirements/node/*.json .sdks/node/
	if command -v npm; then npm ci --silent --ignore-scripts --prefix .sdks/node; else echo "no npm: tests with Node are skipped"; fi
	@touch $@

sdks: .sdks/.ready

# The files are complete: without --no-deps pip also asks for hashes of extras, which they don't list.
.trackers/%/.ready: requirements/trackers-%.txt | python
	"$(PYTHON)" -m venv .trackers/$*
	.trackers/$*/bin/python -m pip install --quiet --require-hashes --no-deps --requirement $<
	@touch $@

# Codex is 420 MB unpacked, so it isn't one of the SDKs.
.harnesses/.ready: requirements/harnesses/package-lock.json
	mkdir -p .harnesses && cp requirements/harnesses/*.json .harnesses/
	npm ci --silent --ignore-scripts --prefix .harnesses
	@touch $@

harnesses: .harnesses/.ready

teams: .venv/.ready
	PYTHONPATH=tests:. $(BIN)/python -m team_runs

trackers: $(TRACKERS:%=.trackers/%/.ready)

# A commit fixes the content; the length finds an answer that is another page.
LANGSMITH_API := https://raw.githubusercontent.com/langchain-ai/docs/9327832b49277db05985335834f34e2d49629284/src/langsmith/langsmith-platform-openapi.json
LANGSMITH_CHARACTERS := 2101035

.trackers/langsmith-openapi.json: | python
	mkdir -p .trackers
	curl --fail --silent --show-error --max-time 60 --proto '=https' --output $@.part $(LANGSMITH_API)
	"$(PYTHON)" -c 'import sys; sys.exit(len(open(sys.argv[1], encoding="utf-8").read()) != $(LANGSMITH_CHARACTERS))' $@.part
	mv $@.part $@

tracker-documents: .trackers/langsmith-openapi.json

EXAMPLES := $(patsubst examples/%/pull-request.patch,%,$(wildcard examples/*/pull-request.patch))

.SECONDEXPANSION:
.examples/%/.ready: examples/%/README.md $$(wildcard examples/$$*/requirements.txt examples/$$*/package-lock.json) | .venv/.ready
	$(BIN)/python tests/example_installs.py install $*
	@touch $@

examples: $(EXAMPLES:%=.examples/%/.ready)
	@$(BIN)/python tests/example_installs.py versions $(EXAMPLES)
	$(BIN)/python -m pytest -n auto -rs tests/integration/examples

demo: .demo/.ready
	@$(DEMO)/python examples/demo.py

test: .venv/.ready
	$(BIN)/python -m pytest -n auto

matrix: .venv/.ready
	$(BIN)/python -m pytest -n auto -m matrix
	$(BIN)/python -m pytest -n auto --hypothesis-profile searching -m hypothesis

check: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy .ci/*.py
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml composite/action.yml record/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --no-progress --config .github/zizmor.yml . examples/workflows/*.yml
	@! git grep -nE "(pip[3x]?|uv tool) install (-[^ ]+ )*['\"]?evalgate([^-_a-zA-Z]|$$)" || \
		{ echo "The evalgate package on PyPI is another project."; exit 1; }

bench: | python
	"$(PYTHON)" benchmarks/run.py

bench-peers: | python
	"$(PYTHON)" benchmarks/peers.py

# Tracers of one SDK have the same entry point, so each is installed into a folder of its own, without what it needs.
TRACER_LOCK = .demo/lock/bin/uv pip compile --quiet --upgrade --universal --no-deps --python-version 3.11 \
	--generate-hashes --custom-compile-command "make lock" -

# What jobs install: the versions of dev.txt, which the tests ran with.
WHEELS_LOCK = .demo/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --format pylock.toml \
	--constraint requirements/dev.txt

lock: | python
	"$(PYTHON)" -m venv .demo/lock
	.demo/lock/bin/python -m pip install --quiet uv
	.demo/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --extra terminal --extra otlp --extra record --extra prices --extra store --extra postgres --extra dask --group dev pyproject.toml -o requirements/dev.txt
	$(WHEELS_LOCK) pyproject.toml | "$(PYTHON)" .ci/lock_wheels.py > requirements/core.txt
	$(WHEELS_LOCK) --extra otlp --extra prices pyproject.toml | \
		"$(PYTHON)" .ci/lock_wheels.py requirements/core.txt > requirements/gate.txt
	$(WHEELS_LOCK) --extra record pyproject.toml | \
		"$(PYTHON)" .ci/lock_wheels.py requirements/core.txt > requirements/record.txt
	$(WHEELS_LOCK) --extra record --extra prices pyproject.toml | \
		"$(PYTHON)" .ci/lock_wheels.py requirements/record.txt > requirements/record-prices.txt
	$(WHEELS_LOCK) --extra otlp --extra prices --extra store --extra postgres pyproject.toml | \
		"$(PYTHON)" .ci/lock_wheels.py requirements/gate.txt > requirements/image.txt
	printf '%s\n' anthropic langchain langchain-openai 'langsmith[otel]' openai openai-agents opentelemetry-distro \
		opentelemetry-exporter-otlp-proto-http 'pydantic-ai-slim[anthropic,openai]' | \
		.demo/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" - -o requirements/sdks.txt
	printf '%s\n' openinference-instrumentation openinference-instrumentation-anthropic openinference-instrumentation-openai \
		openinference-instrumentation-openai-agents \
		openinference-semantic-conventions | $(TRACER_LOCK) -o requirements/tracers-openinference.txt
	printf '%s\n' opentelemetry-instrumentation-anthropic opentelemetry-instrumentation-openai \
		opentelemetry-semantic-conventions-ai | $(TRACER_LOCK) -o requirements/tracers-traceloop.txt
	printf '%s\n' opentelemetry-instrumentation-genai-openai opentelemetry-util-genai | \
		$(TRACER_LOCK) -o requirements/tracers-genai.txt
	for folder in $(dir $(wildcard examples/*/requirements.in)); do (cd $$folder && \
		../../.demo/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" requirements.in -o requirements.txt) || exit 1; done
	for name in mlflow arize-phoenix; do echo $$name | .demo/lock/bin/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --generate-hashes --custom-compile-command "make lock" - \
		-o requirements/trackers-$${name#arize-}.txt || exit 1; done
	cd requirements/node && npm update --package-lock-only --ignore-scripts --save
	cd requirements/harnesses && npm update --package-lock-only --ignore-scripts --save
	echo pip-audit | .demo/lock/bin/uv pip compile --quiet --upgrade --python-version 3.13 --generate-hashes \
		--custom-compile-command "make lock" - -o requirements/audit.txt
	printf 'build\nsetuptools\n' | .demo/lock/bin/uv pip compile --quiet --upgrade --python-version 3.12 --generate-hashes \
		--custom-compile-command "make lock" - -o requirements/build.txt

schema: .venv/.ready
	$(BIN)/evalgate schema suite > schemas/suite.json
	$(BIN)/evalgate schema project > schemas/project.json
	$(BIN)/evalgate schema trace > schemas/trace.json
	$(BIN)/evalgate schema results > schemas/results.json
	$(BIN)/evalgate schema --write schemas/editor

action: | python
	@"$(PYTHON)" .ci/mirror.py "$(REGISTRY)"

docs: .venv/.ready
	$(BIN)/python tests/trace_table.py
	$(BIN)/python tests/action_inputs.py
	$(BIN)/python tests/composite_action.py
	$(BIN)/python tests/doc_pages.py

.venv/editor/.ready: requirements/editor/package-lock.json | .venv/.ready
	mkdir -p .venv/editor
	cp requirements/editor/package.json requirements/editor/package-lock.json .venv/editor
	npm ci --prefix .venv/editor --ignore-scripts --no-audit --no-fund --silent
	@touch $@

language-server: .venv/editor/.ready

clean:
	rm -rf .venv .demo .sdks .examples .trackers .evalgate build *.egg-info
