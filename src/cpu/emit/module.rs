//! Executable memory.

use cranelift_codegen::CodegenError;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError};

use super::abi::SegmentFn;
use super::lanes::Lanes;
use super::segment::{self, Source};
use crate::cpu::SUBGROUP_SIZE;
use crate::cpu::frame::Frame;
use crate::error::{Error, Result, Status};
use crate::ir::phases::{Phases, ResumePoint};
use crate::ir::{Program, ranges};

/// A program's machine code, freed on drop.
pub struct Code {
    /// By resume point; `None` where execution never arrives.
    segments: Vec<Option<SegmentFn>>,
    /// The constant tables that the code points into.
    _constants: Vec<Box<[u64]>>,
    module: Option<JITModule>,
    size: usize,
    frame_size: usize,
}

/// Largest stack frame of an emitted function, in bytes; half of a pool thread's stack.
const LARGEST_FRAME: usize = crate::cpu::STACK_SIZE / 2;

// SAFETY: once finalised the code is read only, and JITModule's interior mutability is used by nobody
// but `drop`, which has the Code to itself.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    pub fn segment(&self, code: u32) -> Option<SegmentFn> {
        self.segments.get(code as usize).copied().flatten()
    }

    /// Bytes of machine code.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes of stack that running it takes.
    pub fn frame_size(&self) -> usize {
        self.frame_size
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: a program in use holds the Code, so nobody runs it any more.
            unsafe { module.free_memory() };
        }
    }
}

fn internal(what: &str, error: impl std::fmt::Display) -> Error {
    Error::new(
        Status::Internal,
        format!("CPU code generation: {what}: {error}"),
    )
}

/// A function that is too large is the program's fault, all else is ours.
fn refused(program: &Program, error: ModuleError) -> Error {
    match error {
        ModuleError::Compilation(
            CodegenError::CodeTooLarge | CodegenError::ImplLimitExceeded,
        ) => Error::new(
            Status::InvalidProgram,
            format!(
                "entry point `{}` is too large for the CPU backend once its functions are inlined",
                program.entry_point
            ),
        )
        .with_fix("Use loops in place of repeated calls, or split the program."),
        error => internal("define", format!("{error:?}")),
    }
}

fn target() -> Result<OwnedTargetIsa> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ] {
        flags
            .set(name, value)
            .map_err(|error| internal(name, error))?;
    }
    cranelift_native::builder()
        .map_err(|error| {
            Error::new(
                Status::Unsupported,
                format!("the CPU backend cannot generate code for this processor: {error}"),
            )
        })?
        .finish(settings::Flags::new(flags))
        .map_err(|error| internal("target", error))
}

/// Emits every segment of a program.
pub fn compile(program: &Program, phases: &Phases<'_>, frame: &Frame) -> Result<Code> {
    let isa = target()?;
    let config = isa.frontend_config();
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    // Machines without these instructions call C's functions instead.
    builder.symbols([
        ("fma", fused_f64 as *const u8),
        ("fmaf", fused_f32 as *const u8),
    ]);
    let mut module = JITModule::new(builder);
    let constants: Vec<Box<[u64]>> = program.constants.iter().map(|bytes| words(bytes)).collect();
    let addresses: Vec<u64> = constants
        .iter()
        .map(|table| table.as_ptr() as u64)
        .collect();
    let ranges = ranges::analyse(program, SUBGROUP_SIZE);
    let source = Source {
        program,
        phases,
        ranges: &ranges,
        frame,
        constants: &addresses,
        config,
        lanes: Lanes::ONE,
    };
    let mut frontend = FunctionBuilderContext::new();
    let mut context = module.make_context();
    let mut ids: Vec<Option<FuncId>> = Vec::new();
    let (mut size, mut frame_size) = (0, 0);
    for (index, segment) in phases.segments.iter().enumerate() {
        let Some(segment) = segment else {
            ids.push(None);
            continue;
        };
        context.func.signature = signature();
        let id = module
            .declare_function(
                &format!("segment{index}"),
                Linkage::Local,
                &context.func.signature,
            )
            .map_err(|error| internal("declare", error))?;
        let builder = FunctionBuilder::new(&mut context.func, &mut frontend);
        segment::emit(source, ResumePoint(index as u32), segment, builder);
        module
            .define_function(id, &mut context)
            .map_err(|error| refused(program, error))?;
        if let Some(code) = context.compiled_code() {
            size += code.code_buffer().len();
            let frame = code.buffer.frame_layout();
            frame_size = frame_size.max(frame.map_or(0, |frame| frame.frame_to_fp_offset as usize));
        }
        module.clear_context(&mut context);
        ids.push(Some(id));
    }
    if frame_size > LARGEST_FRAME {
        return Err(Error::new(
            Status::InvalidProgram,
            format!(
                "entry point `{}` keeps so many values alive at once that an invocation needs {frame_size} bytes \
                 of stack, more than {LARGEST_FRAME}",
                program.entry_point
            ),
        )
        .with_fix("Keep large intermediate results in arrays, or split the program."));
    }
    module
        .finalize_definitions()
        .map_err(|error| internal("finalise", error))?;
    let segments = ids
        .into_iter()
        .map(|id| {
            id.map(|id| {
                let address = module.get_finalized_function(id);
                // SAFETY: the function was declared with `signature`, which is SegmentFn's.
                unsafe { std::mem::transmute::<*const u8, SegmentFn>(address) }
            })
        })
        .collect();
    Ok(Code {
        segments,
        _constants: constants,
        module: Some(module),
        size,
        frame_size,
    })
}

/// [`SegmentFn`]'s signature.
fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    let parameters = [
        types::I64,
        types::I32,
        types::I32,
        types::I32,
        types::I64,
        types::I64,
    ];
    signature.params = parameters.map(AbiParam::new).to_vec();
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Bytes as aligned words, the last one filled up with zeros.
fn words(bytes: &[u8]) -> Box<[u64]> {
    bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect()
}

extern "C" fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn fused_f32(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}
