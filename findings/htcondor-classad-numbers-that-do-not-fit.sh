#!/usr/bin/env bash
# HTCondor 25.14.1 (its ClassAd library, in the package htcondor of the Python package index):
# numbers in expressions, as those that rank jobs and round what they ask for.
#
# Guess: a whole number that does not fit 64 bits is an error or becomes a real, in one way
# everywhere; so is a real beyond all reals infinite, or an error.
# Seen: pow(2, 63) and int(1e19) are the most negative number, and one more than the largest is;
# twice the largest is -2, the literal 9223372036854775808 is 0, and 1e19 a real. 1e308 * 10 is an
# error, and real("1e400") infinite. pow(2, -1) of whole numbers is a real.
. "$(dirname "$0")/lib.sh"
install htcondor==25.14.1
expect 'pow(2, 62) = 4611686018427387904
pow(2, 63) = -9223372036854775808
pow(2.0, 63) = 9.223372036854776e+18
pow(2, -1) = 0.5
int(1e19) = -9223372036854775808
9223372036854775807 + 1 = -9223372036854775808
9223372036854775807 * 2 = -2
9223372036854775808 = 0
1e308 * 10 = Error
real("1e400") = inf' <<'PY'
import classad2

for text in ["pow(2, 62)", "pow(2, 63)", "pow(2.0, 63)", "pow(2, -1)", "int(1e19)",
             "9223372036854775807 + 1", "9223372036854775807 * 2", "9223372036854775808",
             "1e308 * 10", 'real("1e400")']:
    value = classad2.ExprTree(text).eval()
    print(text, "=", getattr(value, "name", value))
PY
