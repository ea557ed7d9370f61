#!/bin/sh
# The same as answer.sh, where bash does not read it.
cat >/dev/null
printf '{"decision":"allow","reason":"hook 1"}'
