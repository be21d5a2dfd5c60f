//! Modules, functions, launches.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::entry::{INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NOT_FOUND, SUCCESS, driver, put};
use crate::module::{
    BLOCK_THREADS, FUNCTIONS, MODULES, REGISTERS_EACH, SHARED_FIXED, SHARED_MOST, load,
};
use crate::stream::synchronise_all;

const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_SIZE: c_int = 6;

const FUNC_MAX_THREADS: c_int = 0;
const FUNC_SHARED: c_int = 1;
const FUNC_LOCAL: c_int = 3;
const FUNC_REGISTERS: c_int = 4;
const FUNC_MAX_DYNAMIC: c_int = 8;

/// A caller's text; `None` if it is not any.
fn text<'t>(pointer: *const c_char) -> Option<&'t str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: what callers of the driver pass as names and as PTX ends with a NUL, and lives for the call.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

/// Writes the assembler's log where the options say.
fn write_log(log: &str, count: c_uint, options: *mut c_int, values: *mut *mut c_void) {
    let value = |wanted: c_int| {
        (0..count as usize).find_map(|n| {
            // SAFETY: there are as many options and values as is said.
            unsafe { (options.add(n).read() == wanted).then(|| values.add(n).read()) }
        })
    };
    let (Some(to), Some(room)) = (value(JIT_ERROR_LOG_BUFFER), value(JIT_ERROR_LOG_SIZE)) else {
        return;
    };
    let length = log.len().min((room as usize).saturating_sub(1));
    // SAFETY: the buffer has as much room as the other option says.
    unsafe {
        to.cast::<u8>()
            .copy_from_nonoverlapping(log.as_ptr(), length);
        to.cast::<u8>().add(length).write(0);
    }
}

driver! {
    Context fn cuModuleLoadDataEx(place: *mut usize, image: *const c_char, count: c_uint, options: *mut c_int, values: *mut *mut c_void) {
        let Some(text) = text(image) else {
            return INVALID_IMAGE;
        };
        match load(text) {
            Ok(module) => put(place, MODULES.add(Arc::new(module))),
            Err((code, log)) => {
                write_log(&log, count, options, values);
                code
            }
        }
    }

    Release fn cuModuleUnload(module: usize) {
        synchronise_all();
        FUNCTIONS.retain(|function| function.module != module);
        MODULES.remove(module).map_or(INVALID_HANDLE, |_| SUCCESS)
    }

    Context fn cuModuleGetFunction(place: *mut usize, module: usize, name: *const c_char) {
        let (Some(found), Some(name)) = (MODULES.get(module), text(name)) else {
            return INVALID_HANDLE;
        };
        match found.function(module, name) {
            Some(function) => put(place, FUNCTIONS.add(Arc::new(function))),
            None => NOT_FOUND,
        }
    }

    Context fn cuModuleGetGlobal_v2(address: *mut u64, size: *mut usize, module: usize, name: *const c_char) {
        let (Some(found), Some(name)) = (MODULES.get(module), text(name)) else {
            return INVALID_HANDLE;
        };
        match found.variables.get(name) {
            Some(&(at, bytes)) => {
                put(address, at);
                put(size, bytes)
            }
            None => NOT_FOUND,
        }
    }

    Context fn cuFuncGetAttribute(value: *mut c_int, which: c_int, function: usize) {
        let Some(function) = FUNCTIONS.get(function) else {
            return INVALID_HANDLE;
        };
        let found = match which {
            FUNC_MAX_THREADS => BLOCK_THREADS,
            FUNC_SHARED => function.kernel.shared as u32,
            FUNC_LOCAL => function.kernel.local as u32,
            FUNC_REGISTERS => REGISTERS_EACH,
            _ => return INVALID_VALUE,
        };
        put(value, found as c_int)
    }

    Context fn cuFuncSetAttribute(function: usize, which: c_int, value: c_int) {
        let Some(function) = FUNCTIONS.get(function) else {
            return INVALID_HANDLE;
        };
        let most = SHARED_MOST.saturating_sub(function.kernel.shared as u32);
        match u32::try_from(value) {
            Ok(bytes) if which == FUNC_MAX_DYNAMIC && bytes <= most => {
                function.dynamic_most.store(bytes.max(SHARED_FIXED), SeqCst);
                SUCCESS
            }
            _ => INVALID_VALUE,
        }
    }

    Context fn cuFuncGetParamInfo(function: usize, index: usize, offset: *mut usize, size: *mut usize) {
        let Some(function) = FUNCTIONS.get(function) else {
            return INVALID_HANDLE;
        };
        match function.kernel.parameters.get(index) {
            Some(&(at, bytes)) => {
                put(offset, at);
                put(size, bytes)
            }
            None => INVALID_VALUE,
        }
    }

    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessor(place: *mut c_int, function: usize, threads: c_int, dynamic: usize) {
        match FUNCTIONS.get(function) {
            Some(function) => put(place, function.occupancy(threads as u32, dynamic as u32) as c_int),
            None => INVALID_HANDLE,
        }
    }

    Context fn cuLaunchKernel(function: usize, x: c_uint, y: c_uint, z: c_uint, w: c_uint, h: c_uint, d: c_uint, dynamic: c_uint, stream: usize, parameters: *mut *mut u8, _extra: *mut *mut c_void) {
        launch(function, [x, y, z], [w, h, d], dynamic, stream, parameters, false)
    }

    Context fn cuLaunchCooperativeKernel(function: usize, x: c_uint, y: c_uint, z: c_uint, w: c_uint, h: c_uint, d: c_uint, dynamic: c_uint, stream: usize, parameters: *mut *mut u8) {
        launch(function, [x, y, z], [w, h, d], dynamic, stream, parameters, true)
    }
}

fn launch(
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic: u32,
    stream: usize,
    parameters: *mut *mut u8,
    cooperative: bool,
) -> c_int {
    let Some(function) = FUNCTIONS.get(function) else {
        return INVALID_HANDLE;
    };
    let launched = function.launch(grid, block, dynamic, stream, parameters, cooperative);
    launched.map_or_else(|code| code, |()| SUCCESS)
}
