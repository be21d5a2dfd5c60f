//! Expressions to values.

use naga::proc::TypeResolution;
use naga::{Expression, Handle, Literal};
use smallvec::SmallVec;

use super::frame::Frame;
use super::lower::Lower;
use super::pointer::Pointer;
use super::types::{Shape, Ty};
use super::value::{Components, Value};
use super::{features, math};
use crate::error::Result;
use crate::ir::{AtomicOp, Const, Expr, Operand, Region, Scalar, Span};

impl<'a> Lower<'a> {
    pub fn expression_span(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> Span {
        self.span(frame.function.expressions.get_span(handle))
    }

    fn expression_type(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> Result<Ty> {
        let resolution = &frame.info[handle].ty;
        self.types.resolve(resolution).ok_or_else(|| {
            let inner = resolution.inner_with(&self.module.types);
            let what = format!("this is {}", features::of_type(self.module, inner));
            self.unsupported(self.expression_span(frame, handle), &what)
        })
    }

    /// Evaluates an expression where naga says so.
    pub fn emit(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<()> {
        let span = self.expression_span(frame, handle);
        self.b.set_span(span);
        let value = self.lower_expression(frame, handle, span)?;
        self.define(frame, handle, value)
    }

    /// Gives an expression its value.
    pub fn define(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        value: Value,
    ) -> Result<()> {
        let indexed = self.indexed.of(frame.handle).values.contains(&handle);
        let value = if indexed {
            let ty = self.expression_type(frame, handle)?;
            self.make_indexable(value, &ty)?
        } else {
            value
        };
        frame.define(handle, value);
        Ok(())
    }

    /// The value of an expression that has been evaluated, or that needs no evaluation.
    pub fn value(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<Value> {
        if let Some(value) = frame.lookup(handle) {
            return Ok(value.clone());
        }
        let span = self.expression_span(frame, handle);
        if frame.is_bypassed(handle) {
            return Err(self.invalid(
                span,
                "this is used in the `continuing` block, but a `continue` passes it by",
            ));
        }
        match frame.function.expressions[handle] {
            Expression::Load { .. }
            | Expression::ImageLoad { .. }
            | Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. } => {
                Err(self.internal(span, "a value before its evaluation"))
            }
            // Constants, pointers and initialisers: lowering them again gives the same.
            _ => self.lower_expression(frame, handle, span),
        }
    }

    pub fn components(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Components> {
        match self.value(frame, handle)? {
            Value::Scalars(scalars) => Ok(scalars),
            Value::Memory(place) if place.ty.scalars <= super::lower::BIG => {
                let ty = place.ty.clone();
                Ok(self.small(&Value::Memory(place), &ty))
            }
            _ => {
                let span = self.expression_span(frame, handle);
                Err(self.internal(span, "a large value in an operation"))
            }
        }
    }

    pub fn operand(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        let components = self.components(frame, handle)?;
        match components[..] {
            [x] => Ok(x),
            _ => {
                let span = self.expression_span(frame, handle);
                Err(self.internal(span, "a composite value where a scalar belongs"))
            }
        }
    }

    pub fn pointer(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Pointer> {
        match self.value(frame, handle)? {
            Value::Pointer(pointer) => Ok(pointer),
            _ => {
                let span = self.expression_span(frame, handle);
                Err(self.internal(span, "a value where a pointer belongs"))
            }
        }
    }

    fn lower_expression(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<Value> {
        let function = frame.function;
        let expression = &function.expressions[handle];
        Ok(match *expression {
            Expression::Literal(literal) => self.literal(literal, span)?,
            Expression::Constant(constant) => {
                self.constant_expression(self.module.constants[constant].init)?
            }
            Expression::ZeroValue(_) => Value::zero(&self.expression_type(frame, handle)?),
            Expression::FunctionArgument(index) => frame.arguments[index as usize].clone(),
            Expression::GlobalVariable(global) => match self.globals.get(&global) {
                Some(pointer) => Value::Pointer(pointer.clone()),
                None => return Err(self.unused_global(global, span)),
            },
            Expression::LocalVariable(local) => Value::Pointer(frame.variables[&local].clone()),
            Expression::Compose { ref components, .. } => {
                let ty = self.expression_type(frame, handle)?;
                let parts = components
                    .iter()
                    .map(|&part| self.value(frame, part))
                    .collect::<Result<Vec<_>>>()?;
                self.compose(&ty, &parts)?
            }
            Expression::Access { base, index } => {
                let index = self.operand(frame, index)?;
                self.access(frame, base, index, span)?
            }
            Expression::AccessIndex { base, index } => {
                self.access_index(frame, base, index, span)?
            }
            Expression::Splat { size, value } => {
                let x = self.operand(frame, value)?;
                Value::Scalars(SmallVec::from_elem(x, size as usize))
            }
            Expression::Swizzle {
                size,
                vector,
                pattern,
            } => {
                let vector = self.components(frame, vector)?;
                let picked = pattern[..size as usize].iter().map(|&c| vector[c as usize]);
                Value::Scalars(picked.collect())
            }
            Expression::Load { pointer } => {
                let pointer = self.pointer(frame, pointer)?;
                self.load_any(&pointer, span)?
            }
            Expression::ArrayLength(array) => match self.pointer(frame, array)? {
                Pointer::Memory(place) => match place.region {
                    Region::Buffer(buffer) => {
                        Value::scalar(self.b.emit(Scalar::U32, Expr::ArrayLength(buffer)))
                    }
                    _ => return Err(self.internal(span, "the length of an array in no buffer")),
                },
                Pointer::Locals(_) => {
                    return Err(self.internal(span, "the length of an array in no buffer"));
                }
            },
            Expression::ImageLoad {
                image,
                coordinate,
                array_index,
                level,
                ..
            } => Value::Scalars(self.texture_load(
                frame,
                image,
                coordinate,
                array_index,
                level,
                span,
            )?),
            Expression::ImageQuery { image, query } => {
                Value::Scalars(self.texture_query(frame, image, query, span)?)
            }
            _ => Value::Scalars(self.operation(frame, expression, span)?),
        })
    }

    fn unused_global(
        &self,
        global: Handle<naga::GlobalVariable>,
        span: Span,
    ) -> crate::error::Error {
        let variable = &self.module.global_variables[global];
        let inner = &self.module.types[variable.ty].inner;
        if self.types.get(variable.ty).is_some() {
            return self.internal(span, "a variable that the entry point does not use");
        }
        let name = variable.name.as_deref().unwrap_or_default();
        let what = format!("`{name}` is {}", features::of_type(self.module, inner));
        self.unsupported(span, &what)
    }

    /// Operations on components.
    fn operation(
        &mut self,
        frame: &mut Frame<'a>,
        expression: &Expression,
        span: Span,
    ) -> Result<Components> {
        let module = self.module;
        let info = frame.info;
        let inner = |handle: Handle<Expression>| info[handle].ty.inner_with(&module.types);
        let lowered = match *expression {
            Expression::Unary { op, expr } => {
                let x = self.components(frame, expr)?;
                math::unary(&mut self.b, op, &x)
            }
            Expression::Binary { op, left, right } => {
                let a = self.components(frame, left)?;
                let b = self.components(frame, right)?;
                math::binary(&mut self.b, op, (inner(left), &a), (inner(right), &b))
            }
            Expression::Select {
                condition,
                accept,
                reject,
            } => {
                let condition = self.components(frame, condition)?;
                let accept = self.components(frame, accept)?;
                let reject = self.components(frame, reject)?;
                let each = accept.iter().zip(&reject).enumerate();
                Ok(each
                    .map(|(i, (&a, &r))| {
                        let cond = condition[if condition.len() == 1 { 0 } else { i }];
                        self.b.select(cond, a, r)
                    })
                    .collect())
            }
            Expression::Relational { fun, argument } => {
                let x = self.components(frame, argument)?;
                math::relational(&mut self.b, fun, &x)
            }
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => {
                let mut arguments: SmallVec<[Components; 4]> = SmallVec::new();
                for argument in [Some(arg), arg1, arg2, arg3].into_iter().flatten() {
                    arguments.push(self.components(frame, argument)?);
                }
                self.b.set_span(span);
                math::math(&mut self.b, fun, inner(arg), &arguments)
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => {
                let x = self.components(frame, expr)?;
                let shape = inner(expr);
                let Some(from) = shape.scalar() else {
                    return Err(self.internal(span, "a conversion of a composite value"));
                };
                math::cast(&mut self.b, from, kind, convert, &x, shape)
            }
            ref other => {
                return Err(match features::of_expression(other) {
                    Some(what) => self.unsupported(span, &format!("{what} are not supported")),
                    None => self.internal(span, "an expression of an unknown kind"),
                });
            }
        };
        lowered.map_err(|why| self.unsupported(span, &why))
    }

    fn access(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: Operand,
        span: Span,
    ) -> Result<Value> {
        let value = self.value(frame, base)?;
        self.b.set_span(span);
        let part = match &value {
            Value::Pointer(pointer) => self.step_dynamic(pointer, index).map(Value::Pointer),
            value => {
                let ty = self.expression_type(frame, base)?;
                self.part_dynamic(value, &ty, index)?
            }
        };
        part.ok_or_else(|| self.internal(span, "an index into what has no elements"))
    }

    fn access_index(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: u32,
        span: Span,
    ) -> Result<Value> {
        let value = self.value(frame, base)?;
        self.b.set_span(span);
        let part = match &value {
            Value::Pointer(pointer) => self.step(pointer, index).map(Value::Pointer),
            value => {
                let ty = self.expression_type(frame, base)?;
                self.part(value, &ty, index)
            }
        };
        part.ok_or_else(|| self.internal(span, "a part that its whole does not have"))
    }

    /// A load, atomic if what is loaded is.
    pub fn load_any(&mut self, pointer: &Pointer, span: Span) -> Result<Value> {
        if let Pointer::Memory(place) = pointer
            && let Shape::Atomic(scalar) = place.ty.shape
        {
            self.check_atomic(scalar, span)?;
            return Ok(Value::scalar(match self.atomic_access(place) {
                Some(access) => self.b.atomic(AtomicOp::Load, access, None),
                None => Const::zero(scalar).into(),
            }));
        }
        Ok(self.load(pointer))
    }

    fn literal(&self, literal: Literal, span: Span) -> Result<Value> {
        let c = match literal {
            Literal::F64(x) => Const::f64(x),
            Literal::F32(x) => Const::f32(x),
            Literal::F16(x) => Const {
                ty: Scalar::F16,
                bits: u64::from(x.to_bits()),
            },
            Literal::U32(x) => Const::u32(x),
            Literal::I32(x) => Const::i32(x),
            Literal::U64(x) => Const::u64(x),
            Literal::I64(x) => Const::i64(x),
            Literal::Bool(x) => Const::bool(x),
            Literal::U16(_) | Literal::I16(_) => {
                return Err(self.unsupported(span, "16-bit integers are not supported"));
            }
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => {
                return Err(self.internal(span, "an abstract number"));
            }
        };
        Ok(Value::scalar(c.into()))
    }

    /// A module-scope constant expression; naga and the overrides have evaluated it.
    pub fn constant_expression(&mut self, handle: Handle<Expression>) -> Result<Value> {
        if let Some(value) = self.constants.get(&handle) {
            return Ok(value.clone());
        }
        let expressions = &self.module.global_expressions;
        let span = self.span(expressions.get_span(handle));
        let resolution: &TypeResolution = &self.info[handle];
        let value = match expressions[handle] {
            Expression::Literal(literal) => self.literal(literal, span)?,
            Expression::Constant(constant) => {
                self.constant_expression(self.module.constants[constant].init)?
            }
            Expression::ZeroValue(_) => Value::zero(&self.constant_type(resolution, span)?),
            Expression::Compose { ref components, .. } => {
                let ty = self.constant_type(resolution, span)?;
                let parts = components
                    .iter()
                    .map(|&part| self.constant_expression(part))
                    .collect::<Result<Vec<_>>>()?;
                self.compose(&ty, &parts)?
            }
            Expression::Splat { size, value } => match self.constant_expression(value)? {
                Value::Scalars(x) => Value::Scalars(SmallVec::from_elem(x[0], size as usize)),
                _ => return Err(self.internal(span, "a vector of composites")),
            },
            _ => return Err(self.internal(span, "a constant that is not evaluated")),
        };
        self.constants.insert(handle, value.clone());
        Ok(value)
    }

    fn constant_type(&self, resolution: &TypeResolution, span: Span) -> Result<Ty> {
        self.types.resolve(resolution).ok_or_else(|| {
            let inner = resolution.inner_with(&self.module.types);
            let what = format!("this is {}", features::of_type(self.module, inner));
            self.unsupported(span, &what)
        })
    }
}
