//! `stripe study`: from a manifest to tables, with faults that are none, kills, and a scheduler.

mod studies;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use studies::manifests::broken;
use studies::{assert_status, sample, study};
use support::tiny::assert_says;
use support::{root, scratch, stripe, text};

/// The faults of the sample study that are run each time: a wrong condition, a crash, an omission.
const PART: [&str; 3] = ["triangle-degenerate", "bank-null", "words-last"];

/// The rows of `results.csv` but for what depends on the machine.
fn rows(folder: &Path) -> Vec<String> {
    let output = study(&["table", "out", "--format", "csv"], folder);
    let csv = text(&output.stdout);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let varies = ["seconds", "memory_kib", "runs", "tests"];
    let kept = |line: &str| {
        let cells = header.iter().zip(line.split(','));
        cells.filter(|(name, _)| !varies.contains(name)).map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    lines.map(kept).collect()
}

fn golden() -> Vec<String> {
    let file = root().join("tests/golden/study.results");
    fs::read_to_string(file).expect("a golden file").lines().map(str::to_owned).collect()
}

fn is_of(row: &str, faults: &[&str]) -> bool {
    faults.iter().any(|fault| row.starts_with(&format!("{fault},")))
}

fn run_part(folder: &Path) -> Output {
    let mut words = vec!["run", "faults.toml", "--out", "out", "-j", "2", "-q"];
    words.extend(PART.iter().flat_map(|fault| ["--fault", *fault]));
    study(&words, folder)
}

#[test]
fn a_part_of_the_sample_study_has_the_results_that_are_known_and_every_form_shows_them() {
    let folder = sample("study-part");
    assert_status(&run_part(&folder), 0);
    let known: Vec<String> = golden().into_iter().filter(|row| is_of(row, &PART)).collect();
    assert_eq!(known.len(), 45);
    assert_eq!(rows(&folder), known);
    // What is there is not made again.
    let before = documents(&folder);
    assert_status(&run_part(&folder), 0);
    assert_eq!(documents(&folder), before);
    assert!(
        text(&study(&["status", "out"], &folder).stdout).contains("45 of 432 results of 29 faults are there")
    );
    assert_says(
        &text(&study(&["table", "out"], &folder).stdout),
        &["| locate | 3 | 0 |", "| slice | slice-effect | 3 |"],
    );
    let latex = text(&study(&["table", "out", "--format", "latex"], &folder).stdout);
    assert_says(&latex, &["\\toprule", "locate & 3 & 0 &"]);
    let export = study(&["export", "out", "--format", "csv", "--to", "csv"], &folder);
    assert_status(&export, 7);
    let lines = fs::read_to_string(folder.join("csv/lines.csv")).expect("a file");
    assert_eq!(lines, text(&study(&["table", "out", "--format", "lines-csv"], &folder).stdout));
    let events = fs::read_to_string(folder.join("csv/events.csv")).expect("a file");
    assert_says(
        &events,
        &[
            "bank-null,bank,slice,8,bank-null.c,14,21,find,1,effect,false",
            "bank-null,bank,dynamic,9,bank-null.c,15,15,find,1,,true",
        ],
    );
    assert!(lines.lines().any(|row| row.starts_with("bank-null,bank,ochiai,bank-null.c,15,") && row.ends_with("true,true")));
    // 387 results are missing, and the status says so.
    assert_status(&study(&["report", "out", "--html", "page.html", "--plots", "plots"], &folder), 7);
    let page = fs::read_to_string(folder.join("page.html")).expect("a page");
    let links: Vec<&str> =
        page.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().expect("a link")).collect();
    assert!(links.len() > 45);
    for link in links {
        assert!(folder.join(link.replace("%2B", "+")).is_file(), "{link}");
    }
    assert_eq!(fs::read_dir(folder.join("plots")).expect("a folder").count(), 5);
    assert_status(&study(&["verify", "out", "--sample", "5"], &folder), 0);
    what_is_exported_comes_back_with_the_same_places(&folder);
    compare_with_flitsr(&folder);
}

/// The places of a technique, by fault, with all lines in order.
fn places(folder: &Path, technique: &str) -> Vec<(serde_json::Value, serde_json::Value)> {
    let of = |fault: &&str| {
        let file = folder.join("out/items").join(fault).join(format!("{technique}.json"));
        let item: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(file).expect("a result")).expect("JSON");
        let lines = item["ranking"].as_array().expect("groups").iter().map(|group| group["lines"].clone());
        (item["metrics"]["first"].clone(), lines.collect())
    };
    PART.iter().map(of).collect()
}

fn what_is_exported_comes_back_with_the_same_places(folder: &Path) {
    for format in ["tcm", "gzoltar"] {
        study(&["export", "out", "--format", format, "--to", format], folder);
        let taken = study(&["import", "out", "--format", format, "--from", format, "--name", format], folder);
        assert_status(&taken, 7);
        assert_says(
            &text(&taken.stderr),
            &["left out: bank-move: its tests were not run", "taken in: 3 faults as"],
        );
        for formula in ["ochiai", "op2", "tarantula"] {
            assert_eq!(places(folder, &format!("{formula}@{format}")), places(folder, formula), "{format}");
        }
    }
    // Going on keeps them, and the tables have them.
    assert_status(&run_part(folder), 0);
    assert_says(
        &text(&study(&["table", "out"], folder).stdout),
        &["| ochiai@tcm | 3 | 0 |", "| op2@gzoltar | 3 |"],
    );
    fs::write(folder.join("tcm/bank-null.tcm"), "#tests\nt1 PERHAPS\n").expect("written");
    let broken = study(&["import", "out", "--format", "tcm", "--from", "tcm", "--name", "tcm"], folder);
    assert_says(&text(&broken.stderr), &["tcm/bank-null.tcm:2: the second word of a test is neither"]);
}

/// Where flitsr is installed (`pip install flitsr`), its rankings are ours.
fn compare_with_flitsr(folder: &Path) {
    let flitsr = |words: &[&str]| {
        let output = Command::new("python3").args(["-m", "flitsr"]).args(words).current_dir(folder).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    if flitsr(&["--help"]).is_none() {
        return;
    }
    study(&["export", "out", "--format", "tcm", "--to", "for-flitsr"], folder);
    let formulas = [("ochiai", "ochiai"), ("naish2", "op2"), ("sbi", "barinel"), ("dstar", "dstar")];
    for fault in PART {
        fs::create_dir_all(folder.join("ranked").join(fault)).expect("a folder");
        for (name, _) in formulas {
            let words = ["--sbfl", "--csv", "-m", name, &format!("for-flitsr/{fault}.tcm")];
            let file = folder.join(format!("ranked/{fault}/{name}.ranking.csv"));
            fs::write(file, flitsr(&words).expect("a ranking")).expect("written");
        }
    }
    study(&["import", "out", "--format", "ranking", "--from", "ranked", "--name", "flitsr"], folder);
    for (name, formula) in formulas {
        assert_eq!(places(folder, &format!("{name}@flitsr")), places(folder, formula), "{formula}");
    }
}

/// The results, and which files they are: one that is made again is another one.
fn documents(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let items = folder.join("out/items");
    for fault in fs::read_dir(&items).into_iter().flatten().flatten() {
        for item in fs::read_dir(fault.path()).expect("a folder").flatten() {
            let name = item.file_name().to_string_lossy().into_owned();
            if name.ends_with(".json") {
                found.insert(item.path(), item.metadata().expect("a file").ino());
            }
        }
    }
    found
}

#[test]
fn the_whole_sample_study_has_the_results_that_are_known() {
    if std::env::var_os("STRIPE_THOROUGH").is_none() && std::env::var_os("STRIPE_ACCEPT").is_none() {
        return;
    }
    let folder = sample("study-whole");
    assert_status(&study(&["run", "faults.toml", "--out", "out", "-q"], &folder), 0);
    let found = rows(&folder);
    if std::env::var_os("STRIPE_ACCEPT").is_some() {
        fs::write(root().join("tests/golden/study.results"), found.join("\n") + "\n").expect("written");
    }
    assert_eq!(found, golden(), "STRIPE_ACCEPT=1 accepts new results");
    assert_status(&study(&["check", "faults.toml"], &folder), 0);
    assert_status(&study(&["table", "out"], &folder), 0);
}

#[test]
fn a_study_that_is_killed_goes_on_and_makes_no_result_twice() {
    let folder = sample("study-killed");
    let kills = if std::env::var_os("STRIPE_THOROUGH").is_some() { 20 } else { 2 };
    for number in 0..kills {
        let mut command = stripe();
        command.args(["study", "run", "faults.toml", "--out", "out", "-j", "2", "-q"]).current_dir(&folder);
        command.args(PART.iter().flat_map(|fault| ["--fault", fault]));
        let mut child = command.stdin(Stdio::null()).spawn().expect("stripe starts");
        // However busy the machine is: so many results are there, and some work has been begun.
        let enough = |folder: &Path| {
            folder.join("out/study.json").exists() && documents(folder).len() >= 45 * number / (kills + 1)
        };
        while child.try_wait().expect("a process").is_none() && !enough(&folder) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(37 * number as u64));
        let _ = child.kill();
        let _ = child.wait();
        let there = documents(&folder);
        assert_status(&study(&["status", "out"], &folder), 7);
        let after = documents(&folder);
        assert!(there.iter().all(|(file, number)| after.get(file) == Some(number)), "{there:?}");
    }
    let before = documents(&folder);
    assert_status(&run_part(&folder), 0);
    let after = documents(&folder);
    assert!(before.iter().all(|(file, number)| after.get(file) == Some(number)), "{before:?}");
    let known: Vec<String> = golden().into_iter().filter(|row| is_of(row, &PART)).collect();
    assert_eq!(rows(&folder), known);
}

#[test]
fn spectra_are_written_for_gzoltar_and_flitsr() {
    let folder = broken("study-export");
    study(&["run", "faults.toml", "--out", "out", "--fault", "good", "-q"], &folder);
    let export = study(&["export", "out", "--format", "tcm", "--to", "tcm"], &folder);
    assert_status(&export, 7);
    assert_says(
        &text(&export.stderr),
        &["left out: passes: its tests were not run", "written: 1 spectra in tcm"],
    );
    let tcm = fs::read_to_string(folder.join("tcm/good.tcm")).expect("a file");
    assert_eq!(
        tcm,
        "#tests\nfailing_run FAILED\n\n#uuts\nok.c:main:3 | 0\nok.c:main:4\n\n#matrix\n0 1 1 1\n"
    );
    assert_status(&study(&["export", "out", "--format", "gzoltar", "--to", "gz"], &folder), 7);
    let matrix = fs::read_to_string(folder.join("gz/good/matrix.txt")).expect("a file");
    assert_eq!(matrix, "1 1 -\n");
}

#[test]
fn a_scheduler_runs_the_parts_and_together_they_are_the_whole() {
    let folder = sample("study-submitted");
    let manifest = fs::read_to_string(folder.join("faults.toml")).expect("the manifest");
    let (head, faults) = manifest.split_once("\n# A boundary").expect("faults");
    // Spectra only: what is tried is the scheduler.
    let head = head.split_once("techniques").expect("techniques").0.to_owned()
        + "techniques = [\"ochiai\"]\n"
        + head.split_once("\n]\n").expect("the end of the techniques").1;
    let few: Vec<&str> = faults.split("\n[[fault]]").take(5).collect();
    fs::write(folder.join("faults.toml"), format!("{head}\n# A boundary{}", few.join("\n[[fault]]")))
        .expect("written");
    let bin = folder.join("bin");
    fs::create_dir(&bin).expect("a folder");
    let fake = "#!/bin/sh\n# Runs the array of a script, as Slurm would.\ncount=$(sed -n 's/^#SBATCH --array=1-//p' \"$1\")\n\
                for i in $(seq $count); do SLURM_ARRAY_TASK_ID=$i sh \"$1\" || exit 9; done\n";
    fs::write(bin.join("sbatch"), fake).expect("written");
    fs::set_permissions(bin.join("sbatch"), fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let words = ["study", "submit", "faults.toml", "--out", "out", "--engine", "slurm", "--nodes", "3"];
    let dry = stripe()
        .args(words)
        .arg("--dry-run")
        .current_dir(&folder)
        .env("PATH", &path)
        .output()
        .expect("stripe");
    assert_says(
        &text(&dry.stdout),
        &["#SBATCH --array=1-3", "#SBATCH --requeue", "--shard \"$SLURM_ARRAY_TASK_ID/3\"", "sbatch /"],
    );
    assert!(!folder.join("out").exists());
    let output =
        stripe().args(words).current_dir(&folder).env("PATH", &path).output().expect("stripe starts");
    assert_status(&output, 0);
    let faults = documents(&folder).len();
    assert_eq!((faults, study(&["status", "out"], &folder).status.code()), (4, Some(0)));
    let local = study(&["submit", "faults.toml", "--out", "out-local", "--engine", "local"], &folder);
    assert_status(&local, 0);
    let parallel = study(
        &["submit", "faults.toml", "--out", "p", "--engine", "parallel", "--sshlogin", "a,b", "--dry-run"],
        &folder,
    );
    assert_says(&text(&parallel.stdout), &["parallel --jobs 1 --sshlogin a,b '", "--shard {}/2' ::: 1 2"]);
}

#[test]
fn a_manifest_is_written_for_a_folder_by_convention() {
    let folder = scratch("study-init");
    for program in ["one", "two"] {
        let place = folder.join("programs").join(program);
        for sub in ["in", "out"] {
            fs::create_dir_all(place.join(sub)).expect("a folder");
        }
        let mark = if program == "one" { " // FAULT" } else { "" };
        let source = format!(
            "#include <stdio.h>\nint main(void) {{\n  int n = getchar() == 'x' ? 2 : 1;{mark}\n  printf(\"%d\\n\", n);\n}}\n"
        );
        fs::write(place.join("prog.c"), source).expect("written");
        for (test, input) in [("a", "x"), ("b", "y")] {
            fs::write(place.join("in").join(test), input).expect("written");
            fs::write(place.join("out").join(test), "1\n").expect("written");
        }
    }
    assert_status(&study(&["init", "programs"], &folder), 0);
    let check = study(&["check", "programs/faults.toml"], &folder);
    assert_status(&check, 7);
    assert_says(
        &text(&check.stdout),
        &["ok  one", "1 failing    1 passing tests", "faults.toml:17: the fault has no faulty line"],
    );
    // Paths begin where the manifest lies.
    fs::create_dir(folder.join("beside")).expect("a folder");
    let output = ["init", "programs", "--output", "beside/faults.toml"];
    assert_status(&study(&output, &folder), 0);
    assert_says(
        &text(&study(&["check", "beside/faults.toml"], &folder).stdout),
        &["ok  one", "1 failing    1 passing tests"],
    );
    let again = study(&["init", "programs"], &folder);
    assert_status(&again, 1);
    assert_says(&text(&again.stderr), &["give --output another name"]);
}

#[test]
fn a_folder_of_codeflaws_becomes_a_manifest_that_can_be_run() {
    let folder = scratch("study-codeflaws");
    let place = folder.join("suite/7-A-bug-1-2");
    fs::create_dir_all(&place).expect("a folder");
    let right = "#include <stdio.h>\nint main(void) {\n  int n;\n  scanf(\"%d\", &n);\n  if (n > 3)\n    n = 3;\n  printf(\"%d\\n\", n);\n}\n";
    let files = [
        ("7-A-1.c", right.replace("n > 3", "n > 5").as_str(), ""),
        ("7-A-2.c", right, ""),
        ("input-pos1", "2\n", "2\n"),
        ("input-neg1", "4\n", "3\n"),
        ("heldout-input-pos1", "9\n", "3\n"),
    ]
    .map(|(name, content, output)| (name, content.to_owned(), output));
    for (name, content, output) in files {
        fs::write(place.join(name), content).expect("written");
        if name.contains("input-") {
            fs::write(place.join(name.replace("input-", "output-")), output).expect("written");
        }
    }
    let init = study(&["init", "suite"], &folder);
    assert_status(&init, 0);
    assert_says(&text(&init.stderr), &["written: suite/faults.toml, 1 faults of Codeflaws"]);
    let run = study(&["run", "suite/faults.toml", "--out", "out", "--techniques", "locate,ochiai"], &folder);
    assert_status(&run, 0);
    let rows = rows(&folder);
    assert!(rows[0].starts_with("7-A-bug-1-2,7-A,locate,complete,true,"), "{rows:?}");
}
