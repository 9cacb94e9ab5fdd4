#!/bin/sh
# Prints the command that is zig 0.15.2 or a later 0.15: $ZIG, that of scripts/setup.sh, of PATH, of python3's package.
# Without one says so on standard error and exits with 3.
here=$(cd "$(dirname "$0")" && pwd)
tried=''
for candidate in "${ZIG:-}" "$here/../../target/zig/bin/python3 -m ziglang" zig "python3 -m ziglang"; do
    if [ -z "$candidate" ]; then continue; fi
    version=$($candidate version 2> /dev/null) || continue
    case $version in
        0.15.0 | 0.15.1) tried="$tried $version" ;;
        0.15.*) echo "$candidate"; exit 0 ;;
        *) tried="$tried $version" ;;
    esac
done
echo "no zig 0.15.2 here${tried:+, but$tried}: scripts/setup.sh transport" >&2
exit 3
