#!/usr/bin/env bash
# BeforeTool: refuses shell commands that cannot be undone.
# Exit code 2 blocks the call, and stderr is the reason that the model reads.

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

# "strings" gives nothing for what is no string, and --exit-status makes that a failure.
command=$(jq --exit-status --raw-output '.tool_input.command | strings') ||
  refuse 'The command of the call could not be read.'

# An "if", as the status of the last [[ would become the exit code of the script.
forbid() {
  if [[ $command =~ $1 ]]; then refuse "$2"; fi
}

word='(^|[^[:alnum:]_.-])'
options='([[:space:]]+-[^[:space:]]+)*'

forbid "${word}rm${options}[[:space:]]+-([[:alpha:]]*[rR]|-recursive)" \
  'No directories are deleted here. Delete files by name, or ask the user.'
forbid "${word}git[[:space:]]+push.*[[:space:]](-f|--force|\\+)" \
  'The history of others is not overwritten. Push without force, or ask the user.'
forbid "${word}git[[:space:]]+(reset.*--hard|clean.*-[[:alpha:]]*f)" \
  'This throws work away. Commit it, or stash it.'
forbid "${word}(curl|wget)[^|]*\\|[[:space:]]*(sudo[[:space:]]+)?[[:alpha:]]*sh([[:space:]]|$)" \
  'Download the script to a file first, and read it.'
forbid "${word}(sudo|doas|mkfs[.[:alnum:]]*)[[:space:]]" \
  'You work without the rights of root. Tell the user what to run.'
forbid '(>|of=)[[:space:]]*/dev/(sd|hd|vd|nvme|mapper|disk)' \
  'Nothing is written to a disk as such.'
