//! Where variables live and how they are reached: run on the CPU, compared with what WGSL says.

mod harness;

/// Runs `body` of one invocation with `out` (64 words of 7777) and `input`; the first words of `out`.
fn run(declarations: &str, body: &str, input: &[u32], words: usize) -> Vec<u32> {
    let text = format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> input: array<u32>;
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let buffers = harness::run(1, &text, [1, 1, 1], &[vec![7777; 64], input.to_vec()]);
    buffers[0][..words].to_vec()
}

#[test]
fn out_of_bounds_reads_give_zero_and_writes_nothing() {
    let far = [2, 5, u32::MAX, 1 << 31];
    let seen = run(
        "var<workgroup> w: array<u32, 4>; var<private> p: array<u32, 4>;",
        "w[1] = 11u; p[1] = 12u; var f = array(1u, 2u, 3u, 4u);
        for (var k = 1u; k < 4u; k++) {
            let i = input[k];
            w[i] = 5u; p[i] = 5u; f[i] = 5u; input[i] = 5u;
            out[0] += w[i] + p[i] + f[i] + input[i];
            out[i] = 6u;
        }
        out[1] = w[1] + p[1] + f[0] + f[3] + input[0];",
        &far,
        3,
    );
    assert_eq!(seen, [7777, 11 + 12 + 1 + 4 + 2, 7777]);
}

#[test]
fn negative_indices_are_out_of_bounds() {
    let seen = run(
        "var<workgroup> w: array<u32, 4>;",
        "let i = i32(input[0]) - 1; let j = i32(input[1]);
        w[j] = 9u; out[j] = 9u; w[i] = 5u; out[i] = 5u;
        var v = vec3(1u, 2u, 3u); v[i] = 7u; var m = mat2x2<f32>(1.0, 2.0, 3.0, 4.0); m[i][j] = 9.0; m[j][i] = 9.0;
        let a = array(1u, 2u, 3u);
        out[0] = w[0] + w[i] + v.x + v.y + v.z + v[i] + a[i] + u32(m[0][0] + m[0][1] + m[1][0] + m[1][1]);
        out[2] = out[i];",
        &[0, 1],
        3,
    );
    assert_eq!(seen, [6 + 10, 9, 0]);
}

#[test]
fn dynamic_indices_reach_every_part() {
    let seen = run(
        "struct S { a: u32, m: mat3x2<f32>, v: array<vec3<u32>, 2> } var<private> s: array<S, 3>;",
        "for (var i = 0u; i < 3u; i++) {
            s[i].a = i;
            for (var c = 0u; c < 3u; c++) { for (var r = 0u; r < 2u; r++) { s[i].m[c][r] = f32(100u * i + 10u * c + r); } }
            for (var e = 0u; e < 2u; e++) { for (var k = 0u; k < 3u; k++) { s[i].v[e][k] = 1000u * i + 100u * e + k; } }
        }
        out[0] = s[input[0]].a;
        out[1] = u32(s[input[0]].m[input[1]][input[1]]);
        out[2] = s[input[0]].v[input[1]][input[0]];
        let copy = s[input[0]];
        out[3] = u32(copy.m[input[0]][input[1]]) + copy.v[1].z;
        var whole = s; whole[1].v[1] = vec3(1u); s[0] = whole[2];
        out[4] = s[0].v[1].z; out[5] = s[1].v[1].x; out[6] = whole[input[1]].v[input[1]].x;",
        &[2, 1],
        7,
    );
    assert_eq!(seen, [2, 211, 2102, 221 + 2102, 2102, 1100, 1]);
}

#[test]
fn vector_components_are_chosen_at_run_time() {
    let seen = run(
        "",
        "var v = vec4(10u, 20u, 30u, 40u); let w = vec4(1u, 2u, 3u, 4u); let i = input[0];
        v[i] = 5u; v[input[1]] += 1u;
        out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w; out[4] = v[i] + w[i]; out[5] = w[input[2]];
        v[input[1]] = v[input[1]] * 2u; out[6] = v.w; out[7] = v.zyx.x + v.xy.y;",
        &[2, 3, 9],
        8,
    );
    assert_eq!(seen, [10, 20, 5, 41, 8, 0, 82, 25]);
}

#[test]
fn array_values_are_indexed_however_long_they_are() {
    let seen = run(
        "const table = array(3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u, 5u, 3u);
        fn pick(a: array<u32, 10>, i: u32) -> u32 { if i > 100u { return 1u; } return a[i]; }
        fn make(x: u32) -> array<u32, 10> { var a: array<u32, 10>; for (var i = 0u; i < 10u; i++) { a[i] = x + i; } return a; }
        struct Big { head: u32, body: array<u32, 100>, tail: u32 }
        fn big(x: u32) -> Big { var b: Big; b.head = x; b.body[x] = 7u; b.tail = 3u; return b; }",
        "let i = input[0];
        out[0] = table[i]; out[1] = pick(table, i); out[2] = pick(make(i), i); out[3] = make(50u)[i];
        let three = array(i, i + 1u, i + 2u); out[4] = three[input[1]];
        let b = big(i); out[5] = b.body[i] + b.head + b.tail; var c = b; c.body[i] = 1u; out[6] = b.body[i] + c.body[i];
        let d = array<Big, 2>(b, c); out[7] = d[input[1]].body[i]; out[8] = d[input[2]].tail;
        for (var k = 0u; k < 3u; k++) { let e = make(k); out[9u + k] = e[i]; }
        out[12] = array<array<u32, 100>, 2>()[1][i] + Big(1u, array<u32, 100>(), i).tail;",
        &[5, 1, 7],
        13,
    );
    assert_eq!(seen, [9, 9, 10, 55, 6, 15, 8, 1, 0, 5, 6, 7, 5]);
}

#[test]
fn a_loaded_value_keeps_what_it_was() {
    let seen = run(
        "var<private> a: array<u32, 100>; var<workgroup> w: array<u32, 100>;",
        "a[3] = 1u; let small = a[3]; let large = a; a[3] = 2u; out[0] = small; out[1] = large[3]; out[2] = a[3];
        let old = input[0]; input[0] = 9u; out[3] = old; out[4] = input[0];
        w = a; a = large; out[5] = w[3]; out[6] = a[3]; w = array<u32, 100>(); out[7] = w[3];
        var x = 1u; let y = x; x = 2u; out[8] = y * 10u + x;",
        &[4],
        9,
    );
    assert_eq!(seen, [1, 1, 2, 4, 9, 2, 1, 0, 12]);
}

#[test]
fn variables_begin_anew_each_time_they_are_declared() {
    let seen = run(
        "fn count() -> u32 { var n: u32; var a: array<u32, 40>; n += 1u; a[n] += n; return n + a[1]; }
        fn start() -> u32 { var n = 5u; n += 1u; return n; } var<private> g = 3u;",
        "for (var i = 0u; i < 3u; i++) {
            var n: u32; var v = 10u; var a: array<u32, 40>; var b = array(1u, 2u, 3u);
            n += 1u; v += 1u; a[i] += 1u; b[input[0]] += 1u;
            out[i] = n + v + a[0] + a[1] + a[2] + b[0] + b[1] + b[2];
        }
        out[3] = count(); out[4] = count(); out[5] = start() + start(); g += 1u; out[6] = g;",
        &[1],
        7,
    );
    assert_eq!(seen, [20, 20, 20, 2, 2, 12, 4]);
}

#[test]
fn pointers_are_passed_and_kept() {
    let seen = run(
        "struct S { a: u32, b: array<u32, 4> } var<private> g: u32;
        fn bump(p: ptr<function, u32>) -> u32 { *p += 1u; return *p * 10u; }
        fn fill(p: ptr<function, array<u32, 4>>, i: u32) { (*p)[i] = i + 1u; }
        fn deep(p: ptr<function, S>, i: u32) { fill(&(*p).b, i); (*p).a += bump(&(*p).a); }
        fn both(p: ptr<private, u32>) { *p += 2u; g *= 3u; }
        fn swap(p: ptr<function, u32>, q: ptr<function, u32>) { let t = *p; *p = *q; *q = t; }",
        "var x = 4u; out[0] = bump(&x); out[1] = x;
        var s: S; deep(&s, input[0]); out[2] = s.a; out[3] = s.b[2]; out[4] = s.b[1];
        both(&g); out[5] = g;
        var y = 1u; swap(&x, &y); out[6] = x * 10u + y;
        let p = &s.b[input[0]]; *p = 77u; out[7] = s.b[2];
        let q = &out[8]; *q = 8u; *q += 1u;",
        &[2],
        9,
    );
    assert_eq!(seen, [50, 5, 10, 3, 0, 6, 15, 77, 9]);
}

#[test]
fn layouts_of_host_shared_memory() {
    let text = "struct In { a: u32, v: vec3<u32>, b: u32, m: mat3x3<f32>, @size(32) c: u32, @align(64) d: u32, e: array<vec3<u32>, 2> }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> s: In;
        @compute @workgroup_size(1) fn main() {
            out[0] = s.v.y; out[1] = s.b; out[2] = u32(s.m[2][1]); out[3] = s.c; out[4] = s.d; out[5] = s.e[1].z;
            s.m[1] = vec3(1.0, 2.0, 3.0); s.e[0] = vec3(1u, 2u, 3u);
        }";
    let mut words: Vec<u32> = (0..64).collect();
    words[8 + 9] = 5f32.to_bits();
    let after = harness::run(1, text, [1, 1, 1], &[vec![0; 8], words.clone()]);
    // a 0, v 4, b 7, m 8 (columns of 4), c 20 to 28, d 32, e 36 (elements of 4)
    assert_eq!(after[0][..6], [5, 7, 5, 20, 32, 42]);
    words[12..15].copy_from_slice(&[1.0f32, 2.0, 3.0].map(f32::to_bits));
    words[36..39].copy_from_slice(&[1, 2, 3]);
    assert_eq!(after[1], words);
}

#[test]
fn sixty_four_bit_and_bool_variables() {
    let seen = run(
        "struct B { x: bool, y: vec3<bool>, z: u32 } var<workgroup> w: array<B, 3>; var<private> f: array<bool, 40>;",
        "let i = input[0]; w[i].y = vec3(true, false, true); w[i].z = 4u; f[i] = w[i].y.z; f[39] = true;
        out[0] = u32(w[i].y.x) + u32(w[i].y.y) * 2u + w[i].z * 4u + u32(w[0].y.x); out[1] = u32(f[i]) + u32(f[1]) + u32(f[39]);
        var l = array(1lu, 2lu, 3lu); l[i] = 0xffffffffffflu; let m = l[i] + l[0]; out[2] = u32(m >> 32u); out[3] = u32(m);
        var d = 1.5lf; d *= 3.0lf; out[4] = u32(d); let k = -1li; out[5] = u32(k >> 40u);",
        &[2],
        6,
    );
    assert_eq!(seen, [17, 2, 0x1000, 0, 4, u32::MAX]);
}

#[test]
fn lengths_of_runtime_arrays() {
    let text = "struct T { n: u32, rest: array<vec2<u32>> }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> t: T;
        @compute @workgroup_size(1) fn main() {
            out[0] = arrayLength(&out); out[1] = arrayLength(&t.rest);
            let p = &t.rest; out[2] = arrayLength(p); (*p)[arrayLength(p) - 1u] = vec2(5u, 6u); (*p)[arrayLength(p)].x = 9u;
        }";
    let after = harness::run(1, text, [1, 1, 1], &[vec![0; 5], vec![0; 9]]);
    assert_eq!(after[0], [5, 3, 3, 0, 0]);
    assert_eq!(after[1], [0, 0, 0, 0, 0, 0, 5, 6, 0]);
}

#[test]
fn atomics_give_the_old_value() {
    let seen = run(
        "var<workgroup> w: array<atomic<i32>, 2>;",
        "let i = input[0]; out[0] = u32(atomicAdd(&w[i], 5)); out[1] = u32(atomicMax(&w[i], 9)); out[2] = u32(atomicMin(&w[i], -1));
        let r = atomicCompareExchangeWeak(&w[i], -1, 4); out[3] = u32(r.exchanged) * 10u + u32(r.old_value + 2);
        let s = atomicCompareExchangeWeak(&w[i], -1, 6); out[4] = u32(s.exchanged) * 10u + u32(s.old_value);
        out[5] = u32(atomicAdd(&w[input[1]], 3)); atomicStore(&w[input[1]], 3); out[6] = u32(atomicLoad(&w[input[1]]) + atomicLoad(&w[i]));
        let t = atomicCompareExchangeWeak(&w[input[1]], 0, 4); out[7] = u32(t.exchanged);",
        &[1, 2],
        8,
    );
    assert_eq!(seen, [0, 5, 9, 11, 4, 0, 4, 0]);
}

#[test]
fn an_aligned_member_aligns_what_holds_it() {
    let text = "const far = 64; struct Inner { @align(far) x: u32 } struct Mid { @size(8) a: u32, i: array<Inner, 2> }
        struct Outer { n: u32, y: Inner, m: Mid, t: u32 }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> s: Outer;
        var<private> p: Outer;
        @compute @workgroup_size(1) fn main() {
            out[0] = s.n; out[1] = s.y.x; out[2] = s.m.a; out[3] = s.m.i[1].x; out[4] = s.t;
            p.y.x = 5u; p.n = 1u; p.m.i[1].x = 6u; s = p;
        }";
    let after = harness::run(1, text, [1, 1, 1], &[vec![0; 5], (0..96).collect()]);
    assert_eq!(after[0], [0, 16, 32, 64, 80]);
    let written: Vec<u32> = [0, 16, 32, 64, 80].map(|i| after[1][i]).into();
    assert_eq!(written, [1, 5, 0, 6, 0]);
}

#[test]
fn a_variable_declared_in_a_loop_starts_at_zero_each_time() {
    // The array is read where only the round before wrote; the dynamic index keeps it in memory.
    let source = "
        @group(0) @binding(0) var<storage, read> at: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1)
        fn main() {
            for (var round = 0u; round < 4u; round++) {
                var a: array<u32, 8>;
                var scalar: u32;
                out[round * 4u] = a[at[0]] + a[at[1]];
                out[round * 4u + 1u] = scalar;
                a[at[round % 2u]] = 7u + round;
                scalar = 9u;
                workgroupBarrier();
                out[round * 4u + 2u] = a[at[round % 2u]];
                out[round * 4u + 3u] = a[at[2]];
            }
        }";
    let result = harness::run(1, source, [1, 1, 1], &[vec![3, 5, 6], vec![99; 16]]);
    let expected: Vec<u32> = (0..4).flat_map(|round| [0, 0, 7 + round, 0]).collect();
    assert_eq!(result[1], expected);
}
