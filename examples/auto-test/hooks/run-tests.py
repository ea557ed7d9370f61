"""AfterTool: runs the tests after an edit, and tells the model which fail."""

import fcntl
import json
import os
import subprocess
import sys

TEST = ["node", "--test", "--test-reporter=tap"]
LONGEST_REPORT = 3000

call = json.load(sys.stdin.buffer)
if not call["tool_input"]["file_path"].endswith((".js", ".mjs")):
    sys.exit()
if call["tool_response"].get("error"):
    sys.exit()

# Calls of one turn run at the same time, and tests rarely like to. The lock is gone when this process is.
lock = os.open(os.path.join(call["cwd"], ".llxprt"), os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)

# What the tests print must not get into the answer, so it is kept.
tests = subprocess.run(
    TEST, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
)

if tests.returncode != 0:
    note = f"The tests fail since this edit:\n{tests.stdout[-LONGEST_REPORT:]}"
    json.dump({"hookSpecificOutput": {"additionalContext": note}}, sys.stdout)
