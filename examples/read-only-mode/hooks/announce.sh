#!/usr/bin/env bash
# BeforeAgent: says so at once, which saves the model a few calls.
# Plain text is a message to the model.

cat >/dev/null
echo 'This project is in read-only mode: you can read and search, and change nothing.'
