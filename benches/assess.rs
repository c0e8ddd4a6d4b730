//! Time of one decision: a harmless shell command of 50 B to 1 MiB, and the middle and the slowest case of the corpus.
//!
//! The floor is one case-insensitive scan of the same bytes for a hundred literals: the least that a filter
//! by deny list must do. Run: `cargo bench -p vanta-benches --bench assess`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aho_corasick::AhoCorasick;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use vanta_kernel::json::Json;
use vanta_kernel::{Action, Scope, Verdict, assess, batch_case};

mod commands;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let floor = commands::literal_scan();
    let mut group = criterion.benchmark_group("assess");
    for (label, bytes) in SIZES {
        let case = Case::harmless(bytes);
        // Another verdict means another path through the rules, and figures that cannot be compared.
        let verdict = assess(&case.action, &case.scope);
        assert!(matches!(verdict, Verdict::Allow(_)), "the {label} command is not harmless");
        assert!(!floor.is_match(&case.text), "the {label} command ends the floor's scan early");
        measure(&mut group, label, &case, &floor);
    }
    let cases = by_time(corpus());
    for (label, case) in [("corpus-median", cases.get(cases.len() / 2)), ("corpus-worst", cases.last())] {
        if let Some(case) = case {
            measure(&mut group, label, case, &floor);
        }
    }
    group.finish();
    criterion.final_summary();
}

/// One action to judge and the text a scan would read.
struct Case {
    text: String,
    action: Action,
    scope: Scope,
}

impl Case {
    fn harmless(bytes: usize) -> Self {
        let text = commands::harmless(bytes);
        let scope = Scope::new("/home/dev/project").home("/home/dev");
        Self { action: Action::shell(text.as_str()), text, scope }
    }
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, label: &str, case: &Case, floor: &AhoCorasick) {
    group.throughput(Throughput::Bytes(case.text.len() as u64));
    group.bench_with_input(BenchmarkId::new("vanta", label), case, |bencher, case| {
        bencher.iter(|| assess(black_box(&case.action), black_box(&case.scope)));
    });
    group.bench_with_input(BenchmarkId::new("floor", label), case, |bencher, case| {
        bencher.iter(|| floor.find_iter(black_box(case.text.as_str())).count());
    });
}

/// Every case of the kernel's corpus.
#[expect(clippy::expect_used, reason = "a measurement without its cases must not go on")]
fn corpus() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vanta-kernel/tests/data/safety.jsonl");
    let lines = std::fs::read_to_string(path).expect("the corpus is in the repository");
    let rows = lines.lines().map(|line| Json::parse(line).expect("a line of the corpus is JSON"));
    rows.filter_map(|row| {
        let (action, scope) = batch_case(&row).ok()?;
        Some(Case { text: row.get("action")?.as_str()?.into(), action, scope })
    })
    .collect()
}

/// The fastest first; of each the best of a few runs, which noise can only make slower.
fn by_time(cases: Vec<Case>) -> Vec<Case> {
    let best = |case: &Case| {
        let once = || {
            let start = Instant::now();
            black_box(assess(black_box(&case.action), black_box(&case.scope)));
            start.elapsed()
        };
        (0..15).map(|_| once()).min().unwrap_or(Duration::ZERO)
    };
    let mut timed: Vec<_> = cases.into_iter().map(|case| (best(&case), case)).collect();
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, case)| case).collect()
}

const SIZES: [(&str, usize); 4] = [("50B", 50), ("1KiB", 1024), ("64KiB", 64 * 1024), ("1MiB", 1024 * 1024)];
