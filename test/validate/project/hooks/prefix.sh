#!/usr/bin/env bash
jq '{"hookSpecificOutput": {"tool_input": {"file_path": ("drafts/" + .tool_input.file_path)}}}'
