# Everything starts here on a fresh machine; day to day, `cargo xtask` does the same without looking for packages.

SHELL := /bin/bash
# Where rustup puts cargo, also for shells that were not told.
export PATH := $(HOME)/.cargo/bin:$(PATH)

.PHONY: build test demo bench lint install-deps

## Assemble what a user installs, in <target folder>/dist
build: install-deps
	cargo xtask dist --release

## Build everything and run every test
test: install-deps
	cargo xtask test

## Show an example: its coverage, a campaign with a report, a test suite, and the mutants its inputs miss
demo: install-deps
	scripts/demo

## Measure against independent tools; about an hour or two
bench: install-deps
	bench/run

## Check format and lints
lint: install-deps
	cargo xtask lint

## Install what this machine lacks
install-deps:
	@scripts/setup
