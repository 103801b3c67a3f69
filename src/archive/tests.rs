//! Journals come back as they were written, and any beginning of one is a journal.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::circumstances::events::{PROGRAM, TRACE};
use tempfile::TempDir;
use tracer::run::Run;

use super::{Archive, ArchiveError, Journal, JournalContent};
use crate::oracle::{Evidence, EvidenceKind};
use crate::printed::Printed;
use dd::{Configuration, Outcome};

const UNIVERSE: usize = 100;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    (folder, path)
}

fn seen(why: &str) -> Evidence {
    Evidence::new(Outcome::Pass, why)
}

/// The configurations of a search, each smaller than the last.
fn sets() -> Vec<Configuration> {
    let set = |most: usize| Configuration::from_iter(UNIVERSE, (0..most).filter(|n| n % 7 != 3));
    [90, 55, 54, 20, 3].map(set).into()
}

/// The evidence of a test that has printed this.
fn seen_printing(why: &str, stdout: &[u8]) -> Evidence {
    let recorded = Run::with_output(b"sum = 15\nmul = 0\n", b"");
    let printed = Printed::of(&Run::with_output(stdout, b"oh\n"), &recorded);
    Evidence { printed: Some(Arc::new(printed)), ..seen(why) }
}

/// Writes a search of two phases.
fn write(path: &Path) {
    let mut journal = Journal::create(path).unwrap();
    journal.phase(PROGRAM, &Configuration::full(UNIVERSE)).unwrap();
    journal.guessed(&sets()[1]).unwrap();
    for (number, set) in sets().iter().enumerate() {
        let seen = Evidence { kind: EvidenceKind::Ambiguous, ..seen("no output") };
        journal.tested(number as u128, Outcome::Pass, &seen).unwrap();
        let reproduced = seen_printing("reproduced", b"sum = 15\n");
        journal.tested(set.fingerprint(), Outcome::Fail, &reproduced).unwrap();
        journal.spent(number as u64, Duration::from_millis(7)).unwrap();
        journal.improved(set).unwrap();
    }
    journal.phase(TRACE, &sets()[3]).unwrap();
    let kind = EvidenceKind::OtherFailure("SIGSEGV at a.c:3".into());
    let long = Evidence { kind, ..seen_printing("no output", &b"!".repeat(200)) };
    journal.tested(1, Outcome::Unresolved, &long).unwrap();
    journal.improved(&sets()[4]).unwrap();
    journal.sync().unwrap();
}

fn read(path: &Path) -> JournalContent {
    JournalContent::read(path, UNIVERSE).unwrap()
}

#[test]
fn a_journal_comes_back_as_it_was_written() {
    let (_folder, path) = folder();
    write(&path);
    let content = read(&path);
    assert_eq!((content.tests(), content.runs, content.is_damaged), (11, 4, false));
    assert_eq!(content.elapsed, Duration::from_millis(7));
    let [first, second] = &content.phases[..] else { panic!("two phases") };
    assert_eq!((first.phase, &first.best), (PROGRAM, &sets()[4]));
    assert_eq!((second.phase, &second.best), (TRACE, &sets()[4]));
    assert_eq!((&first.guess, &second.guess), (&Some(sets()[1].clone()), &None));
    assert!(first.is_understood && second.is_understood);
    let ambiguous = Evidence { kind: EvidenceKind::Ambiguous, ..seen("no output") };
    assert_eq!(first.outcomes[&0], (Outcome::Pass, ambiguous));
    let (outcome, long) = &second.outcomes[&1];
    // The same words as of the first, and about something else.
    assert_eq!((&*long.why, long.failure()), ("no output", Some("SIGSEGV at a.c:3")));
    assert_eq!(
        (*outcome, &long.printed),
        (Outcome::Unresolved, &seen_printing("", &b"!".repeat(200)).printed)
    );
    let printed = |set: &Configuration| first.outcomes[&set.fingerprint()].1.printed.clone().unwrap();
    assert_eq!(Some(printed(&sets()[0])), seen_printing("", b"sum = 15\n").printed);
    assert!(Arc::ptr_eq(&printed(&sets()[0]), &printed(&sets()[4])), "written once");
}

#[test]
fn every_beginning_of_a_journal_is_one_that_can_be_gone_on_with() {
    let (_folder, path) = folder();
    write(&path);
    let whole = fs::read(&path).unwrap();
    let mut last = 0;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let content = read(&path);
        assert!(!content.is_damaged, "{length} bytes");
        assert!(content.tests() >= last, "{length} bytes");
        last = content.tests();
        let (mut journal, _) = Journal::resume(&path, UNIVERSE).unwrap();
        journal.phase(TRACE, &sets()[3]).unwrap();
        journal.tested(99, Outcome::Fail, &seen_printing("later", b"sum = 15\n")).unwrap();
        journal.sync().unwrap();
        drop(journal);
        let content = read(&path);
        assert_eq!((content.tests(), content.is_damaged), (last + 1, false), "{length} bytes");
        let trace = content.phases.iter().find(|phase| phase.phase == TRACE).unwrap();
        let expected = seen_printing("later", b"sum = 15\n");
        assert_eq!(
            (&*trace.outcomes[&99].1.why, &trace.outcomes[&99].1.printed),
            ("later", &expected.printed)
        );
    }
}

#[test]
fn a_flipped_bit_costs_what_is_behind_it_and_nothing_before() {
    let (_folder, path) = folder();
    write(&path);
    let whole = fs::read(&path).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    for bit in 0..8 * whole.len() {
        let (at, sound) = (bit / 8, whole[bit / 8]);
        file.write_all_at(&[sound ^ 1 << (bit % 8)], at as u64).unwrap();
        match JournalContent::read(&path, UNIVERSE) {
            Ok(content) => assert!(content.tests() < 12 && content.length as usize <= bit / 8, "bit {bit}"),
            Err(error) => assert!(matches!(error, ArchiveError::Format { .. }), "bit {bit}: {error}"),
        }
        file.write_all_at(&[sound], at as u64).unwrap();
    }
}

#[test]
fn a_set_larger_than_the_trace_is_not_believed() {
    let (_folder, path) = folder();
    write(&path);
    let content = JournalContent::read(&path, UNIVERSE - 1).unwrap();
    assert!(content.is_damaged && content.phases.is_empty());
}

#[test]
fn what_was_found_before_is_no_news() {
    let (_folder, path) = folder();
    write(&path);
    let (mut journal, _) = Journal::resume(&path, UNIVERSE).unwrap();
    journal.phase(PROGRAM, &Configuration::full(UNIVERSE)).unwrap();
    assert!(!journal.is_news(&sets()[1]) && !journal.is_news(&sets()[4]));
    assert!(journal.is_news(&Configuration::from_iter(UNIVERSE, [1])));
}

#[test]
fn numbers_are_given_away_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::of(folder.path());
    let reserve = |program: &'static str| archive.reserve(Path::new(program)).unwrap().number().unwrap();
    let mut numbers: Vec<u32> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let program = ["/bin/a", "b", "c d/e f", "ü"][worker];
                scope.spawn(move || (0..25).map(|_| reserve(program)).collect::<Vec<u32>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 100, "each number once");
    let names: Vec<_> = archive.runs().unwrap().iter().map(|run| run.path().to_path_buf()).collect();
    assert!(names.iter().any(|name| name.to_string_lossy().ends_with("-e_f")));
}
