#!/bin/sh
# Builds the decoders for profiled.toml, into profiled/. With -DTRAINED in CFLAGS by a profile: the program is compiled
# to count, decodes the recorded posting lists with each decoder, and is compiled again by its counts.
set -eu
cd "$(dirname "$0")"
trained=
case " ${CFLAGS:-} " in
*' -DTRAINED '*) trained=1 ;;
esac
compile() { # more flags
    for source in branch table hinted bmi2 unrolled swar first mask8 hybrid simd main; do
        # shellcheck disable=SC2086  # words of flags
        "${CC:-gcc}" -std=c11 ${CFLAGS:--O2} "$@" -I../../harness -c -o "profiled/$source.o" "$source.c"
    done
    # shellcheck disable=SC2086
    "${CC:-gcc}" ${CFLAGS:--O2} "$@" -o profiled/bench profiled/*.o
}
rm -rf profiled
mkdir profiled
if [ -n "$trained" ]; then
    compile -fprofile-generate
    profiled/bench --input inputs/postings.varint --seconds 0.1 >/dev/null
    rm profiled/*.o
    compile -fprofile-use -fprofile-partial-training -Wno-missing-profile
else
    compile
fi
