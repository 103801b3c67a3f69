//! More about `stripe locate`, by subject.

mod kept;
mod undefined;
mod values;
