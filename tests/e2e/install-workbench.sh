#!/usr/bin/env bash
# Installs the real VS Code workbench (code-server 4.99.4 = VS Code 1.99.3, the last that runs on node 20), JupyterLab, and
# what drives them, into $DYNASCOPE_WORKBENCH or ${XDG_CACHE_HOME:-~/.cache}/dynascope-workbench. Does nothing when it is there already.
# Needs node >= 20 with npm; as root on Debian it installs the system packages that are missing, elsewhere it names them.
set -euo pipefail

VERSION=4.99.4
ROOT=${DYNASCOPE_WORKBENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/dynascope-workbench}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { echo "install-workbench: $*" >&2; }

command -v node >/dev/null && command -v npm >/dev/null || { say "node 20 or later with npm is needed"; exit 1; }

mkdir -p "$ROOT"
missing=()
command -v rg >/dev/null || missing+=(ripgrep)
command -v g++ >/dev/null || missing+=(g++)
command -v make >/dev/null || missing+=(make)
command -v python3 >/dev/null || missing+=(python3)
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
[ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null || missing+=(chromium)
[ -e /usr/include/gssapi/gssapi.h ] || [ -e /usr/include/gssapi.h ] || missing+=(libkrb5-dev)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" fonts-dejavu-core >/dev/null
  else
    say "please install: ${missing[*]}"
    exit 1
  fi
fi

# Native modules are built against node's own headers when they lie beside it, so that node-gyp downloads nothing.
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
[ -d "$prefix/include/node" ] && export npm_config_nodedir="$prefix"
quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)

if [ ! -d "$HERE/node_modules/playwright-core" ] || [ ! -d "$HERE/node_modules/axe-core" ]; then
  (cd "$HERE" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci "${quiet[@]}")
fi

# JupyterLab in an environment of its own: its kernel is the Python that has torch and dynascope.
if [ ! -x "$ROOT/jupyter/bin/jupyter-lab" ]; then
  say "installing JupyterLab"
  python3 -m venv "$ROOT/jupyter"
  "$ROOT/jupyter/bin/python" -m pip install --quiet --disable-pip-version-check 'jupyterlab >= 4.4, < 5'
fi

if [ "$(cat "$ROOT/installed" 2>/dev/null)" = "$VERSION" ]; then exit 0; fi
say "installing code-server $VERSION into $ROOT (a minute or two)"
rm -rf "$ROOT/node_modules"
cd "$ROOT"
echo '{"private":true}' > package.json
npm install "code-server@$VERSION" --ignore-scripts "${quiet[@]}"
CS=$ROOT/node_modules/code-server
cd "$CS/lib/vscode"
npm install --omit=dev --ignore-scripts "${quiet[@]}" # not `npm ci`: the shrinkwrap that ships is out of step
npm rebuild @vscode/spdlog native-watchdog kerberos --loglevel=error
npm rebuild node-pty --loglevel=silent || test -f node_modules/node-pty/build/Release/pty.node # its last step fails, after the build
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg # its own download is not from the registry
ln -sfn node_modules node_modules.asar
ln -sf code-linux.sh bin/remote-cli/code-server
ln -sf browser-linux.sh bin/helpers/browser.sh
cd extensions
npm install --omit=dev --ignore-scripts "${quiet[@]}"
cd "$ROOT"
npm rebuild argon2 --loglevel=error
node "$CS/out/node/entry.js" --config "$ROOT/config.yaml" --version | tail -1 >&2
echo "$VERSION" > "$ROOT/installed"
