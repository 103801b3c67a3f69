//! More about `stripe locate`, by subject.

mod undefined;
