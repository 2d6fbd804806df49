#!/usr/bin/env bash
# HTCondor 25.14.1 (its ClassAd library, in the package htcondor of the Python package index).
#
# Guess: integer literals of ClassAds are those of C, as the language's definition says (decimal,
# octal with a leading 0, hexadecimal with 0x), and a memory request may be written as 2G.
# Seen: a hexadecimal literal parses without an error and is 0, an octal one is read as decimal, and
# a number with a unit is a syntax error: the units of a submit file are condor_submit's, not the
# language's. So a reader of `condor_history` that evaluates expressions of users must not take the
# value of 0x400 for 1024.
. "$(dirname "$0")/lib.sh"
install htcondor==25.14.1
expect '0x1F = 0
0xFF == 255 = False
0x1F + 5 = 5
017 = 17
2G = syntax error' <<'PY'
import classad2

def value(text):
    try:
        return classad2.ExprTree(text).eval()
    except Exception:
        return "syntax error"

for text in ["0x1F", "0xFF == 255", "0x1F + 5", "017", "2G"]:
    print(text, "=", value(text))
PY
