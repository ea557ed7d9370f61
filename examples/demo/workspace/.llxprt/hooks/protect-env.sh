#!/usr/bin/env bash
# BeforeTool: keeps the model away from .env files.
# Exit code 2 blocks the call, and stderr is the reason that the model reads.

refuse() {
  echo "$1" >&2
  exit 2
}

# Any other failure would let the call pass, and a guard had better not.
path=$(node -p 'JSON.parse(fs.readFileSync(0, "utf8")).tool_input.file_path') ||
  refuse 'The arguments of the call could not be read.'

case "${path##*/}" in
  .env | .env.*) refuse "$path holds secrets. Go on without it." ;;
esac
