//! Programs that delete, copy, move, link, change permissions, write devices, pack and mirror.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, UNKNOWN, Value, display};
use crate::{Effect, PathClass};

impl Walker<'_> {
    pub(super) fn delete(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program(&call.name).map_or("", |p| p.values));
        let tree = matches!(call.name.as_str(), "trash" | "trash-put" | "rimraf" | "del-cli" | "trash-empty");
        let recursive = tree || call.tree || options.open || options.has(&["-r", "-R", "--recursive"]);
        let wipes = matches!(call.name.as_str(), "shred" | "srm" | "wipe");
        for operand in &options.operands {
            self.use_path_deep(operand, Effect::Delete, recursive || wipes, call);
        }
        if options.operands.is_empty() {
            call.fact(Act::UnknownArguments);
        }
        if options.operands.iter().any(|o| o.is_unknown()) {
            call.command.opaque = true;
        }
    }

    pub(super) fn copy(&mut self, call: &mut Call) {
        let row_values = table::program("cp").map_or("", |p| p.values);
        let options = Options::cluster(&call.args, row_values);
        let makes_folders = call.name == "install" && options.has(&["-d", "--directory"]);
        let target = options.value(&["-t", "--target-directory"]).cloned();
        let (sources, target) = split_target(&options.operands, target);
        let mut taint = Taint::NONE;
        for source in &sources {
            let effect = if makes_folders { Effect::Write } else { Effect::Read };
            let content = self.use_path(source, effect, call);
            taint = taint.join(content.taint);
        }
        if let Some(target) = target {
            let empties = sources.iter().any(|s| s.text == "/dev/null");
            self.use_path(&target, if empties { Effect::Overwrite } else { Effect::Write }, call);
            self.remember_taint(&target, taint);
        }
    }

    fn remember_taint(&mut self, target: &Value, taint: Taint) {
        if taint != Taint::NONE {
            let path = self.place().absolute(&target.text);
            self.state.remember_file(&path, Value::unknown(taint));
        }
    }

    pub(super) fn rename(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("mv").map_or("", |p| p.values));
        let target = options.value(&["-t", "--target-directory"]).cloned();
        let (sources, target) = split_target(&options.operands, target);
        let target_class = target.as_ref().map(|t| self.place().locate(&t.text).1);
        let mut taint = Taint::NONE;
        for source in &sources {
            let (_, class) = self.place().locate(&source.text);
            let kept = matches!(class, PathClass::InScope | PathClass::Temp)
                && !matches!(target_class, Some(PathClass::Harmless | PathClass::Device));
            // Moving inside the scope keeps everything; moving something that matters away is like deleting it.
            let effect = if kept { Effect::Write } else { Effect::Delete };
            taint = taint.join(self.use_path_deep(source, effect, class != PathClass::InScope, call).taint);
        }
        if let Some(target) = target {
            self.use_path(&target, Effect::Write, call);
            self.remember_taint(&target, taint);
        }
    }

    pub(super) fn link(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("ln").map_or("", |p| p.values));
        let target = options.value(&["-t", "--target-directory"]).cloned();
        if options.operands.len() == 1 && target.is_none() {
            for operand in &options.operands {
                self.use_path(operand, Effect::Read, call);
            }
            return;
        }
        let (sources, target) = split_target(&options.operands, target);
        for source in &sources {
            self.use_path(source, Effect::Read, call);
        }
        if let Some(target) = target {
            self.use_path(&target, Effect::Write, call);
        }
    }

    pub(super) fn permission(&mut self, call: &mut Call) {
        let by_reference = call.words().any(|w| w.starts_with("--reference"));
        // A mode such as `-w` or `-x` looks like an option and is none.
        let is_mode = |text: &str| {
            let tail = text.trim_start_matches(['-', '+', '=']);
            call.name == "chmod"
                && !tail.is_empty()
                && tail.chars().all(|c| matches!(c, 'r' | 'w' | 'x' | 's' | 't' | 'X'))
        };
        let args: Vec<Value> =
            call.args.iter().filter(|a| !(a.text.starts_with('-') && is_mode(&a.text))).cloned().collect();
        let had_mode = args.len() != call.args.len();
        let options = Options::cluster(&args, "--reference --from -m -M");
        let recursive = call.tree || options.has(&["-R", "--recursive", "-r"]);
        let takes_mode = call.name != "setfacl" || !options.has(&["-b", "-k", "-x", "-m"]);
        let attributes = call.name == "chattr";
        let is_attribute = |o: &Value| attributes && o.text.starts_with(['+', '-', '=']);
        let skip = usize::from(takes_mode && !by_reference && !had_mode);
        let operands: Vec<Value> = options.operands.iter().skip(skip).cloned().collect();
        let dangerous_mode =
            options.operands.first().is_some_and(|o| o.text.contains('s') && call.name == "chmod");
        for operand in operands.iter().filter(|o| !is_attribute(o)) {
            let (path, class) = self.place().locate(&operand.text);
            // Credentials lie in a home, where their own programs depend on the rights they have.
            let class = if class == PathClass::Secret { self.place().standing(&path) } else { class };
            if recursive && is_whole(class) {
                // As destructive as a delete: nothing below works afterwards.
                call.command.fact(
                    Act::PermissionTree,
                    format!("{} -R {}", call.name.as_str(), display(&operand.text)),
                );
                self.use_path_deep(operand, Effect::Overwrite, true, call);
            } else if recursive || dangerous_mode || call.name != "chmod" {
                self.use_path_deep(operand, Effect::Overwrite, recursive, call);
            } else {
                self.use_path(operand, Effect::Write, call);
            }
        }
    }

    pub(super) fn dd(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let mut endless = false;
        let mut bounded = false;
        let mut wrote = false;
        for arg in &args {
            match arg.text.split_once('=') {
                Some(("if", path)) => {
                    endless |= path.starts_with("/dev/");
                    let content = self.use_path(&arg.with_text(path), Effect::Read, call);
                    call.output.taint = call.output.taint.join(content.taint);
                }
                Some(("of", path)) => {
                    wrote = true;
                    // What was in the file is gone, unless it is told to stay.
                    let keeps = call.words().any(|w| w.starts_with("conv=") && w.contains("notrunc"));
                    let effect = if keeps { Effect::Write } else { Effect::Overwrite };
                    self.use_path(&arg.with_text(path), effect, call);
                }
                Some(("count" | "size", _)) => bounded = true,
                _ => {}
            }
        }
        call.output = Value::unknown(call.output.taint.join(call.stdin.taint));
        if endless && !bounded && wrote {
            call.fact(Act::Fill);
        }
    }

    pub(super) fn truncate(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("truncate").map_or("", |p| p.values));
        let size = options.value(&["-s", "--size"]).map_or("", |v| v.text.as_str());
        let grows = size.chars().any(|c| c.is_ascii_digit() && c != '0') || size.starts_with('+');
        let effect = if grows { Effect::Write } else { Effect::Overwrite };
        for operand in &options.operands {
            self.use_path(operand, effect, call);
        }
    }

    pub(super) fn device(&mut self, call: &mut Call) {
        let lists = call.words().any(|w| {
            matches!(
                w,
                "-l" | "--list"
                    | "list"
                    | "info"
                    | "-V"
                    | "--version"
                    | "-n"
                    | "--dry-run"
                    | "status"
                    | "print"
            )
        });
        let destroys = call.words().next() == Some("destroy");
        if lists && !destroys {
            return;
        }
        if call.name == "hdparm" || call.name == "nvme" || call.name == "mdadm" || call.name == "cryptsetup" {
            call.fact(Act::System);
        }
        let args = call.args.clone();
        let on_device = args.iter().any(|a| self.place().locate(&a.text).1 == PathClass::Device);
        let erases = call.words().any(|w| {
            let lower = w.to_ascii_lowercase();
            ["erase", "partitiondisk", "format", "destroy", "zero-superblock", "labelclear"]
                .iter()
                .any(|verb| lower.contains(verb))
        });
        let formats =
            call.name.starts_with("mkfs") || call.name.starts_with("newfs") || call.name == "wipefs";
        let unprompted = ["lvremove", "pvremove", "vgremove"].contains(&call.name.as_str())
            && call.words().any(|w| {
                matches!(w, "--force" | "--yes")
                    || w.starts_with('-') && w.contains(['f', 'y']) && !w.starts_with("--")
            });
        if on_device || erases || formats || unprompted {
            call.fact(Act::FormatDisk);
        } else if call.command.facts.is_empty() {
            call.fact(Act::System);
        }
    }

    pub(super) fn tee(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "");
        call.output = call.stdin.clone();
        for operand in &options.operands {
            self.tee_connection(operand, call);
            self.use_path(operand, Effect::Write, call);
            let content = call.stdin.clone();
            let path = self.place().absolute(&operand.text);
            if content.taint != Taint::NONE || !content.text.is_empty() {
                self.state.remember_file(&path, content);
            }
        }
    }

    /// `tee /dev/tcp/host/port`: meant as a connection, whatever this shell makes of the name.
    fn tee_connection(&mut self, operand: &Value, call: &mut Call) {
        let tail = operand.text.strip_prefix("/dev/tcp/").or_else(|| operand.text.strip_prefix("/dev/udp/"));
        let Some((host, port)) = tail.map(|tail| tail.split_once('/').unwrap_or((tail, ""))) else { return };
        call.command.hosts.push(String::from(host));
        let act = match (crate::shell::host::is_loopback(host), call.stdin.taint) {
            (true, _) if port == "7788" => Act::Approve,
            (_, taint) if taint.wire => Act::ReverseShell,
            (false, taint) if taint.secret => Act::Exfiltrate,
            _ => Act::NetworkSend,
        };
        call.command.fact(act, display(&operand.text));
    }

    pub(super) fn rsync(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("rsync").map_or("", |p| p.values));
        let dry = options.has(&["-n", "--dry-run"]);
        let mut operands = options.operands.clone();
        for code in options.values(&["-e", "--rsh", "--rsync-path"]) {
            if code.text != "ssh" && !code.text.starts_with("ssh ") {
                self.run_value(&code.clone(), None, call);
            }
        }
        let target = if operands.len() > 1 { operands.pop() } else { None };
        let mut taint = Taint::NONE;
        let mut remote = false;
        for source in &operands {
            if is_remote(&source.text) {
                remote = true;
                continue;
            }
            let moves = options.has(&["--remove-source-files"]);
            let effect = if moves { Effect::Delete } else { Effect::Read };
            let content = self.use_path(source, effect, call);
            taint = taint.join(content.taint);
        }
        let Some(target) = target else { return };
        if is_remote(&target.text) {
            call.fact(if taint.secret { Act::Exfiltrate } else { Act::NetworkSend });
            return;
        }
        if remote {
            call.fact(Act::RemoteShell);
        }
        let deletes = !dry && options.flags.iter().any(|(f, _)| f.starts_with("--del"));
        let effect = if deletes { Effect::Delete } else { Effect::Write };
        self.use_path_deep(&target, effect, deletes, call);
    }

    pub(super) fn archive(&mut self, call: &mut Call) {
        match call.name.as_str() {
            "tar" | "bsdtar" | "gtar" => self.tar(call),
            "zip" | "7z" | "7za" | "rar" => self.zip(call),
            "unzip" | "unrar" => {
                let options = Options::cluster(&call.args, "-d -x -P");
                let first = options.operands.first().cloned().unwrap_or_default();
                let fetched = self.use_path(&first, Effect::Read, call).taint.network;
                self.unpacked(options.value(&["-d"]), fetched);
                for folder in options.values(&["-d"]) {
                    self.use_path(folder, Effect::Write, call);
                }
            }
            _ => {
                let options = Options::cluster(&call.args, "-S -T --suffix --threads");
                let operands = options.operands;
                self.read_all(&operands, call);
                call.output.taint = call.output.taint.join(call.stdin.taint);
            }
        }
    }

    fn tar(&mut self, call: &mut Call) {
        let mut args = call.args.clone();
        // The first word may be a cluster without its dash.
        if let Some(first) = args.first_mut()
            && first.is_literal()
            && !first.text.starts_with('-')
        {
            first.text = alloc::format!("-{}", first.text).into();
        }
        let options = Options::cluster(&args, TAR_VALUES);
        let archive = options.value(&["-f", "--file"]).cloned();
        let extracts = options.has(&["-x", "--extract", "--get"]);
        let creates = options.has(&["-c", "-r", "-u", "--create", "--append", "--update"]);
        let removes = options.has(&["--remove-files"]);
        let saved = self.state.cwd.clone();
        for code in options.values(&["-I", "--use-compress-program", "--to-command", "--checkpoint-action"]) {
            let text = code.text.strip_prefix("exec=").unwrap_or(&code.text);
            call.command.fact(Act::RunUnknown, text);
            self.nested_code(&String::from(text), call);
        }
        let mut fetched = false;
        if let Some(archive) = archive.as_ref().filter(|a| a.text != "-") {
            fetched = self
                .use_path(archive, if creates { Effect::Write } else { Effect::Read }, call)
                .taint
                .network;
        }
        if let Some(folder) = options.value(&["-C", "--directory"]) {
            self.use_path(folder, if extracts { Effect::Write } else { Effect::Read }, call);
            self.state.cwd = self.place().absolute(&folder.text);
        }
        if extracts && options.has(&["-P", "--absolute-names"]) {
            self.use_path(&Value::literal(format!("/{UNKNOWN}")), Effect::Write, call);
        }
        let mut taint = call.stdin.taint;
        if creates {
            for operand in &options.operands {
                let effect = if removes { Effect::Delete } else { Effect::Read };
                let content = self.use_path_deep(operand, effect, removes, call);
                taint = taint.join(content.taint);
            }
        }
        self.state.cwd = saved;
        match archive {
            Some(archive) if creates && archive.text != "-" => self.remember_taint(&archive, taint),
            _ => call.output = Value::unknown(taint),
        }
        if extracts {
            let from_network = fetched || call.stdin.taint.network;
            self.unpacked(options.value(&["-C", "--directory"]), from_network);
        }
    }

    /// What was unpacked from a fetched archive may be run below.
    fn unpacked(&mut self, folder: Option<&Value>, from_network: bool) {
        if from_network {
            let path = self.place().absolute(folder.map_or(".", |f| f.text.as_str()));
            self.state.remember_file(&path, Value::unknown(Taint::NETWORK));
        }
    }

    fn zip(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "-x -i -b -P -n -t --unzip-command");
        if let Some(code) = options.value(&["--unzip-command"]).cloned() {
            self.run_value(&code, None, call);
        }
        let moves = options.has(&["-m", "--move"]) || call.words().any(|w| w == "-sdel" || w == "-df");
        let mut operands = options.operands.into_iter();
        if call.name != "zip" {
            operands.next();
        }
        let archive = operands.next();
        let mut taint = Taint::NONE;
        for operand in operands {
            let effect = if moves { Effect::Delete } else { Effect::Read };
            let content = self.use_path(&operand, effect, call);
            taint = taint.join(content.taint);
        }
        if let Some(archive) = archive {
            self.use_path(&archive, Effect::Write, call);
            self.remember_taint(&archive, taint);
        }
    }
}

/// A tree whose rights were set one by one.
fn is_whole(class: PathClass) -> bool {
    matches!(
        class,
        PathClass::System | PathClass::Facts | PathClass::Home | PathClass::Unknown | PathClass::Ancestor
    )
}

const TAR_VALUES: &str = "-f -C -T -X -I -b -g -H -K -L -N -V --file --directory --files-from --exclude-from \
                          --use-compress-program --to-command --checkpoint-action --owner --group --transform";

/// The last operand is the target, unless an option named it.
fn split_target(operands: &[Value], target: Option<Value>) -> (Vec<Value>, Option<Value>) {
    if target.is_some() {
        return (operands.to_vec(), target);
    }
    match operands.split_last() {
        Some((last, front)) if !front.is_empty() => (front.to_vec(), Some(last.clone())),
        _ => (operands.to_vec(), None),
    }
}

/// `host:path` or a URL: not on this machine.
pub(super) fn is_remote(text: &str) -> bool {
    if text.contains("://") {
        return true;
    }
    text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && host.len() > 1)
}
