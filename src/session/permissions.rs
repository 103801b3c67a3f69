//! Warn about what runs were allowed to do to the world, and what that means for the answer.

use tracer::invocation::{Network, Permissions, SandboxMode};

/// Warnings about what runs were allowed to do to the world.
pub fn openings(permissions: &Permissions) -> Vec<String> {
    if permissions.sandbox_mode == SandboxMode::None {
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
