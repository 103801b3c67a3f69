//! Find the statement executions that a failure needs.
pub mod baseline;
pub mod circumstances;
pub mod cli;
pub mod dd;
pub mod investigation;
pub mod oracle;
pub mod report;
pub mod slice;
