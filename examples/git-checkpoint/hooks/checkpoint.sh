#!/usr/bin/env bash
# BeforeAgent: keeps the project as it is before the agent begins, in refs/checkpoints/latest.
# Neither your branch nor your index nor any file is touched.
set -euo pipefail

subject=$(jq --raw-output '"Before: " + (.prompt | split("\n")[0])[:60]')

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# A copy of the index, so that git need not read files again that have not changed.
index=$(git rev-parse --git-path index)
if [[ -f $index ]]; then cp -- "$index" "$scratch/index"; fi
export GIT_INDEX_FILE=$scratch/index

# All files but those that git ignores, committed or not.
git add --all
tree=$(git write-tree)

parent=$(git rev-parse --quiet --verify HEAD || true)
# The prompt is data: it goes through stdin.
commit=$(git -c user.name=hookstack -c user.email=hookstack@localhost \
  commit-tree "$tree" ${parent:+-p "$parent"} -F - <<<"$subject")

# The log of the reference keeps the checkpoints before this one.
git update-ref --create-reflog -m checkpoint refs/checkpoints/latest "$commit"
