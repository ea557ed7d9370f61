#!/usr/bin/env bash
# BeforeToolSelection: the model may read and write files, and nothing else.

cat <<'JSON'
{
  "hookSpecificOutput": {
    "toolConfig": {
      "mode": "ANY",
      "allowedFunctionNames": ["read_file", "write_file"]
    }
  }
}
JSON
