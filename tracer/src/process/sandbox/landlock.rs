//! Landlock rules: they keep runs from changing files and from reaching other processes.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

/// Device files that do nothing lasting.
const HARMLESS: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The ruleset that keeps signals and abstract sockets inside; `None` on kernels before 6.12, where the guard decides
/// about both.
pub(super) fn scope() -> Option<OwnedFd> {
    let root = PathFd::new("/").ok()?;
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::MakeBlock | AccessFs::Refer)
        .and_then(|rules| rules.scope(Scope::Signal | Scope::AbstractUnixSocket))
        .and_then(Ruleset::create)
        // Each ruleset forbids to move and to link files into other folders, whether it handles that or not
        // (landlock(7), LANDLOCK_ACCESS_FS_REFER): it has to be allowed everywhere.
        .and_then(|rules| rules.add_rule(PathBeneath::new(root, AccessFs::Refer)));
    rules.ok().and_then(Option::<OwnedFd>::from)
}

/// The ruleset by which files are changed below `places` only.
///
/// # Errors
/// On kernels before 6.2, or without Landlock.
pub(super) fn writing_only_below(places: &[PathBuf]) -> io::Result<Option<OwnedFd>> {
    rules(places).map_err(|error| match error {
        // It would list all that is missing.
        RulesetError::HandleAccesses(_) => io::Error::other("no Landlock as of Linux 6.2 or later"),
        error => io::Error::other(format!("Landlock: {error}")),
    })
}

fn rules(places: &[PathBuf]) -> Result<Option<OwnedFd>, RulesetError> {
    let all = AccessFs::from_write(ABI::V3);
    // The access rights that only newer kernels know; elsewhere the guard sees to them.
    let more = AccessFs::IoctlDev | AccessFs::ResolveUnix;
    let harmless = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(more)?
        .create()?;
    let harmless = HARMLESS.iter().map(|path| (PathBuf::from(path), harmless));
    let allowed: Vec<(PathBuf, BitFlags<AccessFs>)> =
        places.iter().map(|place| (place.clone(), all | more)).chain(harmless).collect();
    for (path, access) in allowed {
        // A place that does not exist cannot be changed.
        if let Ok(file) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(rules.into())
}
