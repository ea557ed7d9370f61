#!/usr/bin/env bash
# BeforeTool: asks a person before anything is deployed to production.
# "ask" is a question. Exit code 0 without a word lets the command run.

ask() {
  jq --null-input --arg reason "$1" '{ decision: "ask", reason: $reason }'
  exit
}

# "strings" gives nothing for what is no string, and --exit-status makes that a failure.
command=$(jq --exit-status --raw-output '.tool_input.command | strings') ||
  ask 'The command of the call could not be read.'

# Rather one question too many: whoever only reads about production deploys is asked as well.
lower=${command,,}
if [[ $lower == *deploy* && $lower == *prod* ]]; then
  ask "This deploys commit $(git rev-parse --short HEAD) to production."
fi
