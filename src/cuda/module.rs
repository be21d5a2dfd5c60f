//! Modules: PTX that the driver has assembled, and the functions in them.

use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use super::context::Entered;
use super::device::Device;
use super::driver::code;
use super::driver::sys::{
    CUdeviceptr, CUfunction, CUfunction_attribute as FunctionAttribute, CUjit_option as JitOption,
    CUmodule,
};
use crate::error::{Error, Result, Status};

/// Bytes of the assembler's log that are kept; it names the first faults.
const LOG_SIZE: usize = 8192;

pub struct Module {
    device: Arc<Device>,
    module: CUmodule,
}

// SAFETY: modules may be used from any thread that has their context current.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// A kernel of a module, which it keeps loaded.
pub struct Function {
    /// Keeps the code loaded.
    _module: Module,
    function: CUfunction,
    pub resources: Resources,
}

// SAFETY: as for modules.
unsafe impl Send for Function {}
// SAFETY: as for modules.
unsafe impl Sync for Function {}

/// What one block of a function takes.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    pub registers: u32,
    /// Bytes declared in the module.
    pub shared: u32,
    pub max_threads: u32,
}

impl Module {
    /// Assembles PTX, or takes what was assembled before. `text` has no zero byte inside.
    pub fn load(device: &Arc<Device>, entered: &Entered<'_>, image: &[u8]) -> Result<Module> {
        let mut terminated = Vec::with_capacity(image.len() + 1);
        terminated.extend_from_slice(image);
        terminated.push(0);
        let mut log = vec![0u8; LOG_SIZE];
        // The driver takes sizes as values in the place of pointers.
        let mut options = [
            JitOption::CU_JIT_ERROR_LOG_BUFFER as c_int,
            JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as c_int,
        ];
        let mut values: [*mut c_void; 2] = [
            log.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(LOG_SIZE - 1),
        ];
        let mut module = null_mut();
        let mut load = || {
            // SAFETY: the image ends with a zero byte, and the options describe the log's room.
            unsafe {
                (entered.api().module_load_data_ex)(
                    &mut module,
                    terminated.as_ptr().cast(),
                    options.len() as u32,
                    options.as_mut_ptr(),
                    values.as_mut_ptr(),
                )
            }
        };
        let code = match load() {
            code::OUT_OF_MEMORY => {
                device.trim();
                load()
            }
            code => code,
        };
        if code != code::SUCCESS {
            return Err(with_log(
                device.context.error(code, "cuModuleLoadDataEx"),
                &log,
            ));
        }
        Ok(Module {
            device: Arc::clone(device),
            module,
        })
    }

    pub fn function(self, entered: &Entered<'_>, name: &str) -> Result<Function> {
        let text = CString::new(name).map_err(|_| {
            Error::new(
                Status::InvalidProgram,
                "the entry point's name has a zero byte inside",
            )
        })?;
        let mut function = null_mut();
        // SAFETY: the place is valid for a write, the name is terminated, the module is loaded.
        let code = unsafe {
            (entered.api().module_get_function)(&mut function, self.module, text.as_ptr())
        };
        if code == code::NOT_FOUND {
            return Err(Error::new(
                Status::InvalidProgram,
                format!("the module has no kernel `{name}`"),
            )
            .with_fix("Pass the name of a `.visible .entry` of the module as entry_point.")
            .with_native_code(code));
        }
        entered.check(code, "cuModuleGetFunction")?;
        let attribute = |attribute: FunctionAttribute| -> Result<u32> {
            let mut value = 0;
            // SAFETY: the place is valid for a write; the function is of a loaded module.
            let code = unsafe {
                (entered.api().func_get_attribute)(&mut value, attribute as c_int, function)
            };
            entered.check(code, "cuFuncGetAttribute")?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let resources = Resources {
            registers: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        Ok(Function {
            _module: self,
            function,
            resources,
        })
    }

    /// Address and size of a variable of the module, if it has one of this name.
    pub fn global(
        &self,
        entered: &Entered<'_>,
        name: &std::ffi::CStr,
    ) -> Result<Option<(CUdeviceptr, u64)>> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: the places are valid for writes, the name is terminated, the module is loaded.
        let code = unsafe {
            (entered.api().module_get_global)(&mut address, &mut size, self.module, name.as_ptr())
        };
        if code == code::NOT_FOUND {
            return Ok(None);
        }
        entered.check(code, "cuModuleGetGlobal")?;
        Ok(Some((address, size as u64)))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(entered) = self.device.context.enter_to_release() {
            // SAFETY: nobody launches from it any more. The driver waits for kernels of it that still run.
            unsafe { (entered.api().module_unload)(self.module) };
        }
    }
}

impl Function {
    pub fn raw(&self) -> CUfunction {
        self.function
    }

    /// Lets blocks have `bytes` of shared memory beyond what a module may declare.
    pub fn allow_dynamic_shared(&self, entered: &Entered<'_>, bytes: u32) -> Result<()> {
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is of a loaded module.
        let code = unsafe {
            (entered.api().func_set_attribute)(self.function, attribute as c_int, bytes as c_int)
        };
        entered.check(code, "cuFuncSetAttribute")
    }

    /// Sizes in bytes of the function's parameters; `None` where the driver does not tell.
    pub fn parameter_sizes(&self, entered: &Entered<'_>) -> Result<Option<Vec<u64>>> {
        let Some(info) = entered.api().func_get_param_info else {
            return Ok(None);
        };
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the places are valid for writes; the function is of a loaded module.
            let code = unsafe { info(self.function, sizes.len(), &mut offset, &mut size) };
            if code == code::INVALID_VALUE {
                // There is no parameter of this number.
                return Ok(Some(sizes));
            }
            entered.check(code, "cuFuncGetParamInfo")?;
            sizes.push(size as u64);
        }
    }

    /// Blocks that one multiprocessor holds at once.
    pub fn occupancy(&self, entered: &Entered<'_>, threads: u32, dynamic: u32) -> Result<u32> {
        let mut blocks = 0;
        // SAFETY: the place is valid for a write; the function is of a loaded module.
        let code = unsafe {
            (entered.api().occupancy)(
                &mut blocks,
                self.function,
                threads as c_int,
                dynamic as usize,
            )
        };
        entered.check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }
}

/// Adds what the assembler wrote.
fn with_log(error: Error, log: &[u8]) -> Error {
    let end = log.iter().position(|&c| c == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let text = text.trim();
    if text.is_empty() {
        return error;
    }
    let message = format!("{}; the assembler says: {text}", error.message());
    let position = line_of(text).map(|line| crate::error::Position { line, column: 1 });
    Error::new(error.status(), message)
        .with_fix(error.fix())
        .with_native_code(error.native_code())
        .with_position(position)
}

/// The line that the assembler's first complaint is about.
fn line_of(log: &str) -> Option<u32> {
    let rest = &log[log.find(", line ")? + ", line ".len()..];
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assemblers_log_is_kept_and_its_line_found() {
        let log = b"ptxas application ptx input, line 12; error   : Unknown symbol 'x'\0rest";
        let error = with_log(Error::new(Status::InvalidProgram, "seen"), log);
        assert!(
            error.message().contains("Unknown symbol 'x'") && !error.message().contains("rest")
        );
        assert_eq!(error.position().unwrap().line, 12);
        assert_eq!(line_of("no place named"), None);
        let bare = with_log(Error::new(Status::InvalidProgram, "seen"), b"\0");
        assert_eq!(bare.message(), "seen");
    }
}
