"""BeforeTool: keeps secrets out of the files that the model writes."""

import re

from hookstack import Block, define_hook

KINDS = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[opsur]_\w{36,}|github_pat_\w{50,})",
    "a Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{10,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "a password": r"(?i)(?:password|passwd|secret|api_?key)['\"]?\s*[:=]\s*['\"][^'\"\s$]{8,}['\"]",
}

# Which argument of a tool holds the new text. An unknown tool is an error, and an error blocks: onFailure is "deny".
WRITTEN = {"write_file": "content", "replace": "new_string"}


def scan(call):
    text = call["tool_input"][WRITTEN[call["tool_name"]]]
    findings = [
        f"line {text.count(chr(10), 0, match.start()) + 1} looks like {kind}"
        for kind, pattern in KINDS.items()
        for match in re.finditer(pattern, text)
    ]
    if findings:
        # The reason is logged and sent to the model, so it does not repeat what was found.
        raise Block(f"Nothing was written: {', '.join(findings)}. Read secrets from the environment.")


define_hook("BeforeTool", scan)
