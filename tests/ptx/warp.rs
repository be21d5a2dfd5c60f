//! Instructions that a warp executes together.

use super::compute::compute;

/// The results of the threads that are here; `args` holds their operands behind the destination, the mask last.
pub fn together(op: &[&str], args: &[Option<Vec<u64>>]) -> Vec<Option<u64>> {
    let here = (0..).zip(args).filter(|(_, args)| args.is_some());
    let active = here.fold(0u64, |all, (lane, _): (u32, _)| all | 1 << lane);
    let of = |lane: u64, number: usize| {
        args.get(lane as usize)
            .and_then(|a| Some(a.as_ref()?[number]))
    };
    let each = |number: usize| (0..32).filter_map(move |lane| Some((lane, of(lane, number)?)));
    let votes = || each(0).map(|(_, vote)| vote & 1 == 1);
    let one = |own: &[u64], lane: u64| match op {
        ["activemask", "b32"] => active,
        ["bar", "warp", "sync"] => 0,
        ["vote", "sync", "ballot", "b32"] => {
            each(0).fold(0, |all, (lane, vote)| all | (vote & 1) << lane)
        }
        ["vote", "sync", "all", "pred"] => votes().all(|vote| vote).into(),
        ["vote", "sync", "any", "pred"] => votes().any(|vote| vote).into(),
        ["redux", "sync", fold, ty] => {
            let values = each(0).map(|(_, value)| value);
            let all = values.reduce(|a, b| compute(&[fold, ty], &[a, b]));
            all.expect("somebody is here")
        }
        ["shfl", "sync", mode, "b32"] => {
            assert_eq!(own[2], 31, "the whole warp");
            let from = match *mode {
                "idx" => own[1] & 31,
                "bfly" => lane ^ own[1],
                mode => panic!("what is shfl.{mode}?"),
            };
            of(from, 0).unwrap_or_else(|| panic!("lane {from} is not here"))
        }
        _ => panic!("what is {op:?}?"),
    };
    (0..)
        .zip(args)
        .map(|(lane, own)| {
            let own = own.as_ref()?;
            if op[0] != "activemask" {
                assert_eq!(
                    own.last(),
                    Some(&active),
                    "{op:?}: who is named and who is here"
                );
            }
            Some(one(own, lane))
        })
        .collect()
}
