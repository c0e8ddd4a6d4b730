//! Database clients: the statements they are given, and whether the target is plainly live.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::names;
use crate::shell::code::{Quotes, Token, tokens};
use crate::shell::flow::Walker;
use crate::shell::value::{TOKEN, Value};

/// What a statement does to data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Statement {
    Reads,
    Changes,
    Destroys,
}

impl Walker<'_> {
    pub(super) fn database(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, values(&call.name));
        let live = call.live || self.is_live(&options, call);
        let away = options.values(&["-h", "--host", "-u", "--uri"]).any(|v| !names_loopback(&v.text));
        if away && call.taint().secret && call.stdin.taint.secret {
            call.fact(Act::Exfiltrate);
        }
        match call.name.as_str() {
            "dropdb" => return self.database_act(Statement::Destroys, live, call),
            "createdb" => return call.fact(Act::DatabaseChange),
            "pg_restore" | "mongorestore" => {
                self.read_all(&options.operands.clone(), call);
                return self.database_act(Statement::Changes, live, call);
            }
            "pg_dump" | "pg_dumpall" | "mysqldump" | "mongodump" => {
                if live {
                    call.fact(Act::DatabaseDump);
                }
                for file in options.values(&["-f", "--file", "-o", "--out"]) {
                    self.use_path(file, Effect::Write, call);
                }
                return;
            }
            "mysqladmin" => {
                let drops = options.operands.iter().any(|o| o.text == "drop");
                let looks = options.operands.iter().any(|o| {
                    matches!(o.text.as_str(), "status" | "ping" | "version" | "processlist" | "variables")
                });
                let what = if drops {
                    Statement::Destroys
                } else if looks {
                    Statement::Reads
                } else {
                    Statement::Changes
                };
                return self.database_act(what, live, call);
            }
            _ => {}
        }
        for file in options.values(&["-f", "--file"]) {
            if file.text != "-" {
                self.use_path(file, Effect::Read, call);
                call.fact(Act::DatabaseChange);
            }
        }
        self.statements(&options, live, call);
    }

    fn statements(&mut self, options: &Options, live: bool, call: &mut Call) {
        let mut texts: Vec<Value> = options
            .values(&["-c", "--command", "-e", "--execute", "--eval", "-Q", "-q", "-cmd", "--query"])
            .cloned()
            .collect();
        let mut operands = options.operands.clone();
        match call.name.as_str() {
            "sqlite3" | "sqlite" | "duckdb" => {
                if !operands.is_empty() {
                    let file = operands.remove(0);
                    if file.text != ":memory:" {
                        self.use_path(&file, Effect::Read, call);
                    }
                }
                texts.append(&mut operands);
            }
            "redis-cli" | "valkey-cli" | "etcdctl" => return self.key_value(&operands, live, call),
            _ => {}
        }
        let input = call.stdin.clone();
        let unread = !texts.is_empty() && input.is_unknown();
        if unread {
            // A client that is given its statements does not read its input.
        } else if input.is_unknown() {
            call.fact(Act::DatabaseChange);
        } else if !input.text.is_empty() {
            texts.push(input);
        }
        for text in &texts {
            if text.is_unknown() {
                call.fact(Act::DatabaseChange);
            }
            self.statement_text(&text.text, live, call);
        }
        // A word behind `\!` that was split off by the caller.
        if texts.iter().any(|t| t.text.trim() == "\\!") {
            let line: Vec<&str> = operands.iter().map(|o| o.text.as_str()).collect();
            self.nested_code(&line.join(" "), call);
            call.fact(Act::RunUnknown);
        }
    }

    fn statement_text(&mut self, text: &str, live: bool, call: &mut Call) {
        for line in text.lines().flat_map(|l| l.split(';')) {
            let line = line.trim();
            let code = line
                .strip_prefix("\\!")
                .or_else(|| line.strip_prefix("system "))
                .or_else(|| line.strip_prefix(".shell "))
                .or_else(|| line.strip_prefix(".system "));
            if let Some(code) = code.filter(|c| !c.trim().is_empty()) {
                call.command.fact(Act::RunUnknown, code.trim());
                self.nested_code(&String::from(code.trim()), call);
            }
            for prefix in [".output ", ".once ", ".backup ", "\\o ", ".import ", ".read ", "\\i ", "\\copy "]
            {
                if let Some(file) = line.strip_prefix(prefix) {
                    self.use_path(&Value::literal(file.trim()), Effect::Write, call);
                }
            }
        }
        let all = tokens(text, Quotes::Template);
        if all.iter().any(|t| matches!(t, Token::Word(w) if w.eq_ignore_ascii_case("program"))) {
            call.fact(Act::RunUnknown);
        }
        let attach = all.iter().position(|t| matches!(t, Token::Word(w) if w.eq_ignore_ascii_case("attach")));
        if let Some(Token::Text(file)) =
            attach.and_then(|at| all.iter().skip(at).find(|t| matches!(t, Token::Text(_))))
        {
            self.use_path(&Value::literal(file.as_str()), Effect::Write, call);
        }
        let what = statement(&all);
        self.database_act(what, live, call);
    }

    fn database_act(&mut self, what: Statement, live: bool, call: &mut Call) {
        match (what, live) {
            (Statement::Reads, _) => {}
            (Statement::Destroys, true) => call.fact(Act::DestroyLive),
            _ => call.fact(Act::DatabaseChange),
        }
    }

    fn key_value(&mut self, operands: &[Value], live: bool, call: &mut Call) {
        let words: Vec<String> = operands.iter().map(|o| o.text.to_ascii_lowercase()).collect();
        let what = match words.first().map(String::as_str) {
            None => Statement::Reads,
            Some("flushall" | "flushdb" | "del" | "unlink" | "shutdown") => Statement::Destroys,
            Some(word) if KEY_READS.binary_search(&word).is_ok() => Statement::Reads,
            Some(word) if word.chars().all(|c| c == TOKEN) => Statement::Reads,
            Some(_) => Statement::Changes,
        };
        self.database_act(what, live, call);
    }

    /// Does the host, the database or a connection string say that customers use it?
    fn is_live(&self, options: &Options, call: &Call) -> bool {
        let named = options.values(&[
            "-h",
            "--host",
            "-d",
            "--dbname",
            "-D",
            "--database",
            "-u",
            "--uri",
            "--url",
            "-U",
        ]);
        let statement_first = matches!(call.name.as_str(), "sqlite3" | "sqlite" | "duckdb");
        named.into_iter().any(|v| names::says_live(&v.text) || v.taint.live)
            || options
                .operands
                .iter()
                .take(if statement_first { 1 } else { 8 })
                .any(|o| o.taint.live || !o.text.contains(' ') && names::says_live(&o.text))
    }
}

fn values(name: &str) -> &'static str {
    match name {
        "redis-cli" | "valkey-cli" => "-h -p -n -a -u -r -i --pattern --user --pass",
        "mysql" | "mariadb" | "mysqldump" | "mysqladmin" => {
            "-h -P -u -e -D -S --host --port --user --execute --database"
        }
        "sqlite3" | "sqlite" | "duckdb" => "-cmd -init -separator",
        "etcdctl" => "--endpoints --cert --key --cacert",
        _ => {
            "-h -p -U -d -c -f -o -v -P -u -j -n -e -t -Q -q -F --host --port --username --dbname --command --file --eval --uri --query --out --db --collection"
        }
    }
}

fn names_loopback(text: &str) -> bool {
    crate::shell::host::is_loopback(&crate::shell::host::address(text).host)
}

/// The strongest thing the statements do: the first word of each decides.
fn statement(tokens: &[Token]) -> Statement {
    let mut strongest = Statement::Reads;
    let mut first = true;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(';') => first = true,
            Token::Word(word) => {
                let lower = word.to_ascii_lowercase();
                if first || matches!(tokens.get(index.wrapping_sub(1)), Some(Token::Sign('('))) {
                    strongest = strongest.max(verb(&lower));
                }
                strongest = strongest.max(method(&lower));
                first = false;
            }
            _ => {}
        }
    }
    strongest
}

fn verb(word: &str) -> Statement {
    match word {
        "drop" | "truncate" | "delete" | "flushall" | "flushdb" => Statement::Destroys,
        "alter" | "insert" | "update" | "create" | "grant" | "revoke" | "replace" | "merge" | "copy"
        | "vacuum" | "reindex" | "rename" | "call" | "do" | "load" | "import" | "reset" | "kill" => {
            Statement::Changes
        }
        _ => Statement::Reads,
    }
}

/// Methods of document databases: `db.users.drop()`.
fn method(word: &str) -> Statement {
    match word.rsplit('.').next().unwrap_or("") {
        _ if !word.contains('.') => Statement::Reads,
        "dropdatabase" | "drop" | "deletemany" | "deleteone" | "remove" | "dropcollection" => {
            Statement::Destroys
        }
        "insertone" | "insertmany" | "updateone" | "updatemany" | "replaceone" | "createindex"
        | "dropindex" => Statement::Changes,
        _ => Statement::Reads,
    }
}

/// Sorted.
const KEY_READS: &[&str] = &[
    "client",
    "cluster",
    "config",
    "dbsize",
    "exists",
    "get",
    "hget",
    "hgetall",
    "hkeys",
    "info",
    "keys",
    "lastsave",
    "llen",
    "lrange",
    "mget",
    "monitor",
    "ping",
    "scan",
    "scard",
    "sismember",
    "smembers",
    "strlen",
    "time",
    "ttl",
    "type",
    "zrange",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_reads_are_sorted() {
        assert!(KEY_READS.is_sorted());
    }

    #[test]
    fn statements_by_first_word() {
        let of = |text: &str| statement(&tokens(text, Quotes::Template));
        assert_eq!(of("select * from t where deleted_at is null"), Statement::Reads);
        assert_eq!(of("select 1; drop table t"), Statement::Destroys);
        assert_eq!(of("db.dropDatabase()"), Statement::Destroys);
    }
}
