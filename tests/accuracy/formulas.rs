//! Operators and functions that are computed as one formula: each step rounded to nearest gives their bits, and
//! WGSL's bound is that of the formula.

use super::allowed::Allowed;
use super::number::{Number, Real, Rounded};

/// An expression of `operands` floats, as WGSL and as the formula, in three kinds of numbers.
pub struct Formula {
    pub name: &'static str,
    pub expression: &'static str,
    pub operands: usize,
    /// What WGSL's table says of its accuracy.
    pub wgsl: &'static str,
    pub rounded: fn(&[Rounded]) -> Rounded,
    pub real: fn(&[Real]) -> Real,
    pub allowed: fn(&[Allowed]) -> Allowed,
}

macro_rules! formulas {
    ($($name:literal $expression:literal $wgsl:literal [$($x:ident)+] $body:expr;)+) => {
        pub fn formulas() -> Vec<Formula> {
            vec![$({
                fn compute<N: Number>(operands: &[N]) -> N {
                    let [$($x),+] = *operands else {
                        unreachable!("as many operands as the formula has");
                    };
                    $body
                }
                Formula {
                    name: $name,
                    expression: $expression,
                    operands: [$(stringify!($x)),+].len(),
                    wgsl: $wgsl,
                    rounded: compute,
                    real: compute,
                    allowed: compute,
                }
            }),+]
        }
    };
}

fn dot<N: Number, const K: usize>(x: [N; K], y: [N; K]) -> N {
    let mut sum = x[0].mul(y[0]);
    for at in 1..K {
        sum = sum.add(x[at].mul(y[at]));
    }
    sum
}

fn length<N: Number, const K: usize>(x: [N; K]) -> N {
    dot(x, x).sqrt()
}

fn determinant2<N: Number>(a: N, b: N, c: N, d: N) -> N {
    a.mul(d).sub(b.mul(c))
}

fn smoothstep<N: Number>(low: N, high: N, x: N) -> N {
    let t = x.sub(low).div(high.sub(low));
    let t = t.max(x.constant(0.0)).min(x.constant(1.0));
    t.mul(t).mul(x.constant(3.0).sub(x.constant(2.0).mul(t)))
}

fn reflect<N: Number, const K: usize>(x: [N; K], n: [N; K]) -> N {
    let twice = x[0].constant(2.0).mul(dot(n, x));
    x[0].sub(twice.mul(n[0]))
}

fn refract<N: Number, const K: usize>(x: [N; K], n: [N; K], ratio: N) -> N {
    let one = ratio.constant(1.0);
    let along = dot(n, x);
    let k = one.sub(ratio.mul(ratio).mul(one.sub(along.mul(along))));
    let share = ratio.mul(along).add(k.sqrt());
    let through = ratio.mul(x[0]).sub(share.mul(n[0]));
    k.if_negative(ratio.constant(0.0), through)
}

formulas! {
    "x + y" "a + b" "correctly rounded" [a b] a.add(b);
    "x - y" "a - b" "correctly rounded" [a b] a.sub(b);
    "x * y" "a * b" "correctly rounded" [a b] a.mul(b);
    "x / y" "a / b" "2.5 ULP" [a b] a.div(b);
    "x % y" "a % b" "x - y * trunc(x / y)" [a b] a.sub(b.mul(a.div(b).trunc()));
    "fma" "fma(a, b, c)" "x * y + z" [a b c] a.fma(b, c);
    "sqrt" "sqrt(a)" "1 / inverseSqrt(x)" [a] a.sqrt();
    "fract" "fract(a)" "x - floor(x)" [a] a.sub(a.floor());
    "degrees" "degrees(a)" "x * 57.29…" [a] a.mul(a.constant(57.295_779_513_082_32));
    "radians" "radians(a)" "x * 0.01745…" [a] a.mul(a.constant(0.017_453_292_519_943_295));
    "mix" "mix(a, b, c)" "x * (1 - z) + y * z" [a b c] a.mul(c.constant(1.0).sub(c)).add(b.mul(c));
    "smoothstep" "smoothstep(a, b, c)" "its formula" [a b c] smoothstep(a, b, c);
    "dot, 2" "dot(vec2(a, b), vec2(c, d))" "its formula" [a b c d] dot([a, b], [c, d]);
    "dot, 4" "dot(vec4(a, b, c, d), vec4(e, f, g, h))" "its formula"
        [a b c d e f g h] dot([a, b, c, d], [e, f, g, h]);
    "cross" "cross(vec3(a, b, c), vec3(d, e, f)).x" "its formula"
        [a b c d e f] { let _ = (a, d); b.mul(f).sub(c.mul(e)) };
    "length, 3" "length(vec3(a, b, c))" "sqrt(dot(x, x))" [a b c] length([a, b, c]);
    "distance, 2" "distance(vec2(a, b), vec2(c, d))" "length(x - y)"
        [a b c d] length([a.sub(c), b.sub(d)]);
    "normalize, 3" "normalize(vec3(a, b, c)).x" "x / length(x)" [a b c] a.div(length([a, b, c]));
    "faceForward, 2" "faceForward(vec2(a, b), vec2(c, d), vec2(e, f)).x" "its formula"
        [a b c d e f] { let _ = b; dot([c, d], [e, f]).if_negative(a, a.neg()) };
    "reflect, 2" "reflect(vec2(a, b), vec2(c, d)).x" "its formula" [a b c d] reflect([a, b], [c, d]);
    "refract, 2" "refract(vec2(a, b), vec2(c, d), e).x" "its formula"
        [a b c d e] refract([a, b], [c, d], e);
    "matrix * vector" "(mat2x2(a, b, c, d) * vec2(e, f)).x" "its formula"
        [a b c d e f] { let _ = (b, d); dot([a, c], [e, f]) };
    "determinant, 2" "determinant(mat2x2(a, b, c, d))" "infinite" [a b c d] determinant2(a, c, b, d);
    "determinant, 3" "determinant(mat3x3(a, b, c, d, e, f, g, h, i))" "infinite" [a b c d e f g h i] {
        let first = a.mul(determinant2(e, f, h, i));
        let second = b.mul(determinant2(d, f, g, i));
        let third = c.mul(determinant2(d, e, g, h));
        first.sub(second).add(third)
    };
}
