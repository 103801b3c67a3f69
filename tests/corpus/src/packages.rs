//! Ask cargo where the packages are that bundle the C sources.
//!
//! `cargo metadata` downloads what is missing, as every build does, and runs no build script.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::compile::output_of;

/// The folder of this package.
pub(crate) const HOME: &str = env!("CARGO_MANIFEST_DIR");

/// What cargo knows about this package.
struct Metadata {
    target: PathBuf,
    /// The folder of each dependency, by its name.
    dependencies: BTreeMap<String, PathBuf>,
}

/// The folder of a package that this one depends on.
///
/// # Errors
/// If cargo cannot download it, or it is no dependency.
pub(crate) fn package_folder(name: &str) -> Result<&'static Path> {
    let folder = metadata()?.dependencies.get(name);
    Ok(folder.with_context(|| format!("{name} is no dependency of the corpus: name it in its Cargo.toml"))?)
}

/// Cargo's target folder.
///
/// # Errors
/// As for [`package_folder`].
pub(crate) fn target_folder() -> Result<&'static Path> {
    Ok(&metadata()?.target)
}

/// Asks cargo once in the life of the process.
fn metadata() -> Result<&'static Metadata> {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    if let Some(metadata) = METADATA.get() {
        return Ok(metadata);
    }
    let metadata = ask_cargo().context("cannot learn from cargo where the C sources are")?;
    Ok(METADATA.get_or_init(|| metadata))
}

fn ask_cargo() -> Result<Metadata> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(HOME);
    let text = output_of(&mut command)?;
    parse(&serde_json::from_slice(&text)?).context("the answer of cargo metadata lacks a part")
}

fn parse(answer: &Value) -> Option<Metadata> {
    let resolve = &answer["resolve"];
    let is_ours = |node: &&Value| node["id"] == resolve["root"];
    let ids = resolve["nodes"].as_array()?.iter().find(is_ours)?["dependencies"].as_array()?;
    let packages = answer["packages"].as_array()?.iter().filter(|package| ids.contains(&package["id"]));
    let dependencies = packages.map(name_and_folder).collect::<Option<_>>()?;
    Some(Metadata { target: answer["target_directory"].as_str()?.into(), dependencies })
}

fn name_and_folder(package: &Value) -> Option<(String, PathBuf)> {
    let manifest = Path::new(package["manifest_path"].as_str()?);
    Some((package["name"].as_str()?.to_owned(), manifest.parent()?.to_owned()))
}
