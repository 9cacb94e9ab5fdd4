# The two commands of the README are `make demo` and `make test`; both set up what they need (scripts/setup.sh).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# A fresh rustup puts cargo here and on PATH only after the next login.
export PATH := $(PATH):$(HOME)/.cargo/bin

assay := target/release/assay
# Tells the slowest tests.
timed := $(if $(shell command -v python3),scripts/time_tests.py)
# What is proved by scripts.
scripted := $(addprefix casebook/,$(addsuffix /test.sh,allocator transport varint dispatch lookup)) \
	fixtures/verdicts/peers/tests.py scripts/page/test.sh scripts/test_packages.sh scripts/test_book.sh scripts/test_tutorial.py
# Where `make install` puts the program: below $(DESTDIR)$(PREFIX).
PREFIX ?= /usr/local
DESTDIR ?=
# What `assay --version` says of its origin.
export ASSAY_COMMIT := $(shell git describe --always --dirty --exclude '*' 2> /dev/null)

.DEFAULT_GOAL := help
.PHONY: help install packages book setup-build setup-demo setup-dispatch setup-test build demo dispatch test lint bench calibrate calibrate-peers sizes clean $(scripted)

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup-demo build ## set up, build, ask one question of two varint decoders (a minute)
	$(assay) run casebook/varint/demo.toml

dispatch: setup-dispatch build ## ... or dispatch in C++, over two versions of gcc and of clang (10 minutes)
	$(assay) run casebook/dispatch/experiment.toml

test: setup-test lint ## set up, check format and lints, pass all tests
	$(timed) cargo test --workspace --locked --no-fail-fast
	$(MAKE) -k -j$$(nproc) -Otarget $(scripted)

# None of these relates measured times: they may run side by side. The longest first.
$(scripted):
	MAKEFLAGS= $(if $(filter %.py,$@),python3 )$@

setup-demo:
	@scripts/setup.sh demo

setup-dispatch:
	@scripts/setup.sh dispatch

setup-test:
	@scripts/setup.sh test

setup-build:
	@scripts/setup.sh build

build: ## build the lab: target/release/assay, one file with all it needs
	cargo build --release -p assay --locked

install: setup-build build ## ... and install it below PREFIX (/usr/local), with manual pages and completions
	scripts/stage.sh $(assay) "$(DESTDIR)$(PREFIX)"

book: ## the documents as pages to browse and search: target/book/html/index.html
	python3 scripts/book.py

packages: ## an archive, a Debian package and a Python wheel, in target/packages (MACHINES="x86_64 aarch64")
	scripts/build_packages.sh $(MACHINES)

lint: ## format and lints alone
	@if cargo fmt --version > /dev/null 2>&1; then echo "cargo fmt --all --check"; cargo fmt --all --check; \
	else echo "skipped: cargo fmt is not installed"; fi
	@if cargo clippy --version > /dev/null 2>&1; then \
		echo "cargo clippy --workspace --all-targets --locked -- -D warnings"; \
		cargo clippy --workspace --all-targets --locked -- -D warnings; \
	else echo "skipped: cargo clippy is not installed"; fi

calibrate: setup-demo build ## the slow lane: seeded simulations, then the null and real pairs (minutes)
	cargo test --release --workspace --locked -- --ignored
	$(assay) calibrate fixtures/verdicts
	$(assay) calibrate fixtures/nulls

calibrate-peers: setup-demo build ## the same pairs through Google Benchmark and hyperfine too
	@scripts/setup.sh peers
	$(assay) calibrate fixtures/verdicts --peers

bench: ## what the harness costs beside Google Benchmark's, assay stat beside cachegrind; varint decoders
	@scripts/setup.sh peers
	bench/harness/run.sh
	bench/stat/run.py
	bench/varint/run.sh

sizes: ## the longest files; a question for reviewers, not a limit
	@git ls-files '*.rs' '*.h' '*.c' '*.cpp' '*.sh' '*.py' | xargs wc -l | sort -rn | sed -n '2,21p'

clean: ## remove what was built; ledgers stay
	cargo clean
