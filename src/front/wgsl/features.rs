//! The names of what naga accepts and lowering refuses.

use naga::{Expression, ImageClass, Module, ScalarKind, Statement, TypeInner};

/// "... are not supported", for a variable or value of such a type.
pub fn of_type(module: &Module, inner: &TypeInner) -> String {
    let what = match inner {
        TypeInner::Image { class, .. } => match class {
            ImageClass::External => "an external texture: external textures",
            ImageClass::Storage { .. } => "a storage texture: textures",
            _ => "a texture: textures",
        },
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
        _ => true,
    }
}

/// What an expression is that is refused; `None` for those that are lowered.
pub fn of_expression(expression: &Expression) -> Option<&'static str> {
    Some(match expression {
        Expression::ImageSample { .. }
        | Expression::ImageLoad { .. }
        | Expression::ImageQuery { .. } => "textures",
        Expression::Derivative { .. } => "derivatives",
        Expression::RayQueryVertexPositions { .. }
        | Expression::RayQueryProceedResult
        | Expression::RayQueryGetIntersection { .. } => "ray queries",
        Expression::SubgroupBallotResult | Expression::SubgroupOperationResult { .. } => {
            "subgroup operations"
        }
        Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
            "cooperative matrices"
        }
        _ => return None,
    })
}

/// As [`of_expression`], of a statement.
pub fn of_statement(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => "textures",
        Statement::RayQuery { .. } => "ray queries",
        Statement::RayPipelineFunction(_) => "ray tracing pipelines",
        Statement::SubgroupBallot { .. }
        | Statement::SubgroupGather { .. }
        | Statement::SubgroupCollectiveOperation { .. } => "subgroup operations",
        Statement::CooperativeStore { .. } => "cooperative matrices",
        Statement::Kill => "discarded fragments",
        Statement::MemoryBarrier(_) => "memory barriers without a control barrier",
        _ => return None,
    })
}
