//! Say what the user lets runs do to the world, and what that means for the answer.

use std::path::PathBuf;

use tracer::invocation::{Network, Permissions, Shelter};

use super::choices::Allowance;
use super::exit::{Exit, Failure};
use super::options::TargetOptions;

/// What the user lets runs do to the world.
pub(super) fn permissions(options: &TargetOptions) -> Result<Permissions, Failure> {
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
        shelter: if options.no_sandbox { Shelter::None } else { Shelter::Sandbox },
        network: match options.allow.contains(&Allowance::Network) {
            true => Network::Allowed,
            false => Network::Denied,
        },
        writable: options.allow_write.iter().map(directory).collect::<Result<_, _>>()?,
    })
}

/// What runs were allowed to do to the world.
pub(super) fn openings(permissions: &Permissions) -> Vec<String> {
    if permissions.shelter == Shelter::None {
        let given_up = "runs were not contained (--no-sandbox): what they did to files, processes and the network is real";
        let inconstant = "time, chance and process numbers were not made constant, because seccomp is refused: what depends on them differs from run to run";
        let inconstant = (!tracer::can_answer()).then_some(inconstant);
        return [given_up].into_iter().chain(inconstant).map(str::to_owned).collect();
    }
    let network = (permissions.network == Network::Allowed)
        .then(|| "runs could use the network (--allow network): what they sent is real".to_owned());
    let writable = permissions.writable.iter().map(|directory| {
        format!(
            "runs could change files in {} (--allow-write): what they did there is real",
            directory.display()
        )
    });
    network.into_iter().chain(writable).collect()
}
