//! Programs to copy from, one per file beside this one; README.md says what each shows. This library is empty.
