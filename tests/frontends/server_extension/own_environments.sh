#!/usr/bin/env bash
# The tests of the server extension and the magic that need an environment of their own: live documents of
# jupyter-collaboration, in a kernel too, and of jupyter_server_documents, which exclude each other, requests made up by
# schemathesis, JupyterLab and Notebook, JupyterHub, and papermill.
#
#     tests/frontends/server_extension/own_environments.sh FOLDER
#
# FOLDER keeps the environments; what is there already is kept.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=$1
here=tests/frontends/server_extension

# run NAME TEST PYTEST-ARGUMENT…: the extra `NAME-test` in an environment of its own, and the test in it
run() {
    name=$1 test=$2
    shift 2
    [ -x "$folder/$name/bin/python" ] || python3 -m venv "$folder/$name"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check -e ".[test,$name-test]"
    "$folder/$name/bin/python" -m pytest -q "$@" "$test"
}

mkdir -p "$folder"
run collaboration $here/test_live_documents.py tests/frontends/magic/test_live_kernel.py
run documents $here/test_live_read_only.py
# Its pytest plugin is not what is used here, and it warns.
run schemathesis $here/test_schemathesis.py -p no:schemathesis
run applications $here/test_applications.py
run hub $here/test_jupyterhub.py
run papermill tests/frontends/magic/test_papermill.py
