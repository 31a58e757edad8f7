# SPDX-License-Identifier: BSD-2-Clause
# Sourced by build and deploy: MkDocs in the virtual environment $venv, out/site-venv.
site=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$site/../../cmake/bootstrap.sh"
venv=$root/out/site-venv

# A Python that creates virtual environments: the one on PATH, else the system's with the package of Debian.
python_with_venv() {
  local p
  for p in python3 /usr/bin/python3; do
    "$p" -c 'import ensurepip, venv' 2> /dev/null && { echo "$p"; return; }
  done
  require_packages python3 python3-venv >&2
  echo /usr/bin/python3
}

if ! cmp -s "$site/requirements.txt" "$venv/installed.txt"; then
  echo "Installing MkDocs in $venv"
  rm -rf "$venv"
  python=$(python_with_venv)
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$site/requirements.txt"
  cp "$site/requirements.txt" "$venv/installed.txt"
fi
export NO_MKDOCS_2_WARNING=1
