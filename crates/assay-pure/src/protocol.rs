//! Messages between the lab and a measured program; PROTOCOL.md is the text, tested against this code.
