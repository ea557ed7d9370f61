#!/usr/bin/env bash
# A small hook for any event: reads it, and lets it go on.
cat >/dev/null
printf '{"decision":"allow","reason":"hook 1"}'
