#!/usr/bin/env bash
# SessionStart: tells the model where the project stands.
set -euo pipefail

conventions=CONVENTIONS.md
note=$(
  echo "Branch: $(git branch --show-current)"
  echo 'Last commits:'
  git log --max-count=5 --format='- %s'
  if [[ -f $conventions ]]; then
    echo "$conventions says:"
    head -c 4000 "$conventions"
  fi
)

# jq makes JSON of whatever is in commits and files; quotes and newlines included.
jq --null-input --arg note "$note" '{ hookSpecificOutput: { additionalContext: $note } }'
