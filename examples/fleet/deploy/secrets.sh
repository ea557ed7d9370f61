#!/usr/bin/env bash
# Makes what compose.yaml and kubernetes/ want in ./secrets: certificates, passwords and tokens of a new fleet.
#
#   ./secrets.sh [AGENT…]      agents of the team acme; default: one
#
# What is there already stays. TLS_NAMES are further names of the servers, such as DNS:policy.example.
set -euo pipefail
umask 077
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p secrets && cd secrets

names="DNS:localhost,DNS:policy-1,DNS:policy-2,DNS:hookstack,DNS:hookstack.hookstack.svc,IP:127.0.0.1${TLS_NAMES:+,$TLS_NAMES}"
certificate() { # NAME CN NAMES
  [[ -f $1.pem ]] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
    -subj "/CN=$2" -addext "subjectAltName=$3" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}
certificate server hookstack "$names"
certificate nats nats "DNS:localhost,DNS:nats,IP:127.0.0.1${TLS_NAMES:+,$TLS_NAMES}"

# nats-server takes what begins with a digit for a number.
word() { echo "s$(openssl rand -hex 24)"; }
touch passwords.conf tokens
password() { # USER: the file USER.token is for that user, passwords.conf for nats-server
  [[ -f $1.token ]] && return
  local new
  new=$(word)
  echo "$1:$new" >"$1.token"
  echo "password_$1: \"$new\"" >>passwords.conf
}
password policy
[[ -f approvers ]] || echo "ann $(word)" >approvers
for agent in "${@:-one}"; do
  password "$agent"
  grep -q "^acme/$agent " tokens || echo "acme/$agent $(word)" >>tokens
done
grep -q '^ops/prometheus ' tokens || echo "ops/prometheus $(word)" >>tokens
# For programs of a group, such as the user of a container.
[[ -z ${SECRETS_GROUP:-} ]] || { chgrp "$SECRETS_GROUP" . ./* && chmod 750 . && chmod 640 ./*; }
