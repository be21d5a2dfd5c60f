//! Programs that together use all of the language.

/// A body that writes `out`, with the usual bindings around it.
fn framed(declarations: &str, body: &str) -> String {
    format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3u,
            @builtin(local_invocation_index) lid: u32, @builtin(num_workgroups) groups: vec3u) {{
            let i = gid.x; {body} }}"
    )
}

fn integers(programs: &mut Vec<String>) {
    for ty in ["u32", "i32", "u64", "i64"] {
        let body = format!(
            "let a = {ty}(input[i]); let b = {ty}(input[i + 1u]); let n = input[i + 2u];
            var r = a + b * a - b; r ^= a / b; r |= a % b; r &= ~a; r += a << (n & 255u); r += a >> n;
            r += a / 7; r += a % 1; r += min(a, b) + max(a, b) + clamp(a, b, r) + abs(a);
            r += countOneBits(a) + countLeadingZeros(a) + countTrailingZeros(a) + reverseBits(a);
            r += select(a, b, a < b) + select(a, b, a >= b) + {ty}(a == b) + {ty}(a != b);
            out[i] = u32(r) + u32(f32(a)) + u32(f32(b) * 2.0);"
        );
        programs.push(framed("", &body));
    }
    programs.push(framed(
        "",
        "let a = i32(input[i]); var r = firstLeadingBit(a) + firstTrailingBit(a) + extractBits(a, 3u, 5u);
        r = insertBits(r, a, input[3], input[4]) - sign(a); out[i] = bitcast<u32>(-r);
        out[i + 1u] = dot4U8Packed(input[i], input[2]) + pack4xU8(vec4u(input[0], 1u, 2u, 3u));",
    ));
}

fn floats(programs: &mut Vec<String>) {
    for (enable, ty) in [("", "f32"), ("enable f16;", "f16"), ("", "f64")] {
        let from = if ty == "f64" {
            "f64(f32(input[i]))"
        } else {
            &format!("{ty}(input[i])")
        };
        let body = format!(
            "let a = {from}; let b = a + {ty}(2.5); let k = i32(input[2]);
            var r = a + b * a - b / a; r += a % b; r += fma(a, b, r) + sqrt(a) + inverseSqrt(b);
            r += floor(a) + ceil(a) + trunc(a) + round(a) + fract(a) + abs(a) + sign(a) - (-b);
            r += min(a, b) + max(a, b) + clamp(a, b, r) + mix(a, b, r) + step(a, b) + saturate(a);
            r += select(a, b, a < b) + {ty}(a == b) + {ty}(a != b) + {ty}(a > r) + ldexp(a, k);
            out[i] = u32(r) + u32(i32(a)) + u32(u64(b)) + u32(i64(r)) + u32(bool(a));"
        );
        programs.push(framed(enable, &body));
    }
    programs.push(framed(
        "",
        "let a = bitcast<f32>(input[i]); let p = frexp(a); let m = modf(a);
        out[0] = bitcast<u32>(p.fract) + u32(p.exp) + u32(m.fract) + u32(m.whole) + pack2x16float(vec2(a, 1.0));
        let h = unpack2x16float(input[3]); out[1] = bitcast<u32>(h.x + h.y) + pack4x8snorm(vec4(a)) + bitcast<u32>(quantizeToF16(a));",
    ));
    programs.push(framed(
        "",
        "let a = bitcast<f32>(input[i]); var m = mat4x4<f32>(); m[1] = vec4(a, 2.0, 3.0, a); m[input[1]][input[2]] = 3.0;
        let v = m * vec4(a) + transpose(m)[2]; out[i] = u32(dot(v, v) + determinant(m) + length(cross(v.xyz, v.yzw)));
        let q = normalize(v.xy); out[i + 1u] = u32(distance(q, v.zw));",
    ));
}

fn elementary(programs: &mut Vec<String>) {
    for ty in ["f32", "f16"] {
        let enable = if ty == "f16" { "enable f16;" } else { "" };
        let body = format!(
            "let a = {ty}(input[i]); let b = {ty}(input[i + 1u]);
            var r = sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan(a) + atan2(a, b);
            r += sinh(a) + cosh(a) + tanh(a) + asinh(a) + acosh(a) + atanh(a);
            r += exp(a) + exp2(a) + log(a) + log2(a) + pow(a, b) + inverseSqrt(a);
            out[i] = u32(r);"
        );
        programs.push(framed(enable, &body));
    }
}

fn memory(programs: &mut Vec<String>) {
    programs.push(framed(
        "struct S { a: vec3<f32>, b: u32, c: vec4<u32>, d: array<vec2<u32>, 3> }
        @group(0) @binding(2) var<storage, read_write> s: array<S>;
        @group(0) @binding(3) var<storage, read> t: array<S>;
        @group(1) @binding(0) var<uniform> u: S2; struct S2 { m: mat4x4<f32>, k: vec4<u32> }",
        "s[i] = t[i + 1u]; s[i].d[lid % 3u] = t[i].d[input[i]]; s[i].c += u.k;
        out[i] = arrayLength(&out) + arrayLength(&s) + u32(u.m[lid & 3u].x);",
    ));
    programs.push(framed(
        "var<workgroup> w: array<vec4<f32>, 64>; var<workgroup> f: array<bool, 64>; var<private> p: array<u32, 600>;",
        "w[lid] = vec4(f32(lid)); f[lid] = lid > 3u; p[input[i]] = 3u; p[lid] += 1u;
        workgroupBarrier(); var q = array(1u, 2u, 3u, 4u); q[lid & 3u] = 9u;
        let k = array(11u, 12u, 13u, 14u, 15u);
        out[i] = u32(w[63u - lid].y) + u32(f[input[2]]) + p[input[3]] + q[input[4]] + k[input[5]];",
    ));
    programs.push(framed(
        "struct B { x: bool, y: vec3<bool>, z: vec4<bool> } var<workgroup> w: array<B, 64>;",
        "w[lid].y = vec3(true, lid > 3u, input[i] == 2u); w[lid].z = vec4(w[lid].y, false);
        workgroupBarrier(); out[i] = u32(w[63u - lid].y.y) + u32(all(w[lid ^ 1u].z)) + u32(any(w[lid ^ 1u].y.xz));",
    ));
    // More than a module may declare.
    programs.push(framed(
        "var<workgroup> w: array<u32, 15000>;",
        "w[i] = i; workgroupBarrier(); out[i] = w[input[i]];",
    ));
    programs.push(framed(
        "enable f16; @group(0) @binding(2) var<storage, read_write> h: array<vec4<f16>>;
            @group(0) @binding(3) var<storage, read_write> d: array<vec4<f64>>;
            struct P { a: u32, b: array<vec4<f32>, 2> } var<immediate> pc: P;",
        "h[i] = h[i + 1u] * f16(2.0); d[i] += d[i + 1u]; out[i] = pc.a + u32(pc.b[lid & 1u].z);",
    ));
    for (ty, space) in [
        ("u32", "storage"),
        ("i32", "storage"),
        ("u64", "storage"),
        ("i64", "storage"),
        ("u32", "workgroup"),
        ("i32", "workgroup"),
    ] {
        let (place, access) = match space {
            "storage" => ("@group(0) @binding(2)", ", read_write"),
            _ => ("", ""),
        };
        let size = if space == "workgroup" { ", 64" } else { "" };
        programs.push(framed(
            &format!("{place} var<{space}{access}> a: array<atomic<{ty}>{size}>;"),
            &format!(
                "let v = {ty}(input[i]); let k = input[1]; atomicAdd(&a[k], v); atomicSub(&a[i & 7u], v); atomicMin(&a[k], v);
                atomicMax(&a[k], v); atomicAnd(&a[k], v); atomicOr(&a[k], v); atomicXor(&a[k], v); atomicStore(&a[1], v);
                var r = atomicAdd(&a[k], v) + atomicSub(&a[k], v) + atomicExchange(&a[k], v) + atomicLoad(&a[k]);
                let e = atomicCompareExchangeWeak(&a[k], v, r); r += e.old_value + {ty}(e.exchanged);
                let far = input[1] * 100000u; r += atomicAdd(&a[far], v) + atomicLoad(&a[far]) + atomicExchange(&a[far], v);
                let f = atomicCompareExchangeWeak(&a[far], {ty}(), r); r += f.old_value + {ty}(f.exchanged); atomicStore(&a[far], v);
                atomicMax(&a[far], v); out[i] = u32(r);"
            ),
        ));
    }
}

fn textures(programs: &mut Vec<String>) {
    for (format, ty) in [
        ("rgba8unorm", "f32"),
        ("bgra8unorm", "f32"),
        ("rgba8snorm", "f32"),
        ("rgba8sint", "i32"),
        ("rgb10a2uint", "u32"),
        ("rg16float", "f32"),
        ("rgba16snorm", "f32"),
        ("rgba16uint", "u32"),
        ("r32sint", "i32"),
        ("rg32uint", "u32"),
        ("rgba32float", "f32"),
    ] {
        programs.push(framed(
            &format!(
                "@group(0) @binding(2) var t: texture_storage_2d<{format}, read_write>;
                @group(0) @binding(3) var s: texture_2d_array<{ty}>; @group(0) @binding(4) var v: texture_3d<{ty}>;
                @group(0) @binding(5) var w: texture_storage_3d<{format}, write>; @group(0) @binding(6) var l: texture_1d<{ty}>;"
            ),
            "let at = vec2(i32(input[i]), i32(input[i + 1u]) - 1); let k = input[i + 2u];
            let x = textureLoad(t, at) + textureLoad(s, at, k, 0) + textureLoad(v, vec3(input[0], k, 1u), i32(k) - 1);
            textureStore(t, vec2(at.y, at.x), x); textureStore(w, vec3(k, input[i], 1u), x + textureLoad(l, k, 0));
            let d = textureDimensions(v, i32(k)); out[i] = u32(x.x) + textureNumLayers(s) + d.x + d.z + textureDimensions(l);",
        ));
    }
}

fn control(programs: &mut Vec<String>) {
    for body in [
        "for (var k = 0u; k < 16u; k++) { out[k] = k; }",
        "var k = 0u; loop { if (k > input[0]) { break; } if (k == 3u) { k += 2u; continue; } out[k] = k; continuing { k++; } }",
        "var k = input[0]; while (k > 1u) { k = select(3u * k + 1u, k / 2u, k % 2u == 0u); } out[i] = k;",
        "switch input[i] { case 1u, 2u: { out[0] = 1u; } case 7u: { if (i > 3u) { break; } out[1] = 2u; } default: { return; } } out[2] = 3u;",
        "loop { out[i] += 1u; continuing { break if out[i] > 5u; } }",
        "if (i > 3u && input[i] < 2u || i == 1u) { return; } out[i] = 1u;",
        "for (var a = 0; a < 4; a++) { for (var b = a; b < 9; b += 2) { out[a * 9 + b] = 1u; if (input[b] == 3u) { return; } } }",
        "workgroupBarrier(); if (input[i] > 2u) { workgroupBarrier(); } storageBarrier(); out[i] = groups.x + groups.y;",
    ] {
        programs.push(framed("", body));
    }
}

fn barriers(programs: &mut Vec<String>) {
    for body in [
        "out[i] = i; gridBarrier(); out[i] += out[(i + 64u) % arrayLength(&out)];",
        "for (var k = 0u; k < 5u; k++) { out[i] += 1u; gridBarrier(); }",
        "var k = 0u; loop { out[k] = 1u; gridBarrier(); if (out[k + 7u] == 0u) { break; } gridBarrier(); k++; }",
    ] {
        programs.push(framed("", body));
    }
}

/// Each invocation writes only its own word, so any workgroup size has one right result.
pub fn subgroups() -> Vec<String> {
    let mut programs = Vec::new();
    for ty in ["u32", "i32", "f32", "f16", "u64", "i64", "f64"] {
        let from = match ty {
            "f64" => "f64(f32(input[i] & 1023u) * 0.37)",
            "f32" | "f16" => &format!("{ty}(f32(input[i] & 1023u) * 0.37)"),
            _ => &format!("{ty}(input[i])"),
        };
        let own = if ty.starts_with('f') {
            ""
        } else {
            "r += subgroupAnd(a) + subgroupOr(a) + subgroupXor(a);"
        };
        let body = format!(
            "let a = {from}; var r = a; let v = vec3(a, r + a, {ty}(lane));
            r += subgroupAdd(a); r += subgroupMul(a); r += subgroupMin(a) + subgroupMax(a); {own}
            r += subgroupInclusiveAdd(a) + subgroupExclusiveAdd(a) - subgroupInclusiveMul(a); r += subgroupExclusiveMul(a);
            r += subgroupShuffle(a, input[i] % 40u) + subgroupShuffleXor(a, 5u) + subgroupShuffleUp(a, 2u);
            r += subgroupShuffleDown(a, 3u) + subgroupBroadcast(a, 0u) + subgroupBroadcastFirst(r);
            r += quadBroadcast(a, 1u) + quadSwapX(a) + quadSwapY(a) + quadSwapDiagonal(a);
            let w = subgroupAdd(v) + subgroupInclusiveAdd(v.yxz); r += w.x + w.y * w.z;
            let b = subgroupBallot(r > a); out[i] = b.x ^ u32(r) + u32(subgroupAll(r > a)) + 2u * u32(subgroupAny(r < a));"
        );
        programs.push(body.clone());
        // Where not all come, and where subgroups go by themselves.
        programs.push(format!(
            "if input[i] % 3u == 1u {{ {body} }} else if lane > 20u {{ return; }}
            out[i] += subgroupAdd(1u) + subgroupExclusiveAdd(lane);"
        ));
        programs.push(format!(
            "for (var k = 0u; k < lid / 32u + 1u; k++) {{ {body} }} if subgroup == 1u {{ {body} }}"
        ));
    }
    programs.push("sums[lid] = input[i]; subgroupBarrier(); out[i] = sums[lid ^ 1u];".into());
    programs.push(
        "var k = 0u; loop { if k > input[i] % 5u { break; } k += 1u; out[i] += subgroupAdd(k); subgroupBarrier(); }
        out[i] ^= subgroupMax(k);"
            .into(),
    );
    programs.push(
        "let s = subgroupAdd(input[i]); if lane == 0u { sums[subgroup] = s; } workgroupBarrier();
        if subgroup == 0u { let t = subgroupAdd(select(0u, sums[lane], lane < subgroups)); if lane == 0u { sums[63] = t; } }
        workgroupBarrier(); out[i] = sums[63];"
            .into(),
    );
    let framed = |body: String| {
        format!(
            "enable f16; enable subgroups; var<workgroup> sums: array<u32, 64>;
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @group(0) @binding(1) var<storage, read> input: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3u,
                @builtin(local_invocation_index) lid: u32, @builtin(subgroup_invocation_id) lane: u32,
                @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32) {{
                let i = gid.x; {body} }}"
        )
    };
    programs.into_iter().map(framed).collect()
}

/// The programs that the documentation shows as right.
fn shown(programs: &mut Vec<String>) {
    for text in [
        include_str!("../../docs/guide.md"),
        include_str!("../../docs/phases.md"),
    ] {
        let blocks = text.split("\n```wgsl\n").skip(1);
        let before = programs.len();
        programs
            .extend(blocks.map(|rest| rest.split("\n```").next().unwrap_or_default().to_string()));
        assert!(programs.len() > before, "the documentation shows programs");
    }
}

/// Those with one right result.
pub fn exact() -> Vec<String> {
    let mut programs = Vec::new();
    for family in [integers, floats, memory, textures, control, barriers] {
        family(&mut programs);
    }
    programs
}

/// And those with functions that may differ in the last place, those of the documentation, and the examples.
pub fn all() -> Vec<String> {
    let mut programs = exact();
    elementary(&mut programs);
    for source in subgroups() {
        programs.push(source.replace("@workgroup_size(64)", "@workgroup_size(50)"));
        programs.push(source);
    }
    shown(&mut programs);
    programs.push(include_str!("../../examples/c/reach.wgsl").into());
    programs.push(include_str!("../../examples/c/heat.wgsl").into());
    programs
}
