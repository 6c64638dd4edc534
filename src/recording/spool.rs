//! A temporary file that grows at its end and is read from its beginning: what a long run keeps outside of memory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::RecordingError;

/// Written and read in blocks of so many bytes.
const BLOCK: usize = 256 << 10;

/// The file. It is gone when this is dropped, and on Unix when the program ends in any way.
#[derive(Debug)]
pub(super) struct Spool {
    path: PathBuf,
    file: Mutex<File>,
    /// Bytes in the file, and bytes that follow them.
    written: u64,
    pending: Vec<u8>,
}

impl Spool {
    /// An empty file at `path`, in place of one that may be there.
    pub(super) fn create(path: &Path) -> Result<Self, RecordingError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path);
        let file = file.map_err(|source| RecordingError::write(path, source))?;
        // The open file stays, without a name.
        #[cfg(unix)]
        fs::remove_file(path).map_err(|source| RecordingError::write(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            written: 0,
            pending: Vec::new(),
        })
    }

    fn fault(&self, source: io::Error) -> RecordingError {
        RecordingError::write(&self.path, source)
    }

    /// Appends what `fill` adds to the bytes.
    pub(super) fn append(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), RecordingError> {
        fill(&mut self.pending);
        if self.pending.len() < BLOCK {
            return Ok(());
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let put = file.seek(SeekFrom::Start(self.written));
        let put = put.and_then(|_| file.write_all(&self.pending));
        put.map_err(|source| RecordingError::write(&self.path, source))?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Reads from the beginning.
    pub(super) fn reader(&self) -> SpoolReader<'_> {
        SpoolReader {
            spool: self,
            next: 0,
            block: Vec::new(),
            at: 0,
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if cfg!(not(unix)) {
            let _gone = fs::remove_file(&self.path);
        }
    }
}

/// A place in a spool.
pub(super) struct SpoolReader<'a> {
    spool: &'a Spool,
    /// Where the block ends.
    next: u64,
    block: Vec<u8>,
    at: usize,
}

impl SpoolReader<'_> {
    /// The next bytes, `into.len()` of them.
    pub(super) fn read(&mut self, mut into: &mut [u8]) -> Result<(), RecordingError> {
        while !into.is_empty() {
            if self.at == self.block.len() {
                self.fill()?;
            }
            let n = into.len().min(self.block.len() - self.at);
            into[..n].copy_from_slice(&self.block[self.at..self.at + n]);
            self.at += n;
            into = &mut into[n..];
        }
        Ok(())
    }

    /// Leaves out bytes.
    pub(super) fn skip(&mut self, n: u64) {
        let left = (self.block.len() - self.at) as u64;
        if n <= left {
            self.at += n as usize;
            return;
        }
        self.next += n - left;
        self.block.clear();
        self.at = 0;
    }

    fn fill(&mut self) -> Result<(), RecordingError> {
        let spool = self.spool;
        self.at = 0;
        if let Some(ahead) = self.next.checked_sub(spool.written) {
            self.block.clear();
            let rest = spool.pending.get(ahead as usize..).unwrap_or_default();
            if rest.is_empty() {
                return Err(spool.fault(io::ErrorKind::UnexpectedEof.into()));
            }
            self.block.extend_from_slice(rest);
        } else {
            let n = (spool.written - self.next).min(BLOCK as u64);
            self.block.resize(n as usize, 0);
            let mut file = spool.file.lock().unwrap_or_else(PoisonError::into_inner);
            let got = file.seek(SeekFrom::Start(self.next));
            got.and_then(|_| file.read_exact(&mut self.block))
                .map_err(|source| spool.fault(source))?;
        }
        self.next += self.block.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_read_back_in_order_and_skipped_exactly() {
        let path = std::env::temp_dir().join(format!("pliant-spool-{}", std::process::id()));
        let mut spool = Spool::create(&path).expect("writable");
        let n = 300_000_u32;
        for k in 0..n {
            spool
                .append(|bytes| bytes.extend(k.to_le_bytes()))
                .expect("written");
        }
        assert!(spool.written > 0 && !spool.pending.is_empty());
        for stride in [1_u32, 7, 100_000] {
            let mut reader = spool.reader();
            for k in (0..n).step_by(stride as usize) {
                let mut bytes = [0; 4];
                reader.read(&mut bytes).expect("there");
                assert_eq!(u32::from_le_bytes(bytes), k);
                reader.skip(4 * (u64::from(stride) - 1));
            }
        }
        let mut reader = spool.reader();
        reader.skip(4 * u64::from(n));
        assert!(reader.read(&mut [0]).is_err(), "nothing follows");
        drop(spool);
        assert!(!path.exists());
    }
}
