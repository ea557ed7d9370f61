#!/usr/bin/env bash
cat > /dev/null
