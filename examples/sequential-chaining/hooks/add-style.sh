#!/usr/bin/env bash
# BeforeModel, second of the chain: reads the messages as the first one left them, and adds one.
set -euo pipefail

rule='Answer in one sentence.'

# A list of messages replaces the one that was there, so all of them go back.
jq --arg rule "$rule" '{
  hookSpecificOutput: {
    llm_request: {
      messages: (.llm_request.messages + [{ role: "user", content: $rule }]),
      config: { temperature: 0 }
    }
  }
}'
