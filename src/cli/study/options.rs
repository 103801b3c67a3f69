//! Declare the options of `stripe study`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The actions on a study.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// Is every fault what the manifest says? Builds, runs its tests twice, tells what to mend.
    Check(StudyCheckOptions),
    /// Run all techniques on all faults; goes on where it was.
    Run(StudyRunOptions),
    /// Show how far it is.
    Status(StudyFolderOptions),
    /// Print tables of what was found.
    Table(StudyTableOptions),
    /// Write a page with tables and plots.
    Report(StudyReportOptions),
    /// Write results or spectra in the formats of other tools.
    Export(StudyExportOptions),
    /// Take in spectra or rankings of other tools, to be compared in the same tables.
    Import(StudyImportOptions),
    /// Do a random sample again, and compare.
    Verify(StudyVerifyOptions),
    /// Write a manifest for a folder of programs.
    Init(StudyInitOptions),
    /// Hand the study to a scheduler, in parts.
    Submit(StudySubmitOptions),
    /// Record what the tests of one fault execute.
    #[command(hide = true)]
    Cover(StudyCoverOptions),
    /// Do what another command line says, for as long as standard input is open.
    #[command(hide = true)]
    Child(StudyChildOptions),
}

/// `stripe study check`.
#[derive(Debug, Args)]
pub struct StudyCheckOptions {
    /// The manifest: .toml, .csv or .jsonl.
    pub manifest: PathBuf,
    /// The number of faults looked at at the same time; without, one for each processor.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// `stripe study run`.
#[derive(Debug, Args)]
pub struct StudyRunOptions {
    /// The manifest: .toml, .csv or .jsonl.
    pub manifest: PathBuf,
    /// The folder of the results; what is there is not done again.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Only the K-th of N parts of the faults, such as 3/16.
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Only the faults of these names. May be given more than once.
    #[arg(long, value_name = "NAME")]
    pub fault: Vec<String>,
    /// These techniques instead of those of the manifest, such as slice,ochiai.
    #[arg(long, value_name = "LIST")]
    pub techniques: Option<String>,
    /// Do again what has failed.
    #[arg(long)]
    pub retry: bool,
    /// The number of faults worked on at the same time; without, one for each processor.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}

/// A part of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// True if the item of this number, from 0, is in this part.
    pub(super) fn has(self, number: usize) -> bool {
        number % self.count == self.number - 1
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts =
        text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
        _ => Err("not a part: write K/N with K from 1 to N, such as 3/16".into()),
    }
}

/// `stripe study status`.
#[derive(Debug, Args)]
pub struct StudyFolderOptions {
    /// The folder of the results.
    pub results: PathBuf,
}

/// `stripe study table`.
#[derive(Debug, Args)]
pub struct StudyTableOptions {
    /// The folder of the results.
    pub results: PathBuf,
    /// In which form.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TableFormat,
    /// The count of lines that are tied with a faulty one.
    #[arg(long, value_enum, default_value_t, value_name = "RULE")]
    pub ties: TieChoice,
    /// A row for each group as well.
    #[arg(long)]
    pub groups: bool,
}

/// A form of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For READMEs.
    #[default]
    Markdown,
    /// For papers; needs the packages booktabs and longtable.
    Latex,
    /// A row for each fault and technique, for R, pandas and polars.
    Csv,
    /// A row for each fault, technique and line.
    LinesCsv,
    /// A row for each fault, slice and event that the slice names.
    EventsCsv,
}

/// The count of lines that are tied with a faulty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TieChoice {
    /// The faulty line is read first.
    Best,
    /// On average over all orders.
    #[default]
    Average,
    /// It is read last.
    Worst,
}

/// `stripe study report`.
#[derive(Debug, Args)]
pub struct StudyReportOptions {
    /// The folder of the results.
    pub results: PathBuf,
    /// The page.
    #[arg(long, value_name = "FILE", required_unless_present = "plots")]
    pub html: Option<PathBuf>,
    /// Write the plots into this folder, as SVG.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Overwrite what --html names.
    #[arg(long)]
    pub force: bool,
}

/// `stripe study export`.
#[derive(Debug, Args)]
pub struct StudyExportOptions {
    /// The folder of the results.
    pub results: PathBuf,
    /// For which tools.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// The folder to write to.
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Spectra by statement instead of by line.
    #[arg(long)]
    pub by_statement: bool,
}

/// A format of spectra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// GZoltar: a folder for each fault with spectra.csv, matrix.txt and tests.csv.
    Gzoltar,
    /// TCM, as flitsr reads it: a file for each fault.
    Tcm,
    /// The results for R, pandas and polars: results.csv, lines.csv and events.csv.
    Csv,
}

/// `stripe study import`.
#[derive(Debug, Args)]
pub struct StudyImportOptions {
    /// The folder of the results.
    pub results: PathBuf,
    /// The form of what is imported.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: ImportFormat,
    /// The folder to read from: a file or a folder for each fault, by its name.
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// The name of the tool in tables.
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    pub name: String,
}

/// The forms in which other tools write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// Spectra of GZoltar: FAULT/spectra.csv, tests.csv and matrix.txt.
    Gzoltar,
    /// A test coverage matrix, FAULT.tcm.
    Tcm,
    /// A ranking, FAULT.csv or FAULT.ranking, or a folder FAULT of such files.
    Ranking,
}

/// It becomes a part of file names.
fn plain_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let parses = study::technique::Technique::parse(text).is_ok();
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(is_plain) && !parses {
        true => Ok(text.to_owned()),
        false => Err("take letters, digits, _, - and ., and none of the names of stripe's techniques".into()),
    }
}

/// `stripe study verify`.
#[derive(Debug, Args)]
pub struct StudyVerifyOptions {
    /// The folder of the results.
    pub results: PathBuf,
    /// The number of results made again.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub sample: usize,
    /// Chooses the sample; the same number, the same sample.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// `stripe study init`.
#[derive(Debug, Args)]
pub struct StudyInitOptions {
    /// A folder with a folder for each program: its C files, and in/ and out/, or NAME.in and NAME.out. Or one that a
    /// known suite lies in: Siemens/SIR, Codeflaws, ITSP, BugsC++, DBGBench.
    pub folder: PathBuf,
    /// The manifest to write; without, faults.toml in that folder.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `stripe study submit`.
#[derive(Debug, Args)]
pub struct StudySubmitOptions {
    /// The manifest: .toml, .csv or .jsonl.
    pub manifest: PathBuf,
    /// The folder of the results, which all machines must see under this name.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The scheduler that runs the parts.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: SubmitEngine,
    /// The number of parts.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub nodes: u16,
    /// The number of faults each part works on at the same time.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Machines for GNU parallel, as its --sshlogin takes them.
    #[arg(long, value_name = "LIST")]
    pub sshlogin: Option<String>,
    /// Print what would be done.
    #[arg(long)]
    pub dry_run: bool,
}

/// The schedulers that run the parts of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubmitEngine {
    /// An array of jobs, by sbatch.
    Slurm,
    /// GNU parallel, here or over ssh.
    Parallel,
    /// Processes on this machine.
    Local,
}

/// `stripe study cover`.
#[derive(Debug, Args)]
pub struct StudyCoverOptions {
    /// The manifest.
    pub manifest: PathBuf,
    /// The fault.
    pub fault: String,
    /// The folder where it was built.
    #[arg(long, value_name = "DIR")]
    pub built: PathBuf,
}

/// `stripe study child`.
#[derive(Debug, Args)]
pub struct StudyChildOptions {
    /// The words of the other command line.
    #[arg(last = true)]
    pub words: Vec<OsString>,
}
