//! Pure computations: no memory is read or written by an expression.

use super::{BufferId, LocalId, Operand};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    pub fn index(self) -> usize {
        self as usize
    }
}

/// What the launch gives an invocation; all u32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    GlobalInvocationId(Axis),
    LocalInvocationId(Axis),
    LocalInvocationIndex,
    WorkgroupId(Axis),
    NumWorkgroups(Axis),
    SubgroupSize,
    SubgroupInvocationId,
    SubgroupId,
    NumSubgroups,
}

/// The right-hand side of a `Let`. The type of the result is the defined value's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A local variable's value at this point of the program.
    Local(LocalId),
    Builtin(Builtin),
    /// u32: how many elements of the buffer's trailing runtime-sized array the bound range holds.
    /// The same for the whole grid.
    ArrayLength(BufferId),
    /// The operand has the result's type.
    Unary(UnaryOp, Operand),
    /// Both operands have the result's type; of shifts, the count is u32.
    Binary(BinaryOp, Operand, Operand),
    /// Operands of one type, result bool.
    Compare(CompareOp, Operand, Operand),
    /// `accept` if `cond` is true, else `reject`. Both are evaluated.
    Select {
        cond: Operand,
        accept: Operand,
        reject: Operand,
    },
    /// WGSL's value conversion from the operand's type to the result's:
    /// to bool: `x != 0` (NaN is true); from bool: 0 or 1; integers: truncated, or extended by the
    /// *source's* signedness; integer to float: rounded to nearest even; float to integer:
    /// truncated toward zero and saturated, NaN gives 0; float to float: rounded to nearest even.
    Convert(Operand),
    /// The same bits as another type of the same size.
    Bitcast(Operand),
    Math(MathOp, smallvec::SmallVec<[Operand; 3]>),
}

impl Expr {
    /// The values and constants that it reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let operands: smallvec::SmallVec<[Operand; 3]> = match self {
            Expr::Local(_) | Expr::Builtin(_) | Expr::ArrayLength(_) => smallvec::smallvec![],
            Expr::Unary(_, x) | Expr::Convert(x) | Expr::Bitcast(x) => smallvec::smallvec![*x],
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => smallvec::smallvec![*a, *b],
            Expr::Select {
                cond,
                accept,
                reject,
            } => smallvec::smallvec![*cond, *accept, *reject],
            Expr::Math(_, operands) => operands.clone(),
        };
        operands.into_iter()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Integers wrap; floats flip the sign bit.
    Neg,
    /// Bitwise on integers, logical on bool.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Integers wrap. Floats round to nearest even and are never contracted.
    Add,
    Sub,
    Mul,
    /// Integers: truncated; `x / 0 = x` and `MIN / -1 = MIN`. Floats: correctly rounded.
    Div,
    /// Integers: sign of the dividend; `x % 0 = 0` and `MIN % -1 = 0`.
    /// Floats: `a - b * trunc(a / b)`, each step rounded.
    Rem,
    /// Bitwise on integers, logical on bool (both sides evaluated).
    And,
    Or,
    Xor,
    /// The count is taken modulo the width. `Shr` is arithmetic on signed types.
    Shl,
    Shr,
}

/// Float comparisons are ordered, except `Ne`, which is true when either side is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Built-in functions that are not compositions of the other operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MathOp {
    // Exact on every backend.
    /// One operand. Integers wrap (`abs(MIN) = MIN`); floats clear the sign bit.
    Abs,
    /// Two operands. Floats: the other operand if one is NaN, and -0 < +0.
    Min,
    Max,
    /// Floats, three operands: `a * b + c`, rounded once.
    Fma,
    /// Floats, correctly rounded.
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To nearest, ties to even.
    Round,
    /// Integers; the result has the operand's type. Zero gives the width for both kinds of zeros.
    CountOneBits,
    CountLeadingZeros,
    CountTrailingZeros,
    ReverseBits,
    /// f32 to the binary16 bit pattern in the low half of a u32, rounded to nearest even
    /// (overflow gives infinity).
    PackHalf,
    /// The low half of a u32 as a binary16 number, to f32; exact.
    UnpackHalf,
    /// `frexp`: the fraction in [0.5, 1) with the operand's sign; zero, infinity and NaN unchanged.
    FrexpFract,
    /// `frexp`: the exponent as i32 (operand float, result i32); 0 for zero, infinity and NaN.
    FrexpExp,
    /// `a * 2^b` with b an i32; correctly rounded (also into and out of denormals).
    Ldexp,
    // Within WGSL's error bounds; floats.
    InverseSqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    /// `atan2(y, x)`.
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Exp2,
    Log,
    Log2,
    /// `pow(x, y)`.
    Pow,
}
