//! More about `stripe locate`, by subject.

mod budget;
mod kept;
mod passed;
mod undefined;
mod values;
