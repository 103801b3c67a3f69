//! BugsC++ (An and others, ASE 2023): `taxonomy/PROJECT/meta.json` with the defects and the commands that build them, and
//! what its `checkout` has made, `PROJECT/buggy-1` and `PROJECT/fixed-1`, in the same folder or in the one above. Which
//! program a test starts, and with what, is for the user to fill in.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{SuiteFault, faulty_lines, first_of, names, text};

/// Files that may hold what is wrong.
const ENDINGS: [&str; 8] = [".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx"];

pub(super) fn faults(folder: &Path) -> io::Result<Vec<SuiteFault>> {
    let taxonomy = first_of(folder, &["bugscpp/taxonomy", "taxonomy", "."]).unwrap_or_default();
    let mut faults = Vec::new();
    for project in names(&taxonomy)? {
        let file = taxonomy.join(&project).join("meta.json");
        if !file.is_file() {
            continue;
        }
        let meta: Value = serde_json::from_str(&text(&file)?).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", file.display()))
        })?;
        for defect in meta.get("defects").and_then(Value::as_array).into_iter().flatten() {
            faults.extend(fault(folder, &project, &meta, defect)?);
        }
    }
    Ok(faults)
}

fn fault(folder: &Path, project: &str, meta: &Value, defect: &Value) -> io::Result<Option<SuiteFault>> {
    let Some(id) = defect.get("id").and_then(Value::as_u64) else { return Ok(None) };
    let checkout = |kind: &str| format!("{project}/{kind}-{id}");
    let (faulty, correct) = (folder.join(checkout("buggy")), folder.join(checkout("fixed")));
    let mut lines = (Vec::new(), false);
    if faulty.is_dir() && correct.is_dir() {
        lines = differing(&faulty, &correct)?;
    }
    let failing = defect.get("case").and_then(Value::as_array).into_iter().flatten();
    let failing: Vec<String> = failing.map(Value::to_string).collect();
    let count = defect.get("num_cases").and_then(Value::as_u64).unwrap_or(0);
    Ok(Some(SuiteFault {
        name: format!("{project}-{id}"),
        group: project.to_owned(),
        directory: if faulty.is_dir() { checkout("buggy") } else { ".".into() },
        build: build(meta),
        faulty: lines.0,
        is_omission: lines.1,
        remark: Some(format!("of {count} tests these fail: {}", failing.join(", "))),
        ..SuiteFault::default()
    }))
}

/// The commands of the suite, without what is for its own tools.
fn build(meta: &Value) -> Option<String> {
    let commands = meta.get("common")?.get("build")?.get("commands")?.as_array()?;
    let lines = commands.iter().filter_map(|command| command.get("lines")?.as_array()).flatten();
    let lines: Vec<String> = lines
        .filter_map(Value::as_str)
        .map(|line| {
            let line = line.replace("@DPP_COMPILATION_DB_TOOL@", "").replace("@DPP_PARALLEL_BUILD@", "1");
            line.trim().to_owned()
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join(" && "))
}

/// The lines in which two checkouts differ.
fn differing(faulty: &Path, correct: &Path) -> io::Result<(Vec<String>, bool)> {
    let (mut changed, mut beside) = (Vec::new(), Vec::new());
    for file in sources(faulty, Path::new(""))? {
        let (one, other) = (text(&faulty.join(&file))?, correct.join(&file));
        if other.is_file() && one != text(&other)? {
            let (lines, is_omission) = faulty_lines(&file.to_string_lossy(), &one, &text(&other)?);
            if is_omission { &mut beside } else { &mut changed }.extend(lines);
        }
    }
    let is_omission = changed.is_empty() && !beside.is_empty();
    Ok((if is_omission { beside } else { changed }, is_omission))
}

fn sources(root: &Path, below: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in names(&root.join(below))? {
        let (way, place) = (below.join(&name), root.join(below).join(&name));
        // A link may lead out, or around.
        if place.is_dir() && !place.is_symlink() && !name.starts_with('.') {
            found.extend(sources(root, &way)?);
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            found.push(way);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::faults;

    const META: &str = r#"{"common": {"build": {"commands": [{"lines": ["./configure", "@DPP_COMPILATION_DB_TOOL@ make -j@DPP_PARALLEL_BUILD@"]}]}},
        "defects": [{"id": 1, "num_cases": 201, "case": [55]}, {"id": 2, "num_cases": 3, "case": [1, 2]}]}"#;

    #[test]
    fn a_defect_is_a_fault_whose_lines_are_those_of_the_checkouts() {
        let found = faults(
            "BugsC++",
            &[
                ("taxonomy/yara/meta.json", META),
                ("yara/buggy-1/src/a.c", "int a;\nint b = 1;\n"),
                ("yara/fixed-1/src/a.c", "int a;\nint b = 2;\n"),
                ("yara/buggy-1/README", "one"),
                ("yara/fixed-1/README", "two"),
            ],
        );
        let [one, two] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.name.as_str(), one.directory.as_str()), ("yara-1", "yara/buggy-1"));
        assert_eq!(one.build.as_deref(), Some("./configure && make -j1"));
        assert_eq!((one.faulty.as_slice(), one.is_omission), (&["src/a.c:2".to_owned()][..], false));
        assert_eq!((two.faulty.len(), two.remark.as_deref()), (0, Some("of 3 tests these fail: 1, 2")));
    }
}
