//! Reads files that users name, within limits: regular files of a bounded size, and, if allowed, pipes such as a shell
//! makes for `<(…)`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

/// The longest that a pipe may be silent.
const PIPE_TIMEOUT: Duration = Duration::from_secs(30);
/// The size of one read from a pipe.
const CHUNK: usize = 64 << 10;
/// The limit for a configuration, certificate or key, in bytes.
pub const SMALL: u64 = 4 << 20;

/// Whether a pipe is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipes {
    /// Yes, once, until its writers close it.
    Read,
    /// No: a file that is read repeatedly cannot be a pipe.
    Refused,
}

/// The bytes of a file.
///
/// # Errors
/// If the file cannot be opened or read, has more than `limit` bytes, or is neither a regular file nor an allowed pipe.
pub fn bytes(path: &Path, limit: u64, pipes: Pipes) -> io::Result<Vec<u8>> {
    // Without NONBLOCK, opening a pipe waits for a writer.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if kind.is_file() {
        if metadata.len() > limit {
            return Err(too_large(limit));
        }
        // The size is not trusted: files grow.
        return limited(&file, limit);
    }
    if kind.is_fifo() && pipes == Pipes::Read {
        return through(&file, limit);
    }
    let what = if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::other(format!("it is {what}, not a file")))
}

/// The text of a file.
///
/// # Errors
/// As for [`bytes()`], or if the file is not UTF-8 text.
pub fn text(path: &Path, limit: u64, pipes: Pipes) -> io::Result<String> {
    String::from_utf8(bytes(path, limit, pipes)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// All bytes of a reader, up to a limit.
///
/// # Errors
/// If the reader fails, or has more than `limit` bytes.
pub fn limited(from: impl io::Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = from.take(limit + 1).read_to_end(&mut bytes)?;
    if length as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// Whether symbolic links lead a path out of its directory. False if that cannot be determined.
pub fn leads_out(path: &Path) -> bool {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match (parent.canonicalize(), path.canonicalize()) {
        (Ok(parent), Ok(real)) => !real.starts_with(parent),
        _ => false,
    }
}

/// A path with all links resolved, or the path itself if that fails.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A file of a directory that a pull request may have written. `None` if links lead it out of the directory.
pub fn within(directory: &Path, name: &str) -> Option<PathBuf> {
    let file = directory.join(name);
    (file.is_file() && !leads_out(&file)).then_some(file)
}

fn through(mut pipe: &File, limit: u64) -> io::Result<Vec<u8>> {
    let patience = Timespec::try_from(PIPE_TIMEOUT).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    let mut piece = vec![0; CHUNK];
    loop {
        let mut asked = [PollFd::new(&pipe, PollFlags::IN)];
        if poll(&mut asked, Some(&patience))? == 0 {
            let seconds = PIPE_TIMEOUT.as_secs();
            return Err(io::Error::other(format!(
                "nothing came through this pipe for {seconds} seconds"
            )));
        }
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(length) => bytes.extend_from_slice(piece.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if bytes.len() as u64 > limit {
            return Err(too_large(limit));
        }
    }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::other(format!("larger than {} MiB", limit >> 20))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{Pipes, SMALL, bytes, leads_out, limited, text, within};

    fn why(path: &Path, pipes: Pipes) -> String {
        bytes(path, SMALL, pipes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(why(&pipe, Pipes::Refused), "it is a pipe, not a file");
        assert_eq!(
            why(dir.path(), Pipes::Read),
            "it is a directory, not a file"
        );
        let zero = Path::new("/dev/zero");
        assert_eq!(why(zero, Pipes::Read), "it is a device, not a file");
        let large = dir.path().join("large");
        fs::File::create(&large)
            .unwrap()
            .set_len(SMALL + 1)
            .unwrap();
        assert_eq!(why(&large, Pipes::Read), "larger than 4 MiB");
        assert!(limited(fs::File::open(zero).unwrap(), 1000).is_err());
        fs::write(&large, b"\xff").unwrap();
        assert!(text(&large, SMALL, Pipes::Read).is_err());
    }

    #[test]
    fn a_pipe_is_read_until_its_writer_goes() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let long = "x".repeat(300_000);
        std::thread::scope(|scope| {
            // Opening the pipe waits for a reader.
            scope.spawn(|| fs::write(&pipe, &long).unwrap());
            assert_eq!(text(&pipe, SMALL, Pipes::Read).unwrap(), long);
        });
    }

    #[test]
    fn a_link_leads_out_of_its_directory_or_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("..data")).unwrap();
        fs::write(path("..data/a.yaml"), "").unwrap();
        symlink("..data/a.yaml", path("a.yaml")).unwrap();
        symlink("/proc/self/environ", path("out.yaml")).unwrap();
        symlink("/proc", path("proc")).unwrap();
        assert!(!leads_out(&path("a.yaml")) && leads_out(&path("out.yaml")));
        assert!(within(dir.path(), "a.yaml").is_some());
        for out in ["out.yaml", "proc", "none.yaml"] {
            assert_eq!(within(dir.path(), out), None, "{out}");
        }
    }
}
