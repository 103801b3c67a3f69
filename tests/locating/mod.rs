//! More about `stripe locate`, by subject.

mod budget;
mod kept;
mod undefined;
mod values;
