# Stepwell: the two commands are `make demo` and `make test`; each does all the set-up it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

# Tests start the tools hundreds of times. Where modules are compiled anew each time, that takes a third longer.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-full test-hostile test-memcheck test-models test-trust test-provenance test-wheel test-cluster check lint types lit unit bench dist clean

help:
	@echo "make demo       walk the MLP down the stairs and run it natively"
	@echo "make test       all tests, CI counts (under 10 minutes on 2 cores)"
	@echo "make test-full  all tests with the counts of the acceptance lists"
	@echo "make test-models   whole ONNX models beside onnxruntime (installs PyTorch, downloads models)"
	@echo "make test-trust   planted faults are found, and no right program is blamed (under 90 minutes)"
	@echo "make test-provenance   how many ops and instructions of ten programs name their source"
	@echo "make test-memcheck   exported programs under valgrind (needs valgrind and cc)"
	@echo "make test-hostile  20 000 random loop programs, right and wrong, on guarded memory (under 60 minutes)"
	@echo "make test-wheel    the wheel in an empty environment: its pages are followed block by block"
	@echo "make dist       source archive and wheel into dist/"
	@echo "make test-cluster  200 chunks and a tuner on Dask and on Ray, with workers that are killed"
	@echo "make check      ruff, types, lit and pytest"
	@echo "make bench      measure beside NumPy, PyTorch, onnxruntime and OpenVINO into docs/performance.md"
	@echo "make clean      remove the virtual environment and caches"

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)
	$(BIN)/python examples/mnist_mlp/demo.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/basedpyright --warnings

lit: $(STAMP)
	$(BIN)/lit -j$(WORKERS) test/filecheck

unit: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) test/unit

test: lit unit

test-full: $(STAMP)
	$(BIN)/python test/full.py

test-provenance: $(STAMP)
	$(BIN)/python test/trust/provenance.py
	$(BIN)/python test/trust/provenance.py --cost

test-memcheck: $(STAMP)
	$(BIN)/python test/memcheck.py

test-hostile: $(STAMP)
	$(BIN)/python test/hostile.py --workers $(WORKERS)

# The wheel is the same file each time: what it holds has the time of the last commit.
dist: $(STAMP)
	rm -rf build dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || stat -c %Y pyproject.toml) \
	    $(BIN)/python -m build --no-isolation

test-wheel: dist
	$(BIN)/python test/wheel.py

CLUSTER_STAMP := $(VENV)/.cluster-installed

$(CLUSTER_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cluster]'
	@touch $@

test-cluster: $(CLUSTER_STAMP)
	$(BIN)/python test/cluster.py

check: lint types lit unit

MODELS_STAMP := $(VENV)/.models-installed

$(MODELS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[models]'
	@touch $@

test-models: $(MODELS_STAMP)
	$(BIN)/python -m pytest test/models

test-trust: $(MODELS_STAMP)
	$(BIN)/python test/trust/all.py --workers $(WORKERS)

BENCH_STAMP := $(VENV)/.bench-installed
FIGURES := build/bench
ROUNDS ?= 15
# What bench/zoo.py and bench/halves.py leave there.
WHOLE_MODELS := $(patsubst %,build/zoo/%.onnx,minilm mobilenet_v2 resnet18 resnet50 vit_b_16)

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

bench: $(BENCH_STAMP)
	mkdir -p $(FIGURES)
	$(BIN)/python bench/kernels.py --rounds $(ROUNDS) --json $(FIGURES)/kernels.json --plot docs/performance.svg
	$(BIN)/python bench/ops.py --json $(FIGURES)/ops.json
	$(BIN)/python bench/compile_time.py --json $(FIGURES)/compile_time.json
	$(BIN)/python bench/threads.py --json $(FIGURES)/threads.json
	$(BIN)/python bench/zoo.py --json $(FIGURES)/zoo.json
	$(BIN)/python bench/halves.py --json $(FIGURES)/halves.json
	$(BIN)/python bench/models.py $(WHOLE_MODELS) --threads 2 --rounds $(ROUNDS) --json $(FIGURES)/models.json
	$(BIN)/python bench/first_results.py --json $(FIGURES)/first.json
	$(BIN)/python bench/page.py $(FIGURES)/kernels.json --threads $(FIGURES)/threads.json \
		--compile-time $(FIGURES)/compile_time.json --ops $(FIGURES)/ops.json --zoo $(FIGURES)/zoo.json \
		--models $(FIGURES)/models.json --first $(FIGURES)/first.json

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache build *.egg-info
