//! Programs that talk to other machines, and what they send.

use alloc::string::String;
use alloc::vec::Vec;

use super::files::is_remote;
use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::host::{self, HostKind};
use crate::shell::value::{Taint, UNKNOWN, Value};

/// Options of curl and wget whose value is sent; `@file` reads a file.
const SENT: [&str; 13] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--json",
    "-F",
    "--form",
    "--form-string",
    "--post-data",
    "--body-data",
    "--variable",
];

/// Options whose value is a file that is sent.
const SENT_FILES: [&str; 5] = ["-T", "--upload-file", "--post-file", "--body-file", "--mail-from-file"];

/// What a request amounts to.
#[derive(Debug, Default)]
struct Request {
    sends: bool,
    taint: Taint,
    /// The secret is only in a header that exists to carry one.
    only_authorization: bool,
}

impl Walker<'_> {
    pub(super) fn curl(&mut self, call: &mut Call) {
        let is_wget = call.name == "wget";
        let options = Options::cluster(&call.args, table::program(&call.name).map_or("", |p| p.values));
        let mut request = Request::default();
        self.request_body(&options, is_wget, &mut request, call);
        self.request_headers(&options, &mut request, call);
        self.request_output(&options, is_wget, call);
        let method = if is_wget { "--method" } else { "-X" };
        let method =
            options.value(&[method, "--request"]).map_or(String::new(), |v| v.text.to_ascii_uppercase());
        request.sends |= !matches!(method.as_str(), "" | "GET" | "HEAD" | "OPTIONS");
        let mut urls = options.operands.clone();
        urls.extend(options.values(&["--url"]).cloned());
        // An address that is given another place to connect to.
        let placed = options.values(&["--resolve", "--connect-to", "-x", "--proxy"]);
        let boundary = placed.map(|v| v.text.clone()).any(|v| v.contains("7788"));
        if boundary && request.sends {
            call.fact(Act::Approve);
        }
        let deletes = method == "DELETE";
        if let Some(socket) = options.value(&["--unix-socket", "--abstract-unix-socket"]) {
            self.use_path(&socket.clone(), Effect::Write, call);
            call.fact(Act::NetworkSend);
        }
        for url in &urls {
            if deletes && (call.live || crate::rules::names::says_live(&url.text)) {
                call.command.fact(Act::DestroyLive, url.text.as_str());
            }
            self.request_to(url, &mut request, call);
        }
        if urls.is_empty() && request.taint.secret {
            call.fact(Act::Exfiltrate);
        }
        call.output = Value::unknown(Taint::NETWORK);
    }

    fn request_body(&mut self, options: &Options, is_wget: bool, request: &mut Request, call: &mut Call) {
        for value in
            options.values(&SENT).filter(|_| !is_wget || options.has(&["--post-data", "--body-data"]))
        {
            request.sends = true;
            request.taint = request.taint.join(value.taint);
            // `@file`, `name=@file`, `name=<file`, `name@file`.
            let file = value.text.split_once('@').or_else(|| value.text.split_once("=<")).map(|(_, f)| f);
            match file {
                Some("-") => request.taint = request.taint.join(call.stdin.taint),
                Some(file) if !file.contains(' ') => {
                    let file = file.split(';').next().unwrap_or("");
                    self.sent_file(&value.with_text(file), request, call);
                }
                _ => {}
            }
        }
        let files = if is_wget { SENT_FILES.get(2..4) } else { SENT_FILES.get(..2) };
        for value in options.values(files.unwrap_or(&[])) {
            request.sends = true;
            if value.text == "-" || value.text == "." {
                request.taint = request.taint.join(call.stdin.taint);
            } else {
                self.sent_file(value, request, call);
            }
        }
        for config in options.values(&["-K", "--config"]) {
            let content = if config.text == "-" {
                call.stdin.clone()
            } else {
                self.use_path(config, Effect::Read, call)
            };
            self.request_config(&content, request, call);
        }
        if is_wget {
            for list in options.values(&["-i", "--input-file"]) {
                let content = if list.text == "-" {
                    call.stdin.clone()
                } else {
                    self.use_path(list, Effect::Read, call)
                };
                request.taint.secret |= content.taint.secret;
            }
        }
    }

    /// A file that is sent; curl itself expands `{a,b}` and `[1-9]`.
    fn sent_file(&mut self, file: &Value, request: &mut Request, call: &mut Call) {
        let text = file.text.as_str();
        let (front, list, back) =
            match text.split_once('{').and_then(|(f, r)| r.split_once('}').map(|(l, b)| (f, l, b))) {
                Some(parts) => parts,
                None => ("", text, ""),
            };
        let braced = list.len() != text.len();
        for name in list.split(|c| c == ',' && braced) {
            let name = file.with_text(alloc::format!("{front}{name}{back}"));
            let content = self.use_path(&name, Effect::Read, call);
            request.taint = request.taint.join(content.taint);
        }
    }

    /// A configuration holds one option with its value a line, and what it names is judged like the option.
    fn request_config(&mut self, content: &Value, request: &mut Request, call: &mut Call) {
        request.taint.secret |= content.taint.secret;
        if !content.is_literal() || content.text.is_empty() {
            return;
        }
        let mut args = Vec::new();
        for line in content.text.lines() {
            let (name, value) = line.trim().split_once(['=', ' ', ':']).unwrap_or((line.trim(), ""));
            let value = value.trim_matches(['=', ' ', '"', ':']);
            if name.is_empty() || name.starts_with('#') {
                continue;
            }
            let dashes = if name.starts_with('-') { "" } else { "--" };
            args.push(Value::literal(alloc::format!("{dashes}{name}")));
            if !value.is_empty() {
                args.push(content.with_text(value));
            }
        }
        let mut fields = Vec::from([Value::literal(call.name.as_str())]);
        fields.extend(args);
        self.run_inner(fields, call);
    }

    fn request_headers(&mut self, options: &Options, request: &mut Request, call: &mut Call) {
        let names = [
            "-H",
            "--header",
            "-u",
            "--user",
            "-A",
            "--user-agent",
            "-e",
            "--referer",
            "-b",
            "--cookie",
            "--oauth2-bearer",
            "--password",
        ];
        let is_wget = call.name == "wget";
        for value in options.values(&["-H", "--header", "--proxy-header"]).filter(|_| !is_wget) {
            if let Some(file) = value.text.strip_prefix('@') {
                let content = if file == "-" {
                    call.stdin.clone()
                } else {
                    self.use_path(&value.with_text(file), Effect::Read, call)
                };
                request.taint.secret |= content.taint.secret;
            }
        }
        // Without a `=` the value is a file of cookies.
        for file in options.values(&["-b", "--cookie"]).filter(|v| !is_wget && !v.text.contains('=')) {
            let content = self.use_path(file, Effect::Read, call);
            request.taint.secret |= content.taint.secret;
        }
        for file in options.values(&["--load-cookies"]) {
            let content = self.use_path(file, Effect::Read, call);
            request.taint.secret |= content.taint.secret;
        }
        for value in options.values(&names) {
            if !value.taint.secret {
                continue;
            }
            let lower = value.text.to_ascii_lowercase();
            let meant = lower.starts_with("authorization:")
                || lower.starts_with("private-token:")
                || lower.starts_with("x-api-key:");
            if meant && !request.taint.secret {
                request.only_authorization = true;
            } else {
                request.taint.secret = true;
            }
        }
        // A cookie without `=` is a file of cookies; wget takes its addresses from a file.
        let cookies = options.values(&["-b", "--cookie"]).filter(|v| !v.text.contains('='));
        let lists = options.values(&["-i", "--input-file"]).filter(|_| call.name == "wget");
        let files: Vec<Value> = cookies.chain(lists).cloned().collect();
        for file in files {
            let content = self.use_path(&file, Effect::Read, call);
            request.taint = request.taint.join(content.taint);
        }
        for file in options.values(&["-E", "--cert", "--key", "--netrc-file"]) {
            self.use_path(file, Effect::Read, call);
        }
    }

    fn request_output(&mut self, options: &Options, is_wget: bool, call: &mut Call) {
        let outputs: &[&str] = if is_wget {
            &["-O", "-o", "-a", "-P", "--output-document", "--output-file", "--directory-prefix"]
        } else {
            &["-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar"]
        };
        for file in options.values(outputs).filter(|v| v.text != "-") {
            self.use_path(file, Effect::Write, call);
            let path = self.place().absolute(&file.text);
            self.state.remember_file(&path, Value::unknown(Taint::NETWORK));
        }
        if is_wget || options.has(&["-O", "--remote-name"]) {
            self.remember_download(options);
        }
    }

    /// A download without a name of its own is called like the end of the address.
    fn remember_download(&mut self, options: &Options) {
        for url in &options.operands {
            let name = url.text.split(['?', '#']).next().unwrap_or("").rsplit('/').next().unwrap_or("");
            let path = self.place().absolute(name);
            self.state.remember_file(&path, Value::unknown(Taint::NETWORK));
        }
    }

    /// Judges one request to one address.
    fn request_to(&mut self, url: &Value, request: &mut Request, call: &mut Call) {
        let parts = host::address(&url.text);
        let kind = host::kind(&parts.host);
        call.command.hosts.push(parts.host.clone());
        if parts.scheme == "file" {
            self.use_path(&Value::literal(parts.path.as_str()), Effect::Read, call);
        }
        request.taint = request.taint.join(Taint { live: false, ..url.taint });
        let local = kind == HostKind::Loopback;
        let act = match kind {
            _ if parts.is_boundary() => {
                if request.sends {
                    Act::Approve
                } else {
                    Act::Network
                }
            }
            HostKind::Metadata => Act::SecretShow,
            _ if request.taint.secret && !local => Act::Exfiltrate,
            _ if local && !request.taint.secret => Act::Network,
            _ if request.sends || request.only_authorization => Act::NetworkSend,
            HostKind::Private | HostKind::Odd => Act::NetworkSend,
            _ => Act::Network,
        };
        call.command.fact(act, parts.host);
    }

    /// HTTPie and downloaders.
    pub(super) fn http_tool(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "-o -O -d -s -a --output --auth --session");
        let is_httpie = matches!(call.name.as_str(), "http" | "https" | "xh" | "httpie" | "curlie");
        let sends = is_httpie
            && options.operands.iter().any(|o| {
                matches!(o.text.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
                    || o.text.contains(['=', '@']) && !o.text.contains("://")
            });
        let mut request = Request { sends, taint: call.taint(), only_authorization: false };
        request.taint.network = false;
        for file in
            options.operands.iter().filter_map(|o| o.text.split_once('@').map(|(_, f)| o.with_text(f)))
        {
            let content = self.use_path(&file, Effect::Read, call);
            request.taint = request.taint.join(content.taint);
        }
        for file in options.values(&["-o", "-O", "-d", "--output"]) {
            self.use_path(file, Effect::Write, call);
        }
        let url = options.operands.iter().find(|o| o.text.contains(['.', ':', '/']) && !o.text.contains('='));
        if let Some(url) = url {
            let text = if url.text.starts_with(':') {
                alloc::format!("localhost{}", url.text)
            } else {
                url.text.clone().into()
            };
            if call.words().any(|w| w == "DELETE") && crate::rules::names::says_live(&text) {
                call.command.fact(Act::DestroyLive, text.as_str());
            }
            self.request_to(&url.with_text(text), &mut request, call);
        }
        call.output = Value::unknown(Taint::NETWORK);
    }

    pub(super) fn netcat(&mut self, call: &mut Call) {
        if call.name == "socat" {
            self.socat_files(call);
        }
        let taint = call.stdin.taint.join(call.touched);
        call.output = Value::unknown(Taint { wire: true, ..Taint::NETWORK });
        if call.name == "openssl" {
            return self.openssl(call);
        }
        let options = Options::cluster(&call.args, table::program(&call.name).map_or("", |p| p.values));
        let runs = options.has(&["-e", "-c", "--exec", "--sh-exec", "--lua-exec"]) && call.name != "telnet"
            || call.words().any(|w| {
                let upper = w.to_ascii_uppercase();
                upper.starts_with("EXEC:") || upper.starts_with("SYSTEM:")
            });
        if runs {
            return call.fact(Act::ReverseShell);
        }
        if options.has(&["-z"]) {
            return;
        }
        let host = options.operands.first().map_or("", |o| o.text.as_str());
        let local = host::is_loopback(host);
        call.command.hosts.push(String::from(host));
        if call.stdin.taint.wire && !local {
            // Output of one connection into another: a relay or the far end of a shell.
            call.fact(Act::ReverseShell);
        }
        if options.has(&["-l", "--listen"]) {
            return call.fact(Act::Tunnel);
        }
        let act = match (taint.secret, local) {
            (true, false) => Act::Exfiltrate,
            (_, true) if options.operands.get(1).is_some_and(|p| p.text == "7788") => Act::Approve,
            _ if options.operands.iter().any(|o| o.text.ends_with(":7788")) => Act::Approve,
            _ => Act::NetworkSend,
        };
        call.fact(act);
    }

    /// `FILE:path`, `OPEN:path`, `GOPEN:path` among the addresses of socat.
    fn socat_files(&mut self, call: &mut Call) {
        for arg in call.args.clone() {
            let Some((kind, rest)) = arg.text.split_once(':') else { continue };
            let path = rest.split(',').next().unwrap_or("");
            match kind.trim_start_matches("-").to_ascii_uppercase().as_str() {
                "FILE" | "OPEN" | "GOPEN" => {
                    self.use_path(&arg.with_text(path), Effect::Read, call);
                }
                "CREATE" => {
                    self.use_path(&arg.with_text(path), Effect::Write, call);
                }
                _ => {}
            }
        }
    }

    fn openssl(&mut self, call: &mut Call) {
        let sub = call.args.first().map_or(String::new(), |a| a.text.clone().into());
        call.command.subcommand = Some(sub.clone());
        let options = Options::whole(
            &call.args,
            "-in -out -inkey -key -connect -days -subj -newkey -keyout -CAfile -pass",
        );
        for file in options.values(&["-in", "-inkey", "-key", "-CAfile"]) {
            let content = self.use_path(file, Effect::Read, call);
            call.output.taint = call.output.taint.join(content.taint);
        }
        for file in options.values(&["-out", "-keyout"]) {
            self.use_path(file, Effect::Write, call);
        }
        call.output.taint.network = false;
        call.output.taint.wire = false;
        if sub != "s_client" {
            return;
        }
        call.output.taint = call.output.taint.join(Taint { wire: true, ..Taint::NETWORK });
        let target = options.value(&["-connect"]).map_or("", |v| v.text.as_str());
        let host = host::address(target).host;
        let act = match call.stdin.taint {
            Taint { wire: true, .. } => Act::ReverseShell,
            Taint { secret: true, .. } => Act::Exfiltrate,
            _ if host::is_loopback(&host) => Act::Network,
            _ if call.stdin.text.is_empty() => Act::Network,
            _ => Act::NetworkSend,
        };
        call.fact(act);
    }

    pub(super) fn ssh(&mut self, call: &mut Call) {
        let mut args = call.args.clone();
        if call.name == "sshpass" {
            let options = Options::leading(&args, "-p -f -e");
            return self.run_inner(options.operands, call);
        }
        let options = Options::leading(&args, table::program("ssh").map_or("", |p| p.values));
        args = options.operands.clone();
        for option in options.values(&["-o"]) {
            let lower = option.text.to_ascii_lowercase();
            let runs = ["proxycommand", "localcommand", "knownhostscommand", "remotecommand"];
            if runs.iter().any(|name| lower.starts_with(name)) {
                let code = option.text.split_once(['=', ' ']).map_or("", |(_, c)| c);
                call.command.fact(Act::RunUnknown, code);
                self.nested_code(&String::from(code), call);
            }
        }
        if options.has(&["-R", "-D", "-L", "-w"]) {
            call.fact(Act::Tunnel);
        }
        let Some((host, command)) = args.split_first() else { return };
        call.command.hosts.push(host.text.clone().into());
        let live = call.live || crate::rules::names::says_live(&host.text);
        call.live = live;
        call.fact(if call.stdin.taint.secret || args.iter().any(|a| a.taint.secret) {
            Act::Exfiltrate
        } else {
            Act::RemoteShell
        });
        // Options may follow the host.
        let command = Options::leading(command, table::program("ssh").map_or("", |p| p.values)).operands;
        if !command.is_empty() {
            let mut line = Value::default();
            for word in &command {
                line.push(word);
                line.text.push(' ');
            }
            let input = call.stdin.clone();
            call.stdin = Value { taint: Taint::NONE, ..input };
            let outer = core::mem::replace(&mut self.state.live, live);
            self.run_value(&line, None, call);
            self.state.live = outer;
        }
        call.output = Value::unknown(Taint::NETWORK);
    }

    /// Copies to or from other machines.
    pub(super) fn transfer(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program(&call.name).map_or("", |p| p.values));
        let words: Vec<&str> = options.operands.iter().map(|o| o.text.as_str()).collect();
        let verb = words.first().copied().unwrap_or("");
        let deletes =
            ["purge", "delete", "deletefile", "rm", "rb", "rmdir", "del", "sync", "mirror", "cleanup"];
        if matches!(call.name.as_str(), "rclone" | "gsutil" | "s3cmd" | "s5cmd" | "mc")
            && deletes.contains(&verb)
        {
            let live = call.live || options.operands.iter().any(|o| crate::rules::names::says_live(&o.text));
            let loses = !matches!(verb, "sync" | "mirror") && !call.words().any(|w| w.starts_with("--dry"));
            call.fact(if live && loses { Act::DestroyLive } else { Act::CloudDestroy });
        }
        if matches!(verb, "ls" | "lsd" | "lsl" | "size" | "version" | "stat" | "du" | "about" | "listremotes")
            && call.stdin.text.is_empty()
        {
            return call.fact(Act::Network);
        }
        let mut taint = call.taint();
        for operand in options.operands.iter().filter(|o| !is_remote(&o.text) || o.text.contains(UNKNOWN)) {
            let content = self.use_path(operand, Effect::Read, call);
            taint = taint.join(content.taint);
        }
        // Commands of an interactive client come on its input: `put .env`.
        let mut input = String::from(call.stdin.text.as_str());
        let batches = if call.name == "sftp" { options.value(&["-b"]) } else { None };
        for batch in batches.into_iter().filter(|b| b.text != "-") {
            let content = self.use_path(batch, Effect::Read, call);
            input.push('\n');
            input.push_str(&content.text);
        }
        for word in input.split_ascii_whitespace().filter(|w| super::generic::looks_like_path(w)) {
            let content = self.use_path(&Value::literal(word), Effect::Read, call);
            taint = taint.join(content.taint);
        }
        call.fact(if taint.secret { Act::Exfiltrate } else { Act::NetworkSend });
    }

    pub(super) fn send_mail(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("mail").map_or("", |p| p.values));
        let mut taint = call.taint();
        for file in options.values(&["-a", "-A", "--attach"]) {
            let content = self.use_path(file, Effect::Read, call);
            taint = taint.join(content.taint);
        }
        call.fact(if taint.secret { Act::Exfiltrate } else { Act::Message });
    }
}
