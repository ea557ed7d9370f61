#!/bin/sh
# A small policy hook: looks at the event, and allows it. $1 is its number.
read -r event || true
case $event in
  *'"tool_name":"read_file"'*) printf '{"decision":"allow","reason":"hook %s"}' "$1" ;;
  *) printf '{"decision":"deny","reason":"hook %s was given no tool"}' "$1" ;;
esac
