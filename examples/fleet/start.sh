#!/usr/bin/env bash
# A whole fleet on one machine: a NATS server, three policy servers, the collector of the record, and two agents with
# recorded models. Agent one is denied a file by the policy; agent two waits for a person, on the page of any server.
#
#   examples/fleet/start.sh [DIRECTORY]
#
# DIRECTORY keeps what comes of it; without one it is a temporary directory, which is removed.
# FLEET_PORT is the port of NATS, 4222 by default.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
port=${FLEET_PORT:-4222}
directory=${1:-$(mktemp -d)}
mkdir -p "$directory"/{home,server,record,one,two,log}
# What waits to be recorded is kept there.
export HOME="$directory/home"
hookstack() { node "$here/../../dist/cli.cjs" "$@"; }

command -v nats-server >/dev/null || { echo 'There is no nats-server: apt-get install nats-server' >&2; exit 1; }
[[ -f "$here/../../dist/cli.cjs" ]] || { echo 'There is no build: npm ci' >&2; exit 1; }

background=()
finish() {
  ((${#background[@]} == 0)) || kill "${background[@]}" 2>/dev/null || true
  wait
  (($# == 0)) || rm -rf "$directory"
}
if (($# > 0)); then trap finish EXIT; else trap 'finish remove' EXIT; fi
trap 'exit 130' INT TERM

# Waits until a file has a line that matches.
await() {
  until grep -qE "$2" "$1" 2>/dev/null; do
    kill -0 "${background[-1]}" 2>/dev/null || { cat "$1" >&2; exit 1; }
    sleep 0.05
  done
}

# nats-server takes what begins with a digit for a number.
secret() { node -p '"s" + crypto.randomBytes(24).toString("base64url")'; }
FLEET_ONE=$(secret) FLEET_TWO=$(secret) FLEET_POLICY=$(secret)
printf 'policy:%s\n' "$FLEET_POLICY" >"$directory/policy.token"
printf 'boss %s\n' "$(secret)" >"$directory/approvers"

export FLEET_ONE FLEET_TWO FLEET_POLICY FLEET_STORE="$directory/nats"
nats-server -c "$here/nats-server.conf" -p "$port" >"$directory/log/nats" 2>&1 &
background+=($!)
await "$directory/log/nats" 'Server is ready'
nats="nats://127.0.0.1:$port"

cp -r "$here/server" "$directory/server/.llxprt"
for name in policy-1 policy-2 policy-3; do
  (cd "$directory/server" && exec node "$here/../../dist/cli.cjs" serve --settings .llxprt/settings.json --listen 127.0.0.1:0 \
    --name "$name" --nats "$nats" --token-file "$directory/policy.token" --approvers "$directory/approvers") \
    >"$directory/log/$name" 2>&1 &
  background+=($!)
  await "$directory/log/$name" 'listening on http'
done
page=$(sed -nE 's/.*listening on (http[^ ]*).*/\1/p' "$directory/log/policy-3" | head -1)/approvals

# Of a function in the background, the signal would end the shell alone.
(exec node "$here/../../dist/cli.cjs" collect --nats "$nats" --token-file "$directory/policy.token" --out "$directory/record") \
  >"$directory/log/collect" 2>&1 &
collector=$!
background+=("$collector")
await "$directory/log/collect" 'spans of the fleet'

# agent NAME SECRET PROMPT: runs to its end, in a directory of its own.
agent() {
  local settings="$directory/$1/settings.json"
  sed "s/:4222/:$port/" "$here/agent.settings.json" >"$settings"
  (cd "$directory/$1" && HOOKSTACK_AGENT="$1" HOOKSTACK_FLEET_SECRET="$1:$2" \
    hookstack run "$3" --settings "$settings" --responses "$here/$1.responses" </dev/null) 2>&1 | sed "s/^/$1: /"
}
agent one "$FLEET_ONE" 'Write the new prices.'
echo "page: $page"
echo "sign in with: $(cut -d' ' -f2 "$directory/approvers")"
agent two "$FLEET_TWO" 'Deploy the new prices.'

# Ended like this, it takes what is there before it goes.
kill "$collector"
wait "$collector" || true
echo 'record:'
hookstack trace "$directory"/record/*.jsonl
