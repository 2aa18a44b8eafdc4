#!/usr/bin/env bash
# The quality gates in one command, from the top of the checkout and inside an environment with `.[test]` installed.
set -euo pipefail
cd "$(dirname "$0")/.."
ruff format --check .
ruff check .
mypy
lint-imports
