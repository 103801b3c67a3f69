//! List runs of the programs that end with a wrong result.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread;

use anyhow::{Context, Result};

use crate::program::{Built, Program};

/// A run that ends with a wrong result, always with the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name: `lua-fib`.
    pub name: &'static str,
    /// The program that runs.
    pub program: Program,
    /// The program's arguments.
    pub arguments: &'static [&'static str],
    /// What stands on standard input.
    pub stdin: &'static str,
    /// The text on standard output that is wrong.
    pub expectation: &'static str,
    /// What is wrong, and why.
    pub fault: &'static str,
}

impl Case {
    /// The command of the run. It has an empty environment; [`Case::stdin`] is left to the caller.
    pub fn command(&self, built: &Built) -> Command {
        let mut command = Command::new(&built.executable);
        command.args(self.arguments).env_clear();
        command
    }

    /// Runs the program to its end and hands back what it printed.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run(&self, built: &Built) -> Result<Output> {
        self.run_as(self.command(built))
    }

    /// Runs a command of the caller's, the program under a tool for instance, with [`Case::stdin`].
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run_as(&self, mut command: Command) -> Result<Output> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot run {:?}", command.get_program()))?;
        let mut stdin = child.stdin.take().context("the program has no standard input")?;
        thread::scope(|scope| {
            // A program that ends early does not read everything: no error of ours.
            scope.spawn(move || stdin.write_all(self.stdin.as_bytes()));
            child.wait_with_output().context("cannot read the program's output")
        })
    }
}

/// The case with this name.
///
/// # Errors
/// If there is none.
pub fn case(name: &str) -> Result<&'static Case> {
    CASES.iter().find(|case| case.name == name).with_context(|| format!("the corpus has no case {name}"))
}

/// All cases, the programs in alphabetical order.
pub const CASES: &[Case] = &[
    Case {
        name: "bzip2-streams",
        program: Program::Bzip2,
        arguments: &[],
        stdin: "first part\nsecond part\n",
        expectation: "expanded to 11:\nfirst part\n",
        fault: "the second part is missing: the reader ends where the first of two streams ends",
    },
    Case {
        name: "expat-pieces",
        program: Program::Expat,
        arguments: &[],
        stdin: include_str!("../cases/menu.xml"),
        expectation: "dish:  Chips\n",
        fault: "`Fish &` is missing: of a text in several pieces the reader keeps the last",
    },
    Case {
        name: "lua-columns",
        program: Program::Lua,
        arguments: &["strings"],
        stdin: include_str!("../cases/columns.lua"),
        expectation: "columns = 2\n",
        fault: "there are 3 columns: the script begins to count at -1",
    },
    Case {
        name: "lua-fib",
        program: Program::Lua,
        arguments: &[],
        stdin: include_str!("../cases/fib.lua"),
        expectation: "fib(27) = 317811\n",
        fault: "fib(27) is 196418: the script begins with fib(0) = 1",
    },
    Case {
        name: "lua-median",
        program: Program::Lua,
        arguments: &[],
        stdin: include_str!("../cases/median.lua"),
        expectation: "median 482 of 41 prices\n",
        fault: "the median is 583: the script sorts numbers as strings",
    },
    Case {
        name: "lua-wrong-sum",
        program: Program::Lua,
        arguments: &["bare"],
        stdin: include_str!("../cases/wrong_sum.lua"),
        expectation: "sum = 10\n",
        fault: "the sum is 15: the script's loop ends one number too early",
    },
    Case {
        name: "oniguruma-greedy",
        program: Program::Oniguruma,
        arguments: &["<b>(.*)</b>"],
        stdin: "<b>one</b> and <b>two</b>\n",
        expectation: " | one</b> and <b>two\n",
        fault: "the group should hold `one`: `.*` takes as much as it can",
    },
    Case {
        name: "quickjs-map",
        program: Program::QuickJs,
        arguments: &[],
        stdin: include_str!("../cases/map.js"),
        expectation: "numbers: 10 NaN 2\n",
        fault: "the numbers are 10 10 10: parseInt takes the index as base",
    },
    Case {
        name: "quickjs-sort",
        program: Program::QuickJs,
        arguments: &[],
        stdin: include_str!("../cases/sort.js"),
        expectation: "sorted: 1 10 33 9\n",
        fault: "9 comes before 10: sort() compares strings",
    },
    Case {
        name: "sqlite-integer-division",
        program: Program::Sqlite,
        arguments: &[],
        stdin: include_str!("../cases/integer_division.sql"),
        expectation: "mean|2\n",
        fault: "the mean is 2.33: the quotient of two integers is an integer",
    },
    Case {
        name: "sqlite-not-in-null",
        program: Program::Sqlite,
        arguments: &[],
        stdin: include_str!("../cases/not_in_null.sql"),
        expectation: "without purchase|0\n",
        fault: "one customer has no purchase: NOT IN is never true when the list holds a NULL",
    },
    Case {
        name: "tree-sitter-exponent",
        program: Program::TreeSitter,
        arguments: &[],
        stdin: include_str!("../cases/numbers.json"),
        expectation: "sum: 41\n",
        fault: "the sum is 140: the driver reads 1e2 as 1",
    },
    Case {
        name: "zlib-dictionary",
        program: Program::Zlib,
        arguments: &["the quick brown fox", "the quick green fox"],
        stdin: "the quick brown fox jumps over the lazy dog\n",
        expectation: "the quick green fox jumps",
        fault: "the fox was brown: the reader's dictionary is not the writer's",
    },
];
