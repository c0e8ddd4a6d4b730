//! Containers and clusters: what is done to them, and commands run inside with mounts mapped back.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::path::Mount;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, Value, display};

const RUN_VALUES: &str = "-v -e -p -w -u -h -m -l -c -a --volume --env --publish --workdir --user --name --network --mount --entrypoint \
     --env-file --platform --hostname --memory --cpus --label --restart --device --cap-add --pid --ipc --gpus --add-host --log-driver \
     --shm-size --tmpfs --security-opt --dns --index --detach-keys";

const GLOBAL_VALUES: &str = "-f -p -H -c -l --file --project-name --profile --env-file --project-directory --context --host --config --log-level";

impl Walker<'_> {
    pub(super) fn docker(&mut self, call: &mut Call) {
        call.output = Value::unknown(Taint::NONE);
        let is_compose = call.name.ends_with("-compose");
        let globals = Options::leading(&call.args, GLOBAL_VALUES);
        for file in globals.values(&["-f", "--file"]) {
            self.use_path(file, Effect::Read, call);
        }
        let mut rest = globals.operands;
        let mut compose = is_compose;
        if rest.first().is_some_and(|r| r.text == "compose") {
            compose = true;
            let tail: Vec<Value> = rest.into_iter().skip(1).collect();
            rest = Options::leading(&tail, GLOBAL_VALUES).operands;
        }
        if rest.first().is_some_and(|r| r.text == "container") {
            rest.remove(0);
            if let Some(first) = rest.first_mut().filter(|r| matches!(r.text.as_str(), "ls" | "list")) {
                *first = Value::literal("ps");
            }
        }
        let Some((sub, args)) = rest.split_first() else { return };
        call.command.subcommand = Some(display(&sub.text));
        match sub.text.as_str() {
            "run" | "exec" | "create" if !args.iter().any(|a| a.text == "--help") => {
                self.docker_run(&sub.text, args, call)
            }
            "build" => {
                call.args = args.to_vec();
                self.image_build(call);
            }
            _ if compose => self.compose(&sub.text, args, call),
            _ => self.docker_table(&rest, call),
        }
    }

    /// Building stays here, unless the image is pushed; build arguments are values for the build.
    fn image_build(&mut self, call: &mut Call) {
        Self::option_intent(call);
        let pushes = |w: &str| w.contains("type=registry") || w.contains("push=true");
        if call.words().any(pushes) {
            call.fact(Act::Publish);
        }
        let mut data_next = false;
        call.args.retain(|a| {
            let is_option =
                matches!(a.text.as_str(), "--build-arg" | "--label" | "--target" | "--build-context");
            let data = core::mem::replace(&mut data_next, is_option) || a.text.starts_with("--build-arg=");
            !data
        });
        self.tool(call);
    }

    /// Files of this machine that are copied into or out of a container, or that hold an image.
    fn docker_files(&mut self, rest: &[Value], call: &mut Call) {
        let sub =
            rest.iter().find(|r| !matches!(r.text.as_str(), "image" | "container")).map_or("", |r| &r.text);
        let options = Options::cluster(rest, "-o --output -i --input -f --file");
        if sub == "cp" {
            let inside = |text: &str| text == "-" || super::files::is_remote(text);
            let operands: Vec<&Value> =
                options.operands.iter().skip_while(|o| o.text != "cp").skip(1).collect();
            for (index, operand) in operands.iter().enumerate().filter(|(_, o)| !inside(&o.text)) {
                let effect = if index == 0 { Effect::Read } else { Effect::Write };
                self.use_path(operand, effect, call);
            }
        }
        for file in options.values(&["-o", "--output"]).filter(|_| matches!(sub, "save" | "export")) {
            self.use_path(file, Effect::Write, call);
        }
        for file in options.values(&["-i", "--input"]).filter(|_| sub == "load") {
            self.use_path(file, Effect::Read, call);
        }
    }

    fn docker_table(&mut self, rest: &[Value], call: &mut Call) {
        self.docker_files(rest, call);
        if rest
            .first()
            .is_some_and(|r| matches!(r.text.as_str(), "buildx" | "image" | "builder" | "manifest"))
        {
            call.args = rest.to_vec();
            Self::option_intent(call);
            if call.words().any(|w| w.contains("type=registry") || w.contains("push=true")) {
                call.fact(Act::Publish);
            }
        }
        let plain = Options::cluster(rest, "-f --format --filter --since --tail --until -n");
        let words: Vec<&str> = plain.operands.iter().map(|o| o.text.as_str()).collect();
        let act = table::subcommand("docker", &words).map_or(Act::UnknownArguments, |(_, act)| act);
        let boundary = words.iter().skip(1).any(|w| names::segments(w).any(|s| s == "vanta"));
        if boundary
            && matches!(words.first(), Some(&("stop" | "kill" | "pause" | "rm" | "restart" | "update")))
        {
            call.command.fact(Act::SelfStop, words.join(" "));
        }
        let open = plain.operands.iter().skip(1).any(Value::is_unknown);
        if open && matches!(words.first(), Some(&("stop" | "kill" | "restart" | "pause"))) {
            call.command.fact(Act::ContainerDestroy, words.first().copied().unwrap_or(""));
        }
        if act == Act::Harmless || plain.has(&["--help"]) {
            return;
        }
        let live = act == Act::ContainerDestroy && (call.live || words.iter().any(|w| names::says_live(w)));
        call.command.fact(if live { Act::DestroyLive } else { act }, words.join(" "));
        if plain.operands.iter().any(|o| o.text.contains(':')) && words.first() == Some(&"cp") {
            call.fact(Act::ContainerDestroy);
        }
    }

    fn compose(&mut self, sub: &str, args: &[Value], call: &mut Call) {
        let options = Options::cluster(args, "-t --timeout --since --tail -n");
        let act = table::subcommand("docker-compose", &[sub]).map_or(Act::UnknownArguments, |(_, act)| act);
        if act != Act::Harmless {
            call.command.fact(act, sub);
        }
        if sub == "down" && options.has(&["-v", "--volumes", "--rmi"]) {
            call.command.fact(Act::ContainerDestroy, "-v");
        }
        if sub == "config" && options.has(&["--environment"]) {
            call.command.fact(Act::Environment, "--environment");
        }
        if sub == "push" || sub == "publish" || options.has(&["--push"]) {
            call.command.fact(Act::Publish, sub);
        }
    }

    fn docker_run(&mut self, sub: &str, args: &[Value], call: &mut Call) {
        let options = Options::leading(args, RUN_VALUES);
        let mut mounts = Vec::new();
        for volume in options.values(&["-v", "--volume", "--mount"]) {
            self.mount(volume, &mut mounts, call);
        }
        if options.has(&["--privileged", "--device", "--cap-add"])
            || options.values(&["--pid", "--ipc", "--net", "--network"]).any(|v| v.text == "host")
                && options.has(&["--privileged", "--pid"])
        {
            call.fact(Act::ContainerEscape);
        }
        let mut operands = options.operands.into_iter();
        let Some(target) = operands.next() else { return };
        call.live |= names::says_live(&target.text);
        let mut command: Vec<Value> = operands.collect();
        if let Some(entry) = args.iter().skip_while(|a| a.text != "--entrypoint").nth(1) {
            command.insert(0, entry.clone());
        }
        if sub != "exec" {
            image_program(&target.text, &mut command);
        }
        if command.is_empty() {
            return;
        }
        let prints_environment = matches!(command.first().map(|c| c.text.as_str()), Some("env" | "printenv"));
        let outer = self.state.mounts.replace(mounts);
        let cwd = core::mem::replace(&mut self.state.cwd, String::from("/container"));
        if let Some(folder) =
            args.iter().skip_while(|a| !matches!(a.text.as_str(), "-w" | "--workdir")).nth(1)
        {
            self.state.cwd = folder.text.clone().into();
        }
        if is_interactive_shell(&command) {
            // A shell for a person; what it runs is not in this line.
        } else if sub == "exec" && prints_environment {
            call.fact(Act::Environment);
        } else {
            self.run_inner(command, call);
        }
        self.state.mounts = outer;
        self.state.cwd = cwd;
        call.output = Value::unknown(call.output.taint);
    }

    /// A host folder that a container sees.
    fn mount(&mut self, volume: &Value, mounts: &mut Vec<Mount>, call: &mut Call) {
        let text = volume.text.as_str();
        let (outside, inside) = if text.contains("source=") || text.contains("src=") {
            let field = |names: [&str; 3]| {
                text.split(',')
                    .find_map(|f| f.split_once('=').filter(|(k, _)| names.contains(k)).map(|(_, v)| v))
                    .unwrap_or("")
            };
            (field(["source", "src", "source"]), field(["target", "dst", "destination"]))
        } else {
            let mut fields = text.split(':');
            (fields.next().unwrap_or(""), fields.next().unwrap_or(""))
        };
        if !outside.starts_with(['/', '.', '~']) && !volume.is_unknown() {
            // A named volume belongs to the container engine.
            return;
        }
        if outside.ends_with("docker.sock") {
            call.command.fact(Act::ContainerEscape, outside);
            return;
        }
        let path = self.place().absolute(outside);
        let read_only = text.ends_with(":ro") || text.contains("readonly");
        self.use_path(
            &Value::literal(path.as_str()),
            if read_only { Effect::Read } else { Effect::Write },
            call,
        );
        mounts.push(Mount { inside: String::from(inside.trim_end_matches('/')), outside: path });
    }

    pub(super) fn kubectl(&mut self, call: &mut Call) {
        const VALUES: &str = "-n -f -l -o -c -k -p --namespace --context --filename --selector --output --container --cluster --user --kubeconfig --tail --field-selector --image --replicas --type --patch";
        let before_dashes: Vec<Value> = call.args.iter().take_while(|a| a.text != "--").cloned().collect();
        let command: Vec<Value> = call.args.iter().skip_while(|a| a.text != "--").skip(1).cloned().collect();
        let options = Options::cluster(&before_dashes, VALUES);
        let words: Vec<&str> = options.operands.iter().map(|o| o.text.as_str()).collect();
        let sub = words.first().copied().unwrap_or("");
        call.command.subcommand = Some(display(sub));
        let live = options
            .values(&["-n", "--namespace", "--context", "--cluster"])
            .any(|v| names::says_live(&v.text))
            || words.iter().any(|w| names::says_live(w))
            || call.live;
        if sub == "exec" {
            call.live |= live;
            if !is_interactive_shell(&command) {
                let outer = self.state.mounts.replace(Vec::new());
                let live_before = self.state.live;
                self.state.live |= live;
                self.run_inner(command, call);
                self.state.live = live_before;
                self.state.mounts = outer;
            } else {
                call.fact(Act::RemoteShell);
            }
            return;
        }
        let dry = options
            .flags
            .iter()
            .any(|(f, v)| f == "--dry-run" && v.as_ref().is_none_or(|v| v.text != "none"));
        let act = match table::subcommand("kubectl", &words).map(|(_, act)| act) {
            _ if dry => Act::Harmless,
            Some(act) => act,
            None => Act::CloudChange,
        };
        if sub == "config" && words.get(1) == Some(&"use-context") {
            self.state.live |= live;
        }
        if act == Act::SecretShow || words.get(1).is_some_and(|w| w.starts_with("secret/")) {
            call.fact(Act::SecretShow);
            call.output = Value::unknown(Taint::SECRET);
        } else if act != Act::Harmless {
            let destroys = act == Act::CloudDestroy && sub == "delete" && live;
            call.fact(if destroys { Act::DestroyLive } else { act });
        }
        for file in options.values(&["-f", "--filename", "-k"]) {
            if file.text.contains("://") {
                call.fact(Act::RunFetched);
            } else if file.text != "-" {
                self.use_path(file, Effect::Read, call);
            }
        }
    }
}

/// An image named after a program runs that program: `curlimages/curl -T x …`.
fn image_program(image: &str, command: &mut Vec<Value>) {
    let name = image.rsplit('/').next().unwrap_or("").split([':', '@']).next().unwrap_or("");
    let name = name.strip_suffix("-cli").filter(|n| table::program(n).is_some()).unwrap_or(name);
    let first = command.first().map_or("", |c| c.text.as_str());
    if table::program(name).is_some()
        && table::program(first).is_none()
        && !first.contains('/')
        && !first.is_empty()
    {
        command.insert(0, Value::literal(name));
    }
}

/// A shell without code, for a person at a terminal.
fn is_interactive_shell(command: &[Value]) -> bool {
    match command {
        [program, rest @ ..] => {
            table::is_shell(program.text.rsplit('/').next().unwrap_or(""))
                && rest.iter().all(|r| matches!(r.text.as_str(), "-l" | "-i" | "-il" | "--login"))
        }
        [] => true,
    }
}
