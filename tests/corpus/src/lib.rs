//! Build programs that nobody here wrote.
