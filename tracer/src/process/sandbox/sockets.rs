//! Find out whose an abstract socket is, unix(7), where the kernel does not keep those of a run apart.
//!
//! Source: proc(5), net(5).

use std::fs;
use std::io;
use std::path::Path;

use nix::unistd::Pid;

/// The numbers of the sockets with this abstract name in the world of a process. The kernel tells zero bytes as
/// `@`, so that some may be of another name.
///
/// # Errors
/// If the process hides its folder.
pub(super) fn abstract_sockets(process: Pid, name: &[u8]) -> io::Result<Vec<u64>> {
    let told = fs::read(format!("/proc/{process}/net/unix"))?;
    Ok(sockets_of(&told, name))
}

/// Whether this process has the socket open.
pub(super) fn holds(process: i32, socket: u64) -> bool {
    let link = format!("socket:[{socket}]");
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files
        .map(|file| fs::read_link(file.path()))
        .any(|target| target.is_ok_and(|file| file == Path::new(&link)))
}

/// A line has six words, the number of the socket and its name.
fn sockets_of(told: &[u8], name: &[u8]) -> Vec<u64> {
    let name: Vec<u8> = name.iter().map(|&byte| if byte == 0 { b'@' } else { byte }).collect();
    let socket = |line: &[u8]| {
        let mut rest = line.trim_ascii_start();
        let mut number = 0;
        for _ in 0..7 {
            let end = rest.iter().position(|&byte| byte == b' ')?;
            number = str::from_utf8(&rest[..end]).ok()?.parse().unwrap_or(0);
            // Only numbers are padded.
            rest = rest[end..].trim_ascii_start();
        }
        (rest == name).then_some(number)
    };
    told.split(|&byte| byte == b'\n').filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    use super::*;

    #[test]
    fn sockets_are_found_by_their_name_with_zeros_and_spaces_and_nothing_is_by_half_of_it() {
        let told = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            ffff: 00000002 00000000 00010000 0001 01 12 @a b@c\n\
            ffff: 00000002 00000000 00010000 0001 01 345 @a\n\
            ffff: 00000003 00000000 00000000 0001 03 6\n\
            ffff: 00000002 00000000 00010000 0001 01 78 /run/socket\n";
        assert_eq!(sockets_of(told, b"\0a b\0c"), [12]);
        assert_eq!(sockets_of(told, b"\0a"), [345]);
        assert_eq!(sockets_of(told, b"\0b"), [0; 0]);
        assert_eq!(sockets_of(told, b"\0"), [0; 0]);
    }

    #[test]
    fn the_holder_of_a_socket_is_found() {
        let name = format!("stripe \0 {}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let listener = UnixListener::bind_addr(&address).expect("bound");
        let data = fs::metadata(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener)));
        let number = data.expect("there").ino();
        let found = abstract_sockets(Pid::this(), format!("\0{name}").as_bytes()).expect("told");
        assert_eq!(found, [number]);
        assert!(holds(Pid::this().as_raw(), number) && !holds(1, number));
    }
}
