//! DBGBench (Böhme and others, ESEC/FSE 2017): `find.24bf33c0.faults.txt` for each fault, with lines `parser.c:123`. How a
//! revision is built and made to fail is told by its reports; that is for the user to fill in.

use std::io;
use std::path::Path;

use super::{SuiteFault, names, text};
use crate::source_line::SourceLine;

pub(super) fn faults(folder: &Path) -> io::Result<Vec<SuiteFault>> {
    let mut faults = Vec::new();
    for file in names(folder)? {
        let Some((program, revision)) =
            file.strip_suffix(".faults.txt").and_then(|name| name.split_once('.'))
        else {
            continue;
        };
        let text = text(&folder.join(&file))?;
        let lines = text.lines().filter_map(|line| SourceLine::parse(&line.replace(' ', "")).ok());
        faults.push(SuiteFault {
            name: format!("{program}-{revision}"),
            group: program.to_owned(),
            directory: ".".into(),
            faulty: lines.map(|line| line.to_string()).collect(),
            remark: Some(format!("{program}.{revision}.report.txt tells how it fails")),
            ..SuiteFault::default()
        });
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::super::tests::faults;

    #[test]
    fn a_file_of_lines_is_a_fault() {
        let found = faults(
            "DBGBench",
            &[("find.24bf33c0.faults.txt", "parser.c:12\nutil.c: 7\n\n"), ("find.24bf33c0.report.txt", "")],
        );
        let [fault] = &found[..] else { panic!("{found:?}") };
        assert_eq!((fault.name.as_str(), fault.program.as_ref()), ("find-24bf33c0", None));
        assert_eq!(fault.faulty, ["parser.c:12", "util.c:7"]);
    }
}
