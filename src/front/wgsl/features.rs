//! The names of what naga accepts and lowering refuses.

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::valid::{EntryPointError, ValidationError};
use naga::{
    Block, Expression, Function, Handle, MathFunction, Module, PredeclaredType, ScalarKind, Span,
    Statement, Type, TypeInner, WithSpan,
};

use super::lower::clamp;
use super::texture::{self, Texture};
use crate::error::{Error, Status};
use crate::ir::Source;

/// "... are not supported", for a variable or value of such a type.
pub fn of_type(module: &Module, inner: &TypeInner) -> String {
    let what = match inner {
        TypeInner::Image { dim, class, .. } => &texture::refusal(*dim, *class),
        TypeInner::Sampler { .. } => "a sampler: samplers",
        TypeInner::AccelerationStructure { .. } => "an acceleration structure: ray queries",
        TypeInner::RayQuery { .. } => "a ray query: ray queries",
        TypeInner::BindingArray { .. } => "a binding array: binding arrays",
        TypeInner::CooperativeMatrix { .. } => "a cooperative matrix: cooperative matrices",
        TypeInner::Scalar(s) | TypeInner::Vector { scalar: s, .. } | TypeInner::Atomic(s)
            if s.width == 2 && s.kind != ScalarKind::Float =>
        {
            "of a 16-bit integer type: 16-bit integers"
        }
        TypeInner::Array { base, .. } => return of_type(module, &module.types[*base].inner),
        TypeInner::Struct { members, .. } => {
            let inner = members
                .iter()
                .map(|m| &module.types[m.ty].inner)
                .find(|inner| is_refused(module, inner));
            match inner {
                Some(inner) => return of_type(module, inner),
                None => "of a type that is too large: such types",
            }
        }
        _ => "of a type that is not supported: such types",
    };
    format!("{what} are not supported")
}

/// What to do instead of declaring a variable of such a type, where there is more to say than to leave it out.
pub fn fix_of_type(inner: &TypeInner) -> Option<&'static str> {
    match inner {
        TypeInner::Image { dim, class, .. } => Some(texture::fix(*dim, *class)),
        TypeInner::Sampler { .. } => Some(SAMPLE_FIX),
        _ => None,
    }
}

const SAMPLING: &str = "`textureSample` and `textureGather`";
const SAMPLE_FIX: &str =
    "Read the texels with `textureLoad` and interpolate between them in the program.";

fn is_refused(module: &Module, inner: &TypeInner) -> bool {
    match inner {
        TypeInner::Array { base, .. } => is_refused(module, &module.types[*base].inner),
        TypeInner::Struct { members, .. } => members
            .iter()
            .any(|m| is_refused(module, &module.types[m.ty].inner)),
        TypeInner::Scalar(s) | TypeInner::Vector { scalar: s, .. } | TypeInner::Atomic(s) => {
            super::types::scalar(*s).is_none()
        }
        TypeInner::Matrix { .. } => false,
        TypeInner::Image { .. } => Texture::of(inner).is_none(),
        _ => true,
    }
}

/// What an expression is that is refused; `None` for those that are lowered.
pub fn of_expression(expression: &Expression) -> Option<&'static str> {
    Some(match expression {
        Expression::ImageSample { .. } => SAMPLING,
        Expression::Derivative { .. } => "derivatives",
        Expression::RayQueryVertexPositions { .. }
        | Expression::RayQueryProceedResult
        | Expression::RayQueryGetIntersection { .. } => "ray queries",
        Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
            "cooperative matrices"
        }
        _ => return None,
    })
}

/// As [`of_expression`], of a statement.
pub fn of_statement(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::ImageAtomic { .. } => "atomic operations on textures",
        Statement::RayQuery { .. } => "ray queries",
        Statement::RayPipelineFunction(_) => "ray tracing pipelines",
        Statement::CooperativeStore { .. } => "cooperative matrices",
        Statement::Kill => "discarded fragments",
        Statement::MemoryBarrier(_) => "memory barriers without a control barrier",
        _ => return None,
    })
}

/// A clearer error than naga's for a program that it refuses because of a feature.
pub fn refusal(
    module: &Module,
    source: &Source,
    error: &WithSpan<ValidationError>,
) -> Option<Error> {
    let (span, what) = match error.as_inner() {
        ValidationError::Type { handle, .. } => {
            let inner = &module.types[*handle].inner;
            if !is_refused(module, inner) {
                return None;
            }
            if let Some(span) = frexp_of_half(module) {
                let what = "`frexp` of f16 is not supported";
                let error = source.error_as(Status::Unsupported, clamp(source, span), what);
                return Some(error.with_fix(
                    "Call it with `f32(...)` of the number: fraction and exponent are the same.",
                ));
            }
            let what = format!("this is {}", of_type(module, inner));
            (user_of_type(module, *handle), what)
        }
        ValidationError::EntryPoint {
            source: EntryPointError::ForbiddenStageOperations,
            ..
        } => {
            let functions = module.functions.iter().map(|(_, f)| f);
            let entries = module.entry_points.iter().map(|e| &e.function);
            let (span, what) = functions.chain(entries).find_map(refused_use)?;
            (span, format!("{what} are not supported"))
        }
        _ => return None,
    };
    let error = source.error_as(Status::Unsupported, clamp(source, span), &what);
    Some(match what.starts_with(SAMPLING) {
        true => error.with_fix(SAMPLE_FIX),
        false => error,
    })
}

/// A `frexp` whose operand is f16: naga makes its exponents 16-bit integers, which the program
/// then never mentions.
fn frexp_of_half(module: &Module) -> Option<Span> {
    let is_half = |ty: &PredeclaredType| matches!(ty, PredeclaredType::FrexpResult { scalar, .. } if scalar.width == 2);
    let mut results = module.special_types.predeclared_types.keys();
    if !results.any(is_half) {
        return None;
    }
    let functions = module.functions.iter().map(|(_, f)| f);
    let mut entries = functions.chain(module.entry_points.iter().map(|e| &e.function));
    entries.find_map(|f| {
        let context = ResolveContext::with_locals(module, &f.local_variables, &f.arguments);
        let mut typifier = Typifier::new();
        f.expressions.iter().find_map(|(handle, expression)| {
            typifier.grow(handle, &f.expressions, &context).ok()?;
            let Expression::Math {
                fun: MathFunction::Frexp,
                arg,
                ..
            } = *expression
            else {
                return None;
            };
            let scalar = typifier.get(arg, &module.types).scalar()?;
            (scalar.width == 2).then(|| f.expressions.get_span(handle))
        })
    })
}

/// A variable or parameter of a type.
fn user_of_type(module: &Module, ty: Handle<Type>) -> Span {
    let mut globals = module.global_variables.iter();
    if let Some((handle, _)) = globals.find(|(_, v)| v.ty == ty) {
        return module.global_variables.get_span(handle);
    }
    let functions = module.functions.iter().map(|(_, f)| f);
    let entries = module.entry_points.iter().map(|e| &e.function);
    functions
        .chain(entries)
        .find_map(|f| {
            let mut variables = f.local_variables.iter();
            let (handle, _) = variables.find(|(_, v)| v.ty == ty)?;
            Some(f.local_variables.get_span(handle))
        })
        .unwrap_or_default()
}

fn refused_use(function: &Function) -> Option<(Span, &'static str)> {
    let expressions = function.expressions.iter();
    expressions
        .filter_map(|(handle, e)| Some((function.expressions.get_span(handle), of_expression(e)?)))
        .next()
        .or_else(|| refused_statement(&function.body))
}

fn refused_statement(block: &Block) -> Option<(Span, &'static str)> {
    block.span_iter().find_map(|(statement, &span)| {
        if let Some(what) = of_statement(statement) {
            return Some((span, what));
        }
        match statement {
            Statement::Block(block) => refused_statement(block),
            Statement::If { accept, reject, .. } => {
                refused_statement(accept).or_else(|| refused_statement(reject))
            }
            Statement::Switch { cases, .. } => {
                cases.iter().find_map(|case| refused_statement(&case.body))
            }
            Statement::Loop {
                body, continuing, ..
            } => refused_statement(body).or_else(|| refused_statement(continuing)),
            _ => None,
        }
    })
}
