#!/bin/bash
# How much memory does a compiler hold with this malloc and with others? Peak KiB of cc1, which allocates for seconds and
# frees little: what is lost to classes, headers and kept pages adds up.
#
#   casebook/allocator/memory.sh [FUNCTIONS]       500 if not given
#   casebook/allocator/memory.sh FILE.i            a preprocessed C file of yours
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
source=${1:-500}
case $source in
    *[!0-9]*) source=$(cd "$OLDPWD" && realpath -- "$source") ;;
    *)
        awk -v functions="$source" 'BEGIN {
            print "int printf(const char *, ...);"
            for (i = 0; i < functions; i++) {
                printf "struct s%d { int a; double b[%d]; char c[%d]; };\n", i, i % 7 + 1, i % 13 + 1
                printf "static int f%d(struct s%d *p, int n) { int r = 0; for (int i = 0; i < n; i++) { switch (i %% %d) {", i, i, i % 9 + 3
                printf " case 0: r += p->a * %d; break; case 1: r ^= (int)p->b[i %% %d]; break;", i, i % 7 + 1
                printf " case 2: if (p->c[i %% %d] > %d) r -= i; break; default: r = r * 31 + %d; } }", i % 13 + 1, i % 100, i % 17
                printf " printf(\"%%d\", r); return r; }\n"
            }
            print "int main(void) { int r = 0;"
            for (i = 0; i < functions; i++) printf "{ struct s%d s = {0}; r += f%d(&s, r & 255); }\n", i, i
            print "return r; }"
        }' > "$folder/source.i"
        source=$folder/source.i
        ;;
esac
make -s stage
compiler=$(gcc -print-prog-name=cc1)
for name in system "$PWD/build/libtiny.so" mimalloc jemalloc tcmalloc; do
    if ./with.sh "$name" true 2> /dev/null; then
        for level in -O0 -O2; do
            python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[3:], check=True)
print(f"{sys.argv[1]:10} {sys.argv[2]} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss:8} KiB")' \
                "$(basename "${name%.so}")" $level ./with.sh "$name" "$compiler" -quiet $level "$source" -o /dev/null
        done
    fi
done
