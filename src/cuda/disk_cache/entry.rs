//! The bytes of a file: who wrote it, for which key, and a digest that holds the content to what was written.

use sha2::{Digest, Sha256};

use super::key::{DIGEST_SIZE, Key};

const MAGIC: &[u8; 8] = b"vyre-ptx";
/// Of what stands here and in `codec`.
const FORMAT: u32 = 1;
/// Zeros fill it up.
const VERSION_SIZE: usize = 28;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const _: () = assert!(VERSION.len() <= VERSION_SIZE);

pub const HEADER_SIZE: usize = MAGIC.len() + 4 + VERSION_SIZE + DIGEST_SIZE + 8 + DIGEST_SIZE;

/// Everything but the content: what an entry of this key, length and digest starts with.
fn header(key: &Key, content: &[u8]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER_SIZE + content.len());
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&FORMAT.to_le_bytes());
    let mut version = [0; VERSION_SIZE];
    version[..VERSION.len()].copy_from_slice(VERSION.as_bytes());
    header.extend_from_slice(&version);
    header.extend_from_slice(key.bytes());
    header.extend_from_slice(&(content.len() as u64).to_le_bytes());
    header.extend_from_slice(&Sha256::digest(content));
    header
}

pub fn seal(key: &Key, content: &[u8]) -> Vec<u8> {
    let mut bytes = header(key, content);
    bytes.extend_from_slice(content);
    bytes
}

/// The content, if `bytes` is just what `seal` makes of it.
pub fn open<'b>(key: &Key, bytes: &'b [u8]) -> Result<&'b [u8], String> {
    let Some((seen, content)) = bytes.split_at_checked(HEADER_SIZE) else {
        return Err(format!(
            "it ends within its header, at byte {}",
            bytes.len()
        ));
    };
    let expected = header(key, content);
    match seen.iter().zip(&expected).position(|(a, b)| a != b) {
        None => Ok(content),
        Some(at) => Err(format!("its {} is not the one expected", part(at))),
    }
}

/// Which part of the header a byte belongs to.
fn part(at: usize) -> &'static str {
    let mut end = 0;
    let parts = [
        (MAGIC.len(), "first word"),
        (4, "format"),
        (VERSION_SIZE, "version"),
        (DIGEST_SIZE, "key"),
        (8, "length"),
    ];
    for (size, name) in parts {
        end += size;
        if at < end {
            return name;
        }
    }
    "digest"
}
