"""Writes a line for every event that it is configured for: when, in which session, and what."""

import json
import os
import sys

LONGEST_TEXT = 200

event = json.load(sys.stdin.buffer)


def shorten(value):
    """Arguments as they are, but no whole files."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    return value


entry = {
    "time": event["timestamp"],
    "session": event["session_id"],
    "event": event["hook_event_name"],
}
if "tool_name" in event:
    entry["tool"] = event["tool_name"]
    entry["input"] = shorten(event["tool_input"])
if "tool_response" in event:
    entry["failed"] = "error" in event["tool_response"]

# Readable for the user alone, and appended in one write, so that lines of several processes do not mix.
log = os.path.join(event["cwd"], ".llxprt", "audit.jsonl")
file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(file, (json.dumps(entry, ensure_ascii=False) + "\n").encode())
os.close(file)
