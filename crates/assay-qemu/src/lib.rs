//! The plugin that user-mode QEMU loads: what a program executes, written to memory that the lab reads.
