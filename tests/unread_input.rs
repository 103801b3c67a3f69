//! `stripe simplify`: what the program has not read goes first, in one test; and large inputs.

mod support;

use std::fs;

use support::simplifying::{folder, simplify};
use support::text;
use support::tiny::{assert_says, tiny};

/// Reads blocks of 4096 bytes until there is a sign of exclamation, and crashes then.
const READER: &str = "#include <fcntl.h>\n#include <string.h>\n#include <unistd.h>\nint main(int argc, char **argv) {\n    \
    static char t[4097]; int file = argc > 1 ? open(argv[1], O_RDONLY) : 0; long count;\n    \
    while ((count = read(file, t, 4096)) > 0) { t[count] = 0; if (strchr(t, '!')) *(volatile int *)0 = 1; }\n    return 0;\n}\n";

/// Two megabytes of lines, with a sign of exclamation in the first one and so many later on.
fn lines(further: usize) -> String {
    let mut text = String::from("first line!\n");
    for number in 0..100_000 {
        text.push_str(if number < further { "more! of them\n" } else { "a line of no use\n" });
    }
    text
}

#[test]
fn what_was_never_read_goes_first_in_one_test() {
    let program = tiny("reads-beginning", READER);
    let folder = folder("unread", &[]);
    fs::write(folder.join("in.txt"), lines(0)).expect("written");
    let name = program.path.display().to_string();
    for words in [&[&name, "--stdin", "in.txt"][..], &[&name, "--file", "in.txt", "--", "in.txt"]] {
        let output = simplify(&folder, words);
        let out = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        // After all of it and nothing of it the third test, with the first 4096 bytes and the rest of a line.
        assert_says(&out, &[": 1 character of 1700012\n  !\n", "1700012, 4109 after 3, "]);
    }
}
