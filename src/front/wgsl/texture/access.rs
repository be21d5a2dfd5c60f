//! `textureLoad`, `textureStore` and the queries.

use naga::{Expression, Handle, ImageQuery};
use smallvec::SmallVec;

use super::format::Format;
use super::{HEADER, Texels, Texture, texel};
use crate::error::Result;
use crate::front::wgsl::frame::Frame;
use crate::front::wgsl::lower::Lower;
use crate::front::wgsl::pointer::Pointer;
use crate::front::wgsl::value::{Components, Value};
use crate::ir::{
    Access, BinaryOp, BufferId, CompareOp, Const, Expr, MathOp, Operand, Region, Scalar, Span,
};

/// The formats that the header of a sampled texture may name.
const RGBA32: u32 = 0;
const RGBA8_UNORM: u32 = 1;
const R32: u32 = 2;
const RGBA16_FLOAT: u32 = 3;
const RGBA8_UINT: u32 = 4;
const RGBA8_SINT: u32 = 5;

/// A texel that is looked for.
struct Spot {
    buffer: BufferId,
    /// u64: how many texels lie before it.
    index: Operand,
    /// `None`: known to be there, or the program says so.
    guard: Option<Operand>,
}

impl<'a> Lower<'a> {
    fn texture(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        span: Span,
    ) -> Result<(BufferId, Texture)> {
        if let Value::Pointer(Pointer::Memory(place)) = self.value(frame, image)?
            && let Region::Buffer(buffer) = place.region
            && let Some(&texture) = self.textures.get(&buffer)
        {
            return Ok((buffer, texture));
        }
        Err(self.internal(span, "a texture that is no variable"))
    }

    /// The first words of the header.
    fn header(&mut self, buffer: BufferId, count: usize) -> SmallVec<[Operand; 4]> {
        let access = Access {
            region: Region::Buffer(buffer),
            index: None,
            offset: 0,
            guard: None,
            scalar: Scalar::U32,
        };
        // Three are read as four.
        self.b.load(access, count.next_power_of_two())
    }

    pub fn texture_load(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
        level: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<Components> {
        let (buffer, texture) = self.texture(frame, image, span)?;
        let at = self.coordinates(frame, coordinate, array_index)?;
        let level = self.is_first_level(frame, level)?;
        self.b.set_span(span);
        match texture.texels {
            Texels::Stored(format) => {
                let header = self.header(buffer, at.len());
                let length = self.b.emit(Scalar::U32, Expr::ArrayLength(buffer));
                let mut spot = self.spot(buffer, &at, &header, length);
                spot.guard = self.both(spot.guard, level);
                Ok(self.load_texel(&spot, format))
            }
            Texels::Sampled(scalar) => {
                let header = self.header(buffer, 4);
                Ok(self.load_sampled(buffer, scalar, &at, &header, level))
            }
        }
    }

    pub fn texture_store(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
        value: Handle<Expression>,
        span: Span,
    ) -> Result<()> {
        let (buffer, texture) = self.texture(frame, image, span)?;
        let Texels::Stored(format) = texture.texels else {
            return Err(self.internal(span, "a store to a sampled texture"));
        };
        let at = self.coordinates(frame, coordinate, array_index)?;
        let components = self.components(frame, value)?;
        self.b.set_span(span);
        let header = self.header(buffer, at.len());
        let length = self.b.emit(Scalar::U32, Expr::ArrayLength(buffer));
        let spot = self.spot(buffer, &at, &header, length);
        if spot.guard == Some(Const::bool(false).into()) {
            return Ok(());
        }
        let words = texel::pack(&mut self.b, format, &components);
        let access = self.access_texel(&spot, format);
        self.b.store(access, &words);
        Ok(())
    }

    pub fn texture_query(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        query: ImageQuery,
        span: Span,
    ) -> Result<Components> {
        let (buffer, texture) = self.texture(frame, image, span)?;
        Ok(match query {
            ImageQuery::Size { level } => {
                let level = self.is_first_level(frame, level)?;
                self.b.set_span(span);
                let header = self.header(buffer, texture.axes);
                let none: Operand = Const::u32(0).into();
                let sizes = header[..texture.axes].iter();
                sizes.map(|&n| self.b.select(level, n, none)).collect()
            }
            ImageQuery::NumLayers if texture.arrayed => {
                SmallVec::from_slice(&[self.header(buffer, 3)[2]])
            }
            ImageQuery::NumLevels => SmallVec::from_slice(&[Const::u32(1).into()]),
            ImageQuery::NumLayers | ImageQuery::NumSamples => {
                return Err(self.internal(span, "a query that the texture has no answer for"));
            }
        })
    }

    /// Coordinates, the layer last.
    fn coordinates(
        &mut self,
        frame: &mut Frame<'a>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
    ) -> Result<Components> {
        let mut at = self.components(frame, coordinate)?;
        if let Some(layer) = array_index {
            at.push(self.operand(frame, layer)?);
        }
        Ok(at)
    }

    /// Whether the level is 0, the only one that a buffer holds.
    fn is_first_level(
        &mut self,
        frame: &mut Frame<'a>,
        level: Option<Handle<Expression>>,
    ) -> Result<Operand> {
        let Some(level) = level else {
            return Ok(Const::bool(true).into());
        };
        let level = self.operand(frame, level)?;
        let zero = Const::zero(self.b.ty(level)).into();
        Ok(self.b.compare(CompareOp::Eq, level, zero))
    }

    /// Where a texel is, of the `length` that the bound range has room for. The header may say
    /// anything: what it says only ever makes fewer texels reachable.
    fn spot(
        &mut self,
        buffer: BufferId,
        at: &[Operand],
        sizes: &[Operand],
        length: Operand,
    ) -> Spot {
        let mut guard = None;
        let length = self.b.convert(Scalar::U64, length);
        let mut index = None;
        // From the slowest coordinate to x: each step is below 2^64, or the step before was refused.
        for (i, (&x, &size)) in at.iter().zip(sizes).enumerate().rev() {
            if !self.unchecked {
                let inside = self.is_below(x, size);
                guard = self.both(guard, inside);
            }
            let x = self.widen_index(x);
            index = Some(match index {
                None => x,
                Some(before) => {
                    let size = self.b.convert(Scalar::U64, size);
                    let rows = self.b.binary(BinaryOp::Mul, before, size);
                    self.b.binary(BinaryOp::Add, rows, x)
                }
            });
            // A row has a texel at least, so there are no more rows than texels. A single layer's rows need
            // no check of their own: their number times the width is below 2^64.
            let is_row = i == 1 && at.len() == 3;
            if !self.unchecked && (i == 0 || is_row) {
                let index = index.expect("set above");
                let inside = self.b.compare(CompareOp::Lt, index, length);
                guard = self.both(guard, inside);
            }
        }
        Spot {
            buffer,
            index: index.expect("a texture has an axis"),
            guard,
        }
    }

    /// Whether a coordinate is not negative and below the header's size.
    fn is_below(&mut self, x: Operand, size: Operand) -> Operand {
        let ty = self.b.ty(x);
        if ty.size() == 8 {
            let x = self.widen_index(x);
            let size = self.b.convert(Scalar::U64, size);
            return self.b.compare(CompareOp::Lt, x, size);
        }
        // A negative coordinate is large as a u32, but the header's sizes may be as large.
        let size = match ty {
            Scalar::I32 if self.b.upper(x) > u64::from(i32::MAX.cast_unsigned()) => {
                let most = Const::u32(1 << 31).into();
                self.b.math(MathOp::Min, Scalar::U32, &[size, most])
            }
            _ => size,
        };
        let x = self.b.bitcast(Scalar::U32, x);
        self.b.compare(CompareOp::Lt, x, size)
    }

    fn access_texel(&mut self, spot: &Spot, format: Format) -> Access {
        let size = Const::u64(format.size()).into();
        Access {
            region: Region::Buffer(spot.buffer),
            index: Some(self.b.binary(BinaryOp::Mul, spot.index, size)),
            offset: HEADER,
            guard: spot.guard,
            scalar: Scalar::U32,
        }
    }

    /// All zeros if the texel is not there.
    fn load_texel(&mut self, spot: &Spot, format: Format) -> Components {
        if spot.guard == Some(Const::bool(false).into()) {
            return SmallVec::from_elem(Const::zero(format.scalar()).into(), 4);
        }
        let access = self.access_texel(spot, format);
        let count = usize::try_from(format.size() / 4).expect("at most 4");
        let words = self.b.load(access, count);
        let [zero, one] = [0.0, 1.0].map(|x| self.b.constant(format.scalar(), x));
        let alpha = match spot.guard {
            Some(guard) => self.b.select(guard, one, zero),
            None => one,
        };
        texel::unpack(&mut self.b, format, &words, alpha)
    }

    /// A texel of a format that only the header knows: zeros if that is none of those of `scalar`.
    fn load_sampled(
        &mut self,
        buffer: BufferId,
        scalar: Scalar,
        at: &[Operand],
        header: &[Operand],
        level: Operand,
    ) -> Components {
        let word = header[3];
        let mut formats: SmallVec<[(u32, Format); 4]> = SmallVec::from_slice(&[
            (RGBA32, Format::full(scalar)),
            (R32, Format::single(scalar)),
        ]);
        match scalar {
            Scalar::F32 => formats.extend([
                (RGBA8_UNORM, Format::RGBA8_UNORM),
                (RGBA16_FLOAT, Format::RGBA16_FLOAT),
            ]),
            Scalar::U32 => formats.push((RGBA8_UINT, Format::RGBA8_UINT)),
            _ => formats.push((RGBA8_SINT, Format::RGBA8_SINT)),
        }
        let is = |lower: &mut Self, code: u32| {
            lower
                .b
                .compare(CompareOp::Eq, word, Const::u32(code).into())
        };
        // Texels of 16 bytes are four elements of the array, of 8 two.
        let elements = self.b.emit(Scalar::U32, Expr::ArrayLength(buffer));
        let (is_full, is_half) = (is(self, RGBA32), is(self, RGBA16_FLOAT));
        let [none, one, two] = [0, 1, 2].map(|n| Operand::from(Const::u32(n)));
        let mut shift = self.b.select(is_full, two, none);
        if scalar == Scalar::F32 {
            shift = self.b.select(is_half, one, shift);
        }
        let length = self.b.binary(BinaryOp::Shr, elements, shift);
        let spot = self.spot(buffer, at, header, length);
        let guard = self.both(spot.guard, level);
        let zero: Operand = Const::zero(scalar).into();
        let mut components: Components = SmallVec::from_elem(zero, 4);
        for (code, format) in formats {
            let chosen = is(self, code);
            let spot = Spot {
                guard: self.both(guard, chosen),
                ..spot
            };
            let texel = self.load_texel(&spot, format);
            for (component, x) in components.iter_mut().zip(texel) {
                *component = self.b.select(chosen, x, *component);
            }
        }
        components
    }
}
