//! `assess_once vanta|floor BYTES TIMES`: the same decision TIMES times and nothing else, so that a profiler can count
//! what one costs. `scripts/instructions.sh` runs it.

use std::hint::black_box;
use std::process::ExitCode;

use vanta_kernel::{Action, Scope, assess};

mod commands;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [engine, bytes, times] = args.as_slice() else { return ExitCode::FAILURE };
    let (Ok(bytes), Ok(times)) = (bytes.parse(), times.parse::<usize>()) else { return ExitCode::FAILURE };
    let command = commands::harmless(bytes);
    match engine.as_str() {
        "vanta" => {
            let scope = Scope::new("/home/dev/project").home("/home/dev");
            let action = Action::shell(command);
            for _ in 0..times {
                black_box(assess(black_box(&action), black_box(&scope)));
            }
        }
        "floor" => {
            let floor = commands::literal_scan();
            for _ in 0..times {
                black_box(floor.is_match(black_box(command.as_str())));
            }
        }
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}
