#!/usr/bin/env bash
# The Python client of Kubernetes, kubernetes 37.0.2, kubernetes.utils.quantity.parse_quantity.
#
# Guess: it reads the quantities of the API (a number, then one of n, u, m, k, M, G, T, P, E, Ki and
# so on, or a decimal exponent), and refuses what is none of them.
# Seen: 1K, a blank before the unit, an exponent together with a unit, and infinity are read. A
# manifest whose requests were summed with the client can therefore be one that no cluster takes.
. "$(dirname "$0")/lib.sh"
install kubernetes==37.0.2
expect '1K = 1000
1 Gi = 1073741824
inf = Infinity
1e3Ki = 1024000' <<'PY'
from kubernetes.utils.quantity import parse_quantity

for text in ["1K", "1 Gi", "inf", "1e3Ki"]:
    value = parse_quantity(text)
    print(text, "=", int(value) if value == value.to_integral_value() and value.is_finite() else value)
PY
