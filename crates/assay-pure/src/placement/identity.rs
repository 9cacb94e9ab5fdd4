//! Machine-code identity of two functions after relocation.
