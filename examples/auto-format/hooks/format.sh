#!/usr/bin/env bash
# AfterTool: formats what was written, and tells the model that it changed.
set -euo pipefail

file=$(jq --raw-output '.tool_input.file_path')

# Programs that read a file on stdin and write it to stdout. Add yours.
case $file in
  *.json) formatter=(jq --indent 2 .) ;;
  *.py) formatter=(ruff format -) ;;
  *) exit 0 ;;
esac
if [[ ! -f $file ]] || ! command -v "${formatter[0]}" >/dev/null; then exit 0; fi

tell() {
  jq --null-input --arg note "$1" '{ hookSpecificOutput: { additionalContext: $note } }'
}

# Apart from the output: a warning has no place in the file.
errors=$(mktemp)
trap 'rm -f -- "$errors"' EXIT

if ! formatted=$("${formatter[@]}" <"$file" 2>"$errors"); then
  tell "${file##*/} cannot be formatted: $(head -c 1000 "$errors")"
elif [[ $formatted != "$(<"$file")" ]]; then
  # Into the file as it is, which keeps its mode and follows a link.
  printf '%s\n' "$formatted" >"$file"
  tell "${file##*/} was formatted. Read it again before you replace text in it."
fi
