//! Time of one decision about a harmless shell command of 50 B, 1 KiB and 64 KiB.
//!
//! The floor is one case-insensitive scan of the same bytes for a hundred literals: the least that a filter
//! by deny list must do. Run: `cargo bench -p vanta-benches --bench assess`.

use std::hint::black_box;

use aho_corasick::AhoCorasick;
use criterion::{BenchmarkId, Criterion, Throughput};
use vanta_kernel::{Action, Scope, Verdict, assess};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    measure(&mut criterion);
    criterion.final_summary();
}

fn measure(criterion: &mut Criterion) {
    let scope = Scope::new("/home/dev/project").home("/home/dev");
    let floor = literal_scan();
    let mut group = criterion.benchmark_group("assess");
    for (label, bytes) in SIZES {
        let command = harmless(bytes);
        let action = Action::shell(command.as_str());
        // Another verdict means another path through the rules, and figures that cannot be compared.
        assert!(matches!(assess(&action, &scope), Verdict::Allow(_)), "the {label} command is not harmless");
        assert!(!floor.is_match(&command), "the {label} command ends the floor's scan early");

        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_with_input(BenchmarkId::new("vanta", label), &action, |bencher, action| {
            bencher.iter(|| assess(black_box(action), black_box(&scope)));
        });
        group.bench_with_input(BenchmarkId::new("floor", label), &command, |bencher, command| {
            bencher.iter(|| floor.is_match(black_box(command.as_str())));
        });
    }
    group.finish();
}

/// A list of commands that only read, exactly `bytes` long.
fn harmless(bytes: usize) -> String {
    let mut command = String::with_capacity(bytes);
    for line in READ_ONLY.iter().cycle() {
        if command.len() + line.len() + LAST.len() > bytes {
            break;
        }
        command.push_str(line);
    }
    command.push_str(LAST);
    command.extend(std::iter::repeat_n('x', bytes.saturating_sub(command.len())));
    command
}

/// An automaton for a hundred literals, none of which occurs in a harmless command.
#[expect(clippy::expect_used, reason = "a measurement without its floor must not go on")]
fn literal_scan() -> AhoCorasick {
    let literals = PROGRAMS.iter().flat_map(|program| OPTIONS.map(|option| format!("{program} {option}")));
    AhoCorasick::builder().ascii_case_insensitive(true).build(literals).expect("a hundred literals fit")
}

const SIZES: [(&str, usize); 3] = [("50B", 50), ("1KiB", 1024), ("64KiB", 64 * 1024)];

const READ_ONLY: [&str; 5] = [
    "ls -la src; ",
    "git status --short && ",
    "wc -l 'src/lib.rs'; ",
    "grep -n \"fn main\" src/main.rs | head -n 5; ",
    "cat Cargo.toml; ",
];

/// The last command; its argument fills what is left.
const LAST: &str = "echo ";

const PROGRAMS: [&str; 10] =
    ["rm", "dd", "mkfs", "shutdown", "chmod", "chown", "curl", "wget", "truncate", "shred"];

const OPTIONS: [&str; 10] = ["-r", "-f", "-rf", "-R", "if=", "of=", "--force", "-o", "-X", "/"];
