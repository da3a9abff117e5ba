#!/usr/bin/env bash
# The extension in the real workbench, driven in a browser: `make setup-e2e` installs both. usage: run.sh PYTHON [test name pattern]
# PYTHON is an interpreter with torch and dynascope, and so is $DYNASCOPE_NEWER_PYTHON, of Python 3.12 or newer: without it generated code is not
# stepped. Screenshots land in tests/e2e/artefacts/.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export DYNASCOPE_PYTHON=${1:?usage: run.sh PYTHON [test name pattern]}
quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)

export CHROMIUM=${CHROMIUM:-$(command -v chromium)}
cd "$HERE/../../vscode-extension"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm install --no-save "${quiet[@]}" # not `npm ci`: a lock without download addresses lacks what it wants of optional parts
npm run --silent check
npm run --silent test
[ -n "${DYNASCOPE_VSIX:-}" ] || npm run --silent package # else a package that is made already is tried
cd "$HERE"
pattern=${2:-}
# Each file has its own server, browser and folders, and mostly waits: two at a time.
node --test --test-concurrency=2 --test-reporter=spec ${pattern:+--test-name-pattern="$pattern"} ./*.test.mjs
