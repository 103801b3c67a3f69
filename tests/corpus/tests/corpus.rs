//! The corpus itself: everything builds, and every run gives the same wrong result each time.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use anyhow::Result;
use corpus::{Built, CASES, Case, Program, Toolchain, case, csmith_programs};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn shows_its_fault_twice(case: &Case, built: &Built) -> Result<()> {
    let first = case.run(built)?;
    assert!(first.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&first.stderr));
    assert!(stdout(&first).contains(case.expectation), "{}: {}", case.name, stdout(&first));
    assert_eq!(first, case.run(built)?, "{}", case.name);
    Ok(())
}

#[test]
fn every_program_builds_and_has_more_than_two_thousand_lines() -> Result<()> {
    for program in Program::ALL {
        let built = program.build(&Toolchain::default())?;
        assert!(built.executable.is_file(), "{}", program.name());
        assert!(program.lines()? > 2000, "{}", program.name());
    }
    Ok(())
}

#[test]
fn every_case_shows_its_fault_each_time() -> Result<()> {
    for case in CASES {
        shows_its_fault_twice(case, &case.program.build(&Toolchain::default())?)?;
    }
    Ok(())
}

#[test]
fn a_statically_linked_program_shows_the_same_fault() -> Result<()> {
    let case = case("expat-pieces")?;
    shows_its_fault_twice(case, &case.program.build(&Toolchain::linking_statically())?)
}

#[test]
fn every_program_has_a_case_and_every_case_a_name_of_its_own() {
    let names: BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
    assert!(Program::ALL.iter().all(|&program| CASES.iter().any(|case| case.program == program)));
}

#[test]
fn a_program_is_built_once_for_each_choice_of_flags() -> Result<()> {
    let plain = Toolchain::default();
    let old = Toolchain { flags: vec!["-gdwarf-4".to_owned()], ..Toolchain::default() };
    let built = Program::Expat.build(&plain)?;
    let time = built.executable.metadata()?.modified()?;
    assert_eq!(built, Program::Expat.build(&plain)?);
    assert_eq!(time, built.executable.metadata()?.modified()?);
    assert_ne!(built, Program::Expat.build(&old)?);
    Ok(())
}

#[test]
fn a_compiler_that_does_not_exist_is_named_in_the_error() {
    let missing = Toolchain { compiler: "no-such-compiler".to_owned(), ..Toolchain::default() };
    let error = format!("{:#}", Program::Expat.build(&missing).unwrap_err());
    assert!(error.contains("no-such-compiler") && error.contains("CC"), "{error}");
}

#[test]
fn random_programs_end_and_print_the_same_each_time() -> Result<()> {
    let programs = csmith_programs(10, 1, &Toolchain::linking_statically())?;
    let executables: BTreeSet<_> = programs.iter().map(|built| &built.executable).collect();
    assert_eq!(executables.len(), 10);
    for built in &programs {
        let first = Command::new(&built.executable).env_clear().output()?;
        assert!(first.status.success());
        assert!(stdout(&first).starts_with("checksum = "), "{}", stdout(&first));
        assert_eq!(first, Command::new(&built.executable).env_clear().output()?);
    }
    Ok(())
}

#[test]
fn no_case_reads_uninitialised_memory() -> Result<()> {
    for case in CASES {
        let built = case.program.build(&Toolchain::default())?;
        let mut command = Command::new("valgrind");
        command.args(["-q", "--error-exitcode=9"]).arg(&built.executable).args(case.arguments);
        let output = case.run_as(command)?;
        assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
