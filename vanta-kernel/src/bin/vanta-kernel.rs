//! The `vanta-kernel` binary: [`vanta_kernel::cli`] with this process's arguments and streams.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let (mut stdin, mut stdout, mut stderr) = (io::stdin().lock(), io::stdout().lock(), io::stderr().lock());
    vanta_kernel::cli::main_with(&args, &mut stdin, &mut stdout, &mut stderr).into()
}
