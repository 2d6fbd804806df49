#!/usr/bin/env bash
# HTCondor 25.14.1 (its ClassAd library, in the package htcondor of the Python package index).
#
# Guess: what is undefined is contagious, as it is in arithmetic (1 + undefined is undefined), and a
# text that is no number is an error when it is converted.
# Seen: sum, avg and min skip undefined elements; int() takes the number that a text begins with;
# true counts as 1 in sums; a number that becomes text is written with 15 digits and an exponent.
. "$(dirname "$0")/lib.sh"
install htcondor==25.14.1
expect '1 + undefined = Undefined
sum({1, undefined}) = 1
avg({1, undefined}) = 1.0
min({2, undefined}) = 2
sum({true, 2}) = 3
int("12abc") = 12
int("abc") = Error
string(2.5) = 2.500000000000000E+00' <<'PY'
import classad2

for text in ["1 + undefined", "sum({1, undefined})", "avg({1, undefined})", "min({2, undefined})",
             "sum({true, 2})", 'int("12abc")', 'int("abc")', "string(2.5)"]:
    value = classad2.ExprTree(text).eval()
    print(text, "=", getattr(value, "name", value))
PY
