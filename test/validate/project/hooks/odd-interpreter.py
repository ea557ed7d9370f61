#!/usr/bin/env no-such-python
print("{}")
