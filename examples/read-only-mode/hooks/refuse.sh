#!/usr/bin/env bash
# BeforeTool: read-only mode. The matcher names the tools that only read; all others end here.

tool=$(jq --raw-output '.tool_name')
printf '%s is off in read-only mode. Describe the change instead.\n' "${tool:-This tool}" >&2
exit 2
