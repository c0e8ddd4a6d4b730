//! The `vanta-kernel` command, on streams and as a process.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use vanta_kernel::cli::main_with;

struct Ran {
    code: u8,
    stdout: String,
    stderr: String,
}

fn run(args: &[&str], stdin: &[u8]) -> Ran {
    let args: Vec<_> = args.iter().map(Into::into).collect();
    let (mut stdin, mut stdout, mut stderr) = (stdin, Vec::new(), Vec::new());
    let code = main_with(&args, &mut stdin, &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, stdout: text(stdout), stderr: text(stderr) }
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_batch_answers_in_order() {
    let rows = concat!(
        r#"{"id":"a","kind":"shell","action":"ls","root":"/r","min":"allow"}"#,
        "\n\n",
        r#"{"id":2,"kind":"paint","action":"red","root":"/r"}"#,
        "\r\n",
        r#"{"id":"c","kind":"read","action":"x","root":"/r"}"#,
    );
    let ran = run(&["assess", "--batch"], rows.as_bytes());
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    let answers: Vec<_> = ran.stdout.lines().map(json).collect();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, ["a".into(), serde_json::Value::from(2), "c".into()]);
    assert_eq!(answers[1]["verdict"], "ask");
    assert_eq!(answers[1].as_object().unwrap().len(), 4);
}

#[test]
fn bad_lines_are_named_and_the_rest_is_answered() {
    let rows = b"nonsense\n{\"id\":1,\"kind\":\"read\",\"action\":\"x\",\"root\":\"/r\"}\n\xff\n{\"kind\":\"read\"}\n{\"id\":3}\n";
    let ran = run(&["assess", "--batch"], rows);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stdout.lines().count(), 1);
    let named: Vec<_> = ran.stderr.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(named, ["line 1", "line 3", "line 4", "line 5"]);
}

#[test]
fn one_action_is_judged_and_explained() {
    let ran = run(&["assess", "--root", "/r", "--home=/h", "--explain", "--", "ls src"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<_> = ran.stdout.lines().map(json).collect();
    for member in ["verdict", "rule", "reason", "span"] {
        assert!(!lines[0][member].is_null());
    }
    assert!(lines[1]["reading"]["commands"].is_array());
    assert_eq!(run(&["assess", "--root", "/r", "ls"], b"").stdout.lines().count(), 1);
}

#[test]
fn usage_errors_say_what_to_do() {
    for (args, problem) in [
        (&[][..], "no command"),
        (&["judge"], "`judge` is no command"),
        (&["assess", "ls"], "`--root` is missing"),
        (&["assess", "--root", "/r"], "give one action"),
        (&["assess", "--root", "/r", "rm", "x"], "give one action"),
        (&["assess", "--root"], "`--root` needs a value"),
        (&["assess", "--root", "/r", "--root", "/s", "ls"], "given twice"),
        (&["assess", "--root", "/r", "--kind", "paint", "x"], "`paint` is no kind"),
        (&["assess", "--root", "/r", "--kind", "move", "x"], "two things"),
        (&["assess", "--root", "/r", "--shell", "fish", "x"], "posix"),
        (&["assess", "--colour", "x"], "`--colour` is no option"),
        (&["assess", "--batch", "x"], "nothing else"),
    ] {
        let ran = run(args, b"");
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(problem), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("--help"));
    }
}

#[test]
fn help_and_version() {
    for args in [&["--help"][..], &["assess", "--help"], &["-h"]] {
        let ran = run(args, b"");
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("usage:"));
    }
    assert_eq!(run(&["--version"], b"").stdout, concat!("vanta-kernel ", env!("CARGO_PKG_VERSION"), "\n"));
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_fails_is_told_apart_from_one_that_was_closed() {
    let args = ["--help".into()];
    let mut stderr = Vec::new();
    assert_eq!(main_with(&args, &mut io::empty(), &mut Full, &mut stderr), 1);
    assert!(!stderr.is_empty());

    let mut child = Command::new(env!("CARGO_BIN_EXE_vanta-kernel"))
        .args(["assess", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let rows = "{\"id\":1,\"kind\":\"read\",\"action\":\"x\",\"root\":\"/r\"}\n".repeat(50);
    // The child may be gone before all is written.
    let _ = child.stdin.take().unwrap().write_all(rows.as_bytes());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stderr), (Some(0), &b""[..]));
}
