//! Read the permissions of runs from the options.

use std::path::PathBuf;

use tracer::invocation::{Network, Permissions, SandboxMode};

use super::choices::PermissionChoice;
use super::exit::{Exit, Failure};
use super::world_options::WorldOptions;

/// The permissions: what the user lets runs do to the world.
pub(super) fn permissions(options: &WorldOptions) -> Result<Permissions, Failure> {
    let directory = |path: &PathBuf| {
        let unfit = |why: String| {
            Failure::new(
                Exit::Usage,
                format!("{}: {why}; name a directory for --allow-write", path.display()),
            )
        };
        let found = path.canonicalize().map_err(|error| unfit(error.to_string()))?;
        if found.is_dir() { Ok(found) } else { Err(unfit("is not a directory".into())) }
    };
    Ok(Permissions {
        sandbox_mode: if options.no_sandbox { SandboxMode::None } else { SandboxMode::Sandbox },
        network: match options.allow.contains(&PermissionChoice::Network) {
            true => Network::Allowed,
            false => Network::Denied,
        },
        writable: options.allow_write.iter().map(directory).collect::<Result<_, _>>()?,
    })
}
