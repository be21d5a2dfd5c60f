//! Control flow and calls: run on the CPU, compared with what WGSL says.

mod harness;

fn run(declarations: &str, body: &str, input: &[u32], words: usize) -> Vec<u32> {
    let text = format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> input: array<u32>;
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let buffers = harness::run(1, &text, [1, 1, 1], &[vec![0; 64], input.to_vec()]);
    buffers[0][..words].to_vec()
}

#[test]
fn switches_choose_one_case() {
    let seen = run(
        "fn f(x: u32) -> u32 {
            var r = 0u;
            switch x {
                case 1u, 2u: { r = 10u; }
                case 3u: { if input[0] == 3u { r = 5u; break; } r = 30u; }
                case 9u, default: { r = 99u; break; }
                case 4u: { return 40u; }
                case 5u: {}
            }
            return r + 1u;
        }
        fn g(x: i32) -> u32 { switch x { case -1: { return 1u; } default: { return 2u; } } }",
        "for (var i = 0u; i < 8u; i++) { input[0] = i; out[i] = f(i); } input[0] = 0u; out[8] = f(3u); out[9] = g(-1) * 10u + g(i32(input[1]));
        switch 2 { case 1: { out[10] = 1u; } case 2: { if input[0] == 0u { out[10] = 2u; break; } out[10] = 3u; } default: {} }",
        &[0, 0],
        11,
    );
    assert_eq!(seen, [100, 11, 11, 6, 40, 1, 100, 100, 31, 12, 2]);
}

#[test]
fn loops_break_and_continue_from_switches() {
    let seen = run(
        "",
        "for (var i = 0u; i < 10u; i++) {
            switch i { case 2u, 4u: { continue; } case 7u: { break; } default: { out[1] += 1u; } }
            if i == 8u { break; }
            out[0] += i;
        }
        var n = 0u;
        loop { n += 1u; if n % 2u == 0u { continue; } if n > 20u { break; } out[2] += n; continuing { out[3] += 1u; break if n == 9u; } }
        var k = 5u; while k > 0u { k--; if k == 2u { continue; } out[4] += k; }
        loop { loop { if k > 3u { break; } k++; continue; } out[5] = k; break; }
        for (var i = 0u; ; i++) { if i == input[0] { out[6] = i; break; } }
        for (var i = 0i; i < 3; i++) { for (var j = 0i; j < 3; j++) { if j > i { break; } if j == 1 { continue; } out[7] += 1u; } }",
        &[6],
        8,
    );
    assert_eq!(
        seen,
        [
            1 + 3 + 5 + 6 + 7,
            6,
            1 + 3 + 5 + 7 + 9,
            9,
            4 + 3 + 1,
            4,
            6,
            1 + 1 + 2
        ]
    );
}

#[test]
fn calls_return_from_anywhere() {
    let seen = run(
        "fn find(x: u32) -> u32 { for (var i = 0u; i < 8u; i++) { if input[i % 4u] == x { return i; } if i == 5u { return 50u; } } return 80u; }
        fn nested(x: u32) -> vec2<u32> { loop { switch x { case 0u: { return vec2(1u, 2u); } default: { if x > 5u { return vec2(find(x), 3u); } } } return vec2(4u); } return vec2(0u); }
        fn early(x: u32) { if x == 1u { return; } out[x] = 9u; }
        fn twice(x: u32) -> u32 { return find(x) + find(x + 1u); }
        fn fact(n: u32) -> u32 { var r = 1u; for (var i = 2u; i <= n; i++) { r *= i; } return r; }",
        "out[0] = find(input[2]); out[1] = find(100u); let a = nested(input[3]); out[2] = a.x * 10u + a.y; let b = nested(3u); out[3] = b.x + b.y;
        early(1u); early(5u); out[4] = out[1] + out[5]; out[6] = twice(7u); out[7] = fact(5u) + fact(fact(3u)); _ = find(2u);
        let c = nested(9u); out[8] = c.x * 10u + c.y;",
        &[4, 7, 8, 0],
        9,
    );
    assert_eq!(seen, [2, 50, 12, 8, 59, 9, 3, 120 + 720, 503]);
}

#[test]
fn the_order_of_evaluation_is_the_source_s() {
    let seen = run(
        "var<private> trace: u32;
        fn step(d: u32) -> u32 { trace = trace * 10u + d; return d; }
        fn yes(d: u32) -> bool { trace = trace * 10u + d; return true; }
        fn no(d: u32) -> bool { trace = trace * 10u + d; return false; }
        fn take(a: u32, b: u32, c: u32) -> u32 { trace = trace * 10u + 9u; return a + b + c; }",
        "out[0] = take(step(1u), step(2u), step(3u)); out[1] = trace; trace = 0u;
        if no(1u) && yes(2u) || yes(3u) { out[2] = trace; } trace = 0u;
        var a = array(0u, 0u, 0u, 0u); a[step(1u)] = step(2u); out[3] = trace; out[4] = a[1];
        input[0] = input[0] + step(4u) * input[0]; out[5] = input[0];
        var x = 3u; x += step(x); x <<= 1u; x--; out[6] = x;",
        &[5],
        7,
    );
    assert_eq!(seen, [6, 1239, 13, 12, 2, 25, 11]);
}

#[test]
fn values_of_a_loop_s_body_reach_its_continuing() {
    let seen = run(
        "",
        "var s = 0u; var i = 0u;
        loop { let sq = i * i; if i >= input[0] { break; } continuing { s += sq; i++; } }
        out[0] = s; out[1] = i;",
        &[4],
        2,
    );
    assert_eq!(seen, [14, 4]);
}

/// Assemblers of NVIDIA's have made a constant of such a flag.
#[test]
fn a_flag_known_before_a_loop_may_be_flipped_in_it() {
    let flipped = |turns: &[u32]| {
        run(
            "",
            "for (var k = 0u; k < 6u; k++) {
                var flag = input[k] == 9u;
                if !flag {
                    var outer = 0u;
                    while outer < input[k] % 4u {
                        outer++;
                        for (var inner = 0u; inner < input[k + outer] % 4u; inner++) {
                            var n = 0u;
                            loop { continuing { n++; break if n >= inner % 2u; } }
                            flag = !flag;
                        }
                    }
                }
                out[k] = u32(flag);
            }",
            turns,
            6,
        )
    };
    let expected = |turns: &[u32]| -> Vec<u32> {
        let flips = |k: usize| (1..=turns[k] as usize % 4).map(move |outer| turns[k + outer] % 4);
        let flag = |k: usize| match turns[k] {
            9 => 1,
            _ => flips(k).sum::<u32>() % 2,
        };
        (0..6).map(flag).collect()
    };
    for turns in [
        [1, 2, 3, 1, 2, 3, 0, 1, 2],
        [2, 1, 1, 2, 3, 3, 3, 2, 1],
        [9, 1, 3, 9, 2, 2, 2, 2, 3],
    ] {
        assert_eq!(flipped(&turns), expected(&turns), "{turns:?}");
    }
}

#[test]
fn workgroups_share_and_meet() {
    let text = "var<workgroup> tile: array<u32, 64>; var<workgroup> total: atomic<u32>; var<workgroup> first: u32;
        fn meet() { workgroupBarrier(); }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
            tile[i] = i + g.x; meet();
            for (var step = 32u; step > 0u; step /= 2u) { if i < step { tile[i] += tile[i + step]; } workgroupBarrier(); }
            atomicAdd(&total, 1u);
            if i == 0u { first = tile[0]; }
            let f = workgroupUniformLoad(&first);
            if i == 63u { out[g.x] = f + atomicLoad(&total) * n.x; }
        }";
    let after = harness::run(2, text, [3, 1, 1], &[vec![0; 3]]);
    let expected = |g: u32| 63 * 32 + 64 * g + 64 * 3;
    assert_eq!(after[0], [expected(0), expected(1), expected(2)]);
}
