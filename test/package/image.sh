#!/usr/bin/env bash
# Builds the image of examples/fleet/deploy/Containerfile from this checkout, and starts a server of it: as a user without
# rights, with a root that is read-only. There is no engine needed but buildah; what the image is based on, which would come
# from a registry of images, is made of Debian's packages and of the Node.js that runs here.
#
#   test/package/image.sh      as root, with buildah, debootstrap and unshare; takes one to three minutes
#
# With HOOKSTACK_IMAGE=1, test/examples/image.test.ts runs it.
set -euo pipefail
# What is mounted here, nobody else sees, and it goes with the last process, however this ends. buildah keeps a list in
# /var/lib/containers, whatever its --root.
[[ -n ${IN_NAMESPACE:-} ]] || IN_NAMESPACE=1 exec unshare --mount "$0" "$@"
mount -t tmpfs tmpfs /var/lib
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
images() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
finish() {
  [[ -z ${server:-} ]] || kill "$server" 2>/dev/null || true
  images rm --all >/dev/null 2>&1 || true
  umount -R "$work/images" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

echo "base: debian and node $(node --version)"
debootstrap --variant=minbase bookworm "$work/base" >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
cp "$(realpath "$(command -v node)")" "$work/base/usr/bin/node"
mkdir -p "$work/base/usr/lib/node_modules" "$work/base/etc/ssl/certs"
cp -a "$npm" "$work/base/usr/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/base/usr/bin/npm"
# As this machine reaches the registry of packages.
npm config get registry --prefix / | sed 's/^/registry=/' >"$work/base/root/.npmrc"
cp -L /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/"
base=$(images from scratch)
images add -q "$base" "$work/base" / >/dev/null
images config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$base"
images commit -q "$base" docker.io/library/node:22-bookworm-slim >/dev/null
rm -rf "$work/base"

mkdir "$work/context"
cp "$root/examples/fleet/deploy/Containerfile" "$work/context/"
package=$(cd "$root" && npm pack --ignore-scripts --silent --pack-destination "$work/context" | tail -1)
images bud --isolation chroot --network host --pull=never --build-arg "PACKAGE=./$package" \
  -t hookstack "$work/context" >"$work/log" 2>&1 </dev/null || { tail "$work/log" >&2; exit 1; }
echo "built: $package"

cp -r "$root/examples/fleet/deploy/secrets.sh" "$root/examples/fleet/server" "$work/"
SECRETS_GROUP=10001 "$work/secrets.sh" one
container=$(images from --pull=never localhost/hookstack:latest)
mounted=$(images mount "$container")
cat >"$work/start.sh" <<'START'
set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mkdir -p run/secrets policy/.llxprt
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o size=64m tmpfs tmp
mount -t tmpfs -o uid=10001,gid=10001,mode=700 tmpfs var/lib/hookstack
mount --bind "$2/secrets" run/secrets
mount --bind "$2/server" policy/.llxprt
mount -o remount,bind,ro "$1" "$1"
root=$1
shift 2
exec chroot --userspec=10001:10001 --groups=10001 "$root" \
  env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/var/lib/hookstack NODE_ENV=production \
  setpriv --no-new-privs sh -c 'cd /policy && touch /tmp/ok /var/lib/hookstack/ok && ! touch /policy/no 2>/dev/null && exec "$@"' sh "$@"
START
unshare --mount --pid --fork sh "$work/start.sh" "$mounted" "$work" \
  tini -- hookstack serve --settings /policy/.llxprt/settings.json --log json --listen 127.0.0.1:0 \
  --cert /run/secrets/server.pem --key /run/secrets/server.key --tokens /run/secrets/tokens >"$work/out" 2>&1 &
server=$!
until grep -q listening "$work/out"; do
  kill -0 "$server" || { cat "$work/out" >&2; exit 1; }
  sleep 0.1
done
url=$(sed -nE 's/.*listening on (https[^"]*).*/\1/p' "$work/out")
token=$(sed -n 's|^acme/one ||p' "$work/secrets/tokens")
answer=$(curl -s --cacert "$work/secrets/server.pem" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  -d '{"tool_name":"write_file","tool_input":{"file_path":"production/x"}}' "$url/v1/events/BeforeTool")
echo "asked: $answer"
grep -q '"decision":"deny"' <<<"$answer"
process=$(pgrep -P "$(pgrep -P "$server" | head -1)" | head -1)
grep -E '^(Uid|CapEff|NoNewPrivs)' "/proc/$process/status"
kill -TERM "$(pgrep -P "$server" | head -1)"
wait "$server"
server=
echo 'ended: exit code 0'
