//! Write the seeds of a target into a folder: `seeds TARGET FOLDER`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [target, folder] = &words[..] else {
        eprintln!("seeds: name a target and a folder");
        return ExitCode::from(2);
    };
    match stripe_fuzz::seeds::write_all(target, Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("seeds: {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
