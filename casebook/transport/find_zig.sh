#!/bin/sh
# Prints the command that is zig, 0.15.2 or newer of 0.15: $ZIG, of PATH, or of python3's package ziglang; says why there is none.
wanted=0.15
tried=''
for candidate in "${ZIG:-}" zig "python3 -m ziglang" "${HOME:-/nowhere}/.cache/assay/zig/bin/python3 -m ziglang"; do
    if [ -z "$candidate" ]; then continue; fi
    version=$($candidate version 2> /dev/null) || continue
    case $version in
        "$wanted".0 | "$wanted".1) tried="$tried $version" ;;
        "$wanted".*) echo "$candidate"; exit 0 ;;
        *) tried="$tried $version" ;;
    esac
done
echo "no zig $wanted.2 here${tried:+ (but$tried)}: scripts/setup.sh transport, or pip install ziglang==0.15.2" >&2
exit 3
