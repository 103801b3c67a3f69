//! Find the statement executions that a failure needs.
pub mod dd;
