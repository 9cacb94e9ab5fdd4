# The flags of a stage of STAGES.toml, by its name. Sourced by test.sh and hits.sh, in this folder.
# shellcheck shell=bash
flags_of() {
    awk -v name="$1" '
        /^\[\[/ { stage = ($0 == "[[stages]]"); found = 0 }
        stage && $1 == "name" && $3 == "\"" name "\"" { found = 1 }
        stage && found && $1 == "flags" { sub(/^[^"]*"/, ""); sub(/"[^"]*$/, ""); print; exit }' STAGES.toml
}
