#!/usr/bin/env bash
# AfterAgent: the agent is done when the checks of the CI pass, and not before.

# What the CI runs. Add yours.
checks=('node --test --test-reporter=tap' 'git diff --check HEAD')

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

cat >/dev/null
for check in "${checks[@]}"; do
  # The output is kept: on stdout it would be the answer of this hook.
  if ! output=$(bash -c "$check" </dev/null 2>&1); then
    refuse "\"$check\" fails. Fix that before you finish:"$'\n'"$(tail -c 3000 <<<"$output")"
  fi
done
