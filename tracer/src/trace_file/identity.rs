//! The identity of a program: whether it is the one that was recorded.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;

use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher128};

use super::bytes::ByteCursor;
use crate::program::{Leader, Program};

/// The identity of a program: what a trace must agree about with it so that its numbers mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The executable, then the traced shared libraries.
    pub images: Vec<ImageIdentity>,
    /// The number of leaders.
    pub leaders: u32,
    /// A hash of the addresses and kinds of the leaders: depends on scope and granularity, and on the version of this
    /// crate.
    pub layout: u64,
}

/// The identity of an image: what tells its content from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageIdentity {
    /// The build id in hexadecimal, where the linker left one.
    pub build_id: Option<String>,
    /// The size of the file in bytes.
    pub size: u64,
    /// A hash of the content of the file.
    pub hash: u128,
}

impl Identity {
    /// The identity of a program whose files are still what was loaded.
    ///
    /// # Errors
    /// If one of its files cannot be read.
    pub fn of(program: &Program) -> io::Result<Identity> {
        let identify = |image: &crate::program::Image| {
            let (size, hash) = content(&image.path)?;
            Ok(ImageIdentity { build_id: image.build_id.clone(), size, hash })
        };
        Ok(Identity {
            images: program.images().iter().map(identify).collect::<io::Result<_>>()?,
            leaders: program.leaders().len() as u32,
            layout: layout(program.leaders()),
        })
    }

    /// The difference of `now`, a program at hand, from this one, in words; `None` if there is none.
    pub fn difference(&self, now: &Identity) -> Option<String> {
        for (number, (then, now)) in self.images.iter().zip(&now.images).enumerate() {
            let which = if number == 0 { "the executable" } else { "a shared library" };
            if then.build_id != now.build_id {
                let id = |image: &ImageIdentity| image.build_id.clone().unwrap_or_else(|| "none".into());
                return Some(format!("{which} has the build id {} instead of {}", id(now), id(then)));
            }
            if then.size != now.size {
                return Some(format!("{which} has {} bytes instead of {}", now.size, then.size));
            }
            if then.hash != now.hash {
                return Some(format!("{which} has another content"));
            }
        }
        let same =
            self.images.len() == now.images.len() && self.leaders == now.leaders && self.layout == now.layout;
        (!same).then(|| {
            "its statements are others, by another --scope, --granularity or version of stripe".to_owned()
        })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.leaders.to_le_bytes());
        bytes.extend(self.layout.to_le_bytes());
        bytes.extend((self.images.len() as u32).to_le_bytes());
        for image in &self.images {
            bytes.extend(image.size.to_le_bytes());
            bytes.extend(image.hash.to_le_bytes());
            let id = image.build_id.as_deref().unwrap_or_default().as_bytes();
            bytes.extend((id.len() as u32).to_le_bytes());
            bytes.extend(id);
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Identity> {
        let mut bytes = ByteCursor(bytes);
        let (leaders, layout, count) = (bytes.u32()?, bytes.u64()?, bytes.u32()?);
        let mut images = Vec::new();
        for _ in 0..count {
            let (size, hash) = (bytes.u64()?, u128::from_le_bytes(bytes.array()?));
            let length = bytes.u32()? as usize;
            let id = String::from_utf8(bytes.take(length)?.to_vec()).ok()?;
            images.push(ImageIdentity { build_id: (!id.is_empty()).then_some(id), size, hash });
        }
        bytes.0.is_empty().then_some(Identity { images, leaders, layout })
    }
}

/// The size and the hash of a file, which may be large.
pub fn content(path: &Path) -> io::Result<(u64, u128)> {
    let mut file = File::open(path)?;
    let mut hasher = SipHasher128::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((size, hasher.finish128().as_u128())),
            count => {
                hasher.write(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}

fn layout(leaders: &[Leader]) -> u64 {
    let mut hasher = SipHasher13::new();
    for leader in leaders {
        hasher.write_u16(leader.image.0);
        hasher.write_u64(leader.address.0);
        hasher.write_u32(leader.function.0);
        hasher.write_u8(leader.kind as u8);
    }
    hasher.finish()
}
