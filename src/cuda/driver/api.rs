//! The driver's functions that we use, looked up by name.
//!
//! They return plain integers: a code of a newer driver would not be a valid value of cudarc's enum.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmemPoolProps, CUmemoryPool, CUmodule,
    CUstream,
};
use libloading::Library;

macro_rules! api {
    (
        required { $($name:ident = $symbol:literal ($($arg:ty),*);)* }
        optional { $($maybe:ident = $maybe_symbol:literal ($($maybe_arg:ty),*);)* }
    ) => {
        /// Addresses of the driver's functions; they stay valid, as the driver is never unloaded.
        #[derive(Clone, Copy)]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> c_int,)*
            $(pub $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> c_int>,)*
        }

        impl Api {
            /// Finds every function, or gives the name of the first that is missing.
            pub fn of(library: &Library) -> Result<Api, &'static str> {
                Ok(Api {
                    $($name: {
                        // SAFETY: the type is that of the driver's function of this name.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) -> c_int>($symbol)
                        };
                        *found.map_err(|_| name($symbol))?
                    },)*
                    $($maybe: {
                        // SAFETY: as above.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($maybe_arg),*) -> c_int>($maybe_symbol)
                        };
                        found.ok().map(|found| *found)
                    },)*
                })
            }
        }
    };
}

api! {
    required {
        init = c"cuInit"(c_uint);
        driver_get_version = c"cuDriverGetVersion"(*mut c_int);
        get_error_name = c"cuGetErrorName"(c_int, *mut *const c_char);
        get_error_string = c"cuGetErrorString"(c_int, *mut *const c_char);
        device_get_count = c"cuDeviceGetCount"(*mut c_int);
        device_get = c"cuDeviceGet"(*mut CUdevice, c_int);
        device_get_name = c"cuDeviceGetName"(*mut c_char, c_int, CUdevice);
        device_get_attribute = c"cuDeviceGetAttribute"(*mut c_int, c_int, CUdevice);
        device_total_mem = c"cuDeviceTotalMem_v2"(*mut usize, CUdevice);
        primary_ctx_retain = c"cuDevicePrimaryCtxRetain"(*mut CUcontext, CUdevice);
        primary_ctx_release = c"cuDevicePrimaryCtxRelease_v2"(CUdevice);
        ctx_push_current = c"cuCtxPushCurrent_v2"(CUcontext);
        ctx_pop_current = c"cuCtxPopCurrent_v2"(*mut CUcontext);
        ctx_get_current = c"cuCtxGetCurrent"(*mut CUcontext);
        mem_alloc = c"cuMemAlloc_v2"(*mut CUdeviceptr, usize);
        mem_get_info = c"cuMemGetInfo_v2"(*mut usize, *mut usize);
        mem_free = c"cuMemFree_v2"(CUdeviceptr);
        mem_host_alloc = c"cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
        mem_free_host = c"cuMemFreeHost"(*mut c_void);
        mem_host_get_device_pointer = c"cuMemHostGetDevicePointer_v2"(*mut CUdeviceptr, *mut c_void, c_uint);
        memcpy_htod_async = c"cuMemcpyHtoDAsync_v2"(CUdeviceptr, *const c_void, usize, CUstream);
        memcpy_dtoh_async = c"cuMemcpyDtoHAsync_v2"(*mut c_void, CUdeviceptr, usize, CUstream);
        memcpy_dtod_async = c"cuMemcpyDtoDAsync_v2"(CUdeviceptr, CUdeviceptr, usize, CUstream);
        memset_d8_async = c"cuMemsetD8Async"(CUdeviceptr, u8, usize, CUstream);
        memset_d32_async = c"cuMemsetD32Async"(CUdeviceptr, c_uint, usize, CUstream);
        pointer_get_attribute = c"cuPointerGetAttribute"(*mut c_void, c_int, CUdeviceptr);
        mem_get_address_range = c"cuMemGetAddressRange_v2"(*mut CUdeviceptr, *mut usize, CUdeviceptr);
        stream_create = c"cuStreamCreate"(*mut CUstream, c_uint);
        stream_destroy = c"cuStreamDestroy_v2"(CUstream);
        stream_synchronize = c"cuStreamSynchronize"(CUstream);
        stream_query = c"cuStreamQuery"(CUstream);
        stream_wait_event = c"cuStreamWaitEvent"(CUstream, CUevent, c_uint);
        event_create = c"cuEventCreate"(*mut CUevent, c_uint);
        event_destroy = c"cuEventDestroy_v2"(CUevent);
        event_record = c"cuEventRecord"(CUevent, CUstream);
        event_query = c"cuEventQuery"(CUevent);
        event_synchronize = c"cuEventSynchronize"(CUevent);
        event_elapsed_time = c"cuEventElapsedTime"(*mut f32, CUevent, CUevent);
        module_load_data_ex = c"cuModuleLoadDataEx"(*mut CUmodule, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
        module_unload = c"cuModuleUnload"(CUmodule);
        module_get_function = c"cuModuleGetFunction"(*mut CUfunction, CUmodule, *const c_char);
        module_get_global = c"cuModuleGetGlobal_v2"(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char);
        func_get_attribute = c"cuFuncGetAttribute"(*mut c_int, c_int, CUfunction);
        func_set_attribute = c"cuFuncSetAttribute"(CUfunction, c_int, c_int);
        occupancy = c"cuOccupancyMaxActiveBlocksPerMultiprocessor"(*mut c_int, CUfunction, c_int, usize);
        launch_kernel = c"cuLaunchKernel"(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void);
        launch_cooperative_kernel = c"cuLaunchCooperativeKernel"(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void);
    }
    optional {
        // 11.2 and newer.
        mem_pool_create = c"cuMemPoolCreate"(*mut CUmemoryPool, *const CUmemPoolProps);
        mem_pool_destroy = c"cuMemPoolDestroy"(CUmemoryPool);
        mem_pool_set_attribute = c"cuMemPoolSetAttribute"(CUmemoryPool, c_int, *mut c_void);
        mem_pool_get_attribute = c"cuMemPoolGetAttribute"(CUmemoryPool, c_int, *mut c_void);
        mem_pool_trim_to = c"cuMemPoolTrimTo"(CUmemoryPool, usize);
        mem_alloc_from_pool_async = c"cuMemAllocFromPoolAsync"(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
        mem_free_async = c"cuMemFreeAsync"(CUdeviceptr, CUstream);
        // 12.4 and newer.
        func_get_param_info = c"cuFuncGetParamInfo"(CUfunction, usize, *mut usize, *mut usize);
    }
}

/// A symbol's name to show.
fn name(symbol: &'static CStr) -> &'static str {
    symbol.to_str().unwrap_or("a symbol")
}
