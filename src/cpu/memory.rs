//! Zeroed memory from the system, fallible and page-aligned.

use std::ptr::NonNull;

use crate::error::{Error, Result, Status};

/// An owned mapping, or a borrowed range of the caller's.
#[derive(Debug)]
pub struct Memory {
    pointer: NonNull<u8>,
    size: usize,
    owned: bool,
}

// SAFETY: a Memory is an address range; who may touch its bytes is decided by the lock of its owner.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Regions from this size on ask for huge pages: graphs miss the TLB otherwise.
const HUGE: usize = 4 << 20;

impl Memory {
    /// A zeroed mapping; `status` is the error's when there is no room.
    pub fn zeroed(size: u64, status: Status) -> Result<Memory> {
        let physical = physical_bytes();
        let refused = |why: String| Error::new(status, format!("no room for {size} bytes: {why}"));
        let bytes = match usize::try_from(size) {
            Ok(bytes) if size <= physical => bytes,
            _ => {
                return Err(refused(format!(
                    "this machine has {physical} bytes of memory"
                )));
            }
        };
        if bytes == 0 {
            return Ok(Memory {
                pointer: NonNull::dangling(),
                size: 0,
                owned: false,
            });
        }
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches nothing that exists.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            let os = std::io::Error::last_os_error();
            return Err(refused(os.to_string()).with_native_code(os.raw_os_error().unwrap_or(0)));
        }
        if bytes >= HUGE {
            // SAFETY: the range was mapped just above; the advice changes no contents.
            unsafe { libc::madvise(address, bytes, libc::MADV_HUGEPAGE) };
        }
        let pointer = NonNull::new(address.cast()).ok_or_else(|| refused("null mapping".into()))?;
        Ok(Memory {
            pointer,
            size: bytes,
            owned: true,
        })
    }

    /// The caller's memory; not freed on drop.
    ///
    /// # Safety
    /// The range is valid for reads and writes for the life of the result.
    pub unsafe fn borrowed(pointer: NonNull<u8>, size: usize) -> Memory {
        Memory {
            pointer,
            size,
            owned: false,
        }
    }

    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    pub fn len(&self) -> usize {
        self.size
    }
}

impl crate::backend::HostMemory for Memory {
    fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: `zeroed` mapped exactly this range and nobody else unmaps it.
            unsafe { libc::munmap(self.pointer.as_ptr().cast(), self.size) };
        }
    }
}

/// Bytes of physical memory; 0 if the system does not say.
pub fn physical_bytes() -> u64 {
    // SAFETY: sysconf reads no memory of ours.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    match (u64::try_from(pages), u64::try_from(page)) {
        (Ok(pages), Ok(page)) => pages.saturating_mul(page),
        _ => 0,
    }
}
