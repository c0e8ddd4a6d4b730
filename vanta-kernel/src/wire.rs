//! Actions and verdicts as JSON, as one-line text, and as rows of a batch.
//!
//! Readers refuse what they do not know: an unknown kind, a missing member or an unexpected one is an error,
//! so that a misspelt member cannot soften a verdict. Judging is [`assess`](crate::assess)'s.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::json::Json;
use crate::{Action, Dialect, Finding, Risk, Scope, Verdict};

impl Dialect {
    /// The lower-case word used on every wire and in every file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Posix => "posix",
            Self::PowerShell => "powershell",
            Self::Cmd => "cmd",
        }
    }

    /// The inverse of [`Dialect::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Posix, Self::PowerShell, Self::Cmd].into_iter().find(|dialect| dialect.as_str() == word)
    }
}

impl Action {
    /// The word for this kind of action: `shell`, `read`, `write`, `edit`, `delete`, `move`, `copy`, `list`,
    /// `search`, `fetch`, `send`, `tool` or `text`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "shell",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Edit { .. } => "edit",
            Self::Delete { .. } => "delete",
            Self::Move { .. } => "move",
            Self::Copy { .. } => "copy",
            Self::List { .. } => "list",
            Self::Search { .. } => "search",
            Self::Fetch { .. } => "fetch",
            Self::Send { .. } => "send",
            Self::Tool { .. } => "tool",
            Self::Text { .. } => "text",
        }
    }

    /// The action as an object with its `kind` first.
    ///
    /// ```
    /// use vanta_kernel::Action;
    ///
    /// let json = Action::overwrite("notes.md").to_json();
    /// assert_eq!(json.to_string(), r#"{"kind":"write","path":"notes.md","replaces":true}"#);
    /// assert_eq!(Action::from_json(&json), Ok(Action::overwrite("notes.md")));
    /// ```
    #[must_use]
    pub fn to_json(&self) -> Json {
        let text = |name, value: &String| (name, Json::from(value.as_str()));
        let mut members = Vec::from([("kind", Json::from(self.kind()))]);
        match self {
            Self::Shell { command, cwd, dialect } => {
                members.push(text("command", command));
                members.extend(cwd.as_ref().map(|cwd| text("cwd", cwd)));
                if *dialect != Dialect::Posix {
                    members.push(("dialect", dialect.as_str().into()));
                }
            }
            Self::Read { path } | Self::Edit { path } | Self::Delete { path } | Self::List { path } => {
                members.push(text("path", path));
            }
            Self::Write { path, replaces } => {
                members.extend([text("path", path), ("replaces", (*replaces).into())]);
            }
            Self::Move { from, to } | Self::Copy { from, to } => {
                members.extend([text("from", from), text("to", to)]);
            }
            Self::Search { query, path } => members.extend([text("query", query), text("path", path)]),
            Self::Fetch { method, url } => members.extend([text("method", method), text("url", url)]),
            Self::Send { what, to } => members.extend([text("what", what), text("where", to)]),
            Self::Tool { name, summary } => members.extend([text("name", name), text("summary", summary)]),
            Self::Text { line } => members.push(text("line", line)),
        }
        Json::object(members)
    }

    /// The inverse of [`Action::to_json`].
    ///
    /// `cwd`, `dialect`, `replaces`, a search's `path`, a fetch's `method` and a tool's `summary` may be absent.
    ///
    /// # Errors
    /// [`WireError`] names the member that is missing, of the wrong type, or unknown. Do not run the action.
    pub fn from_json(json: &Json) -> Result<Self, WireError> {
        let members = Members::of(json)?;
        let action = match members.text("kind")?.as_str() {
            "shell" => Self::Shell {
                command: members.text("command")?,
                cwd: members.optional("cwd")?,
                dialect: members.dialect("dialect")?,
            },
            "read" => Self::Read { path: members.text("path")? },
            "write" => Self::Write { path: members.text("path")?, replaces: members.flag("replaces")? },
            "edit" => Self::Edit { path: members.text("path")? },
            "delete" => Self::Delete { path: members.text("path")? },
            "move" => Self::Move { from: members.text("from")?, to: members.text("to")? },
            "copy" => Self::Copy { from: members.text("from")?, to: members.text("to")? },
            "list" => Self::List { path: members.text("path")? },
            "search" => Self::Search {
                query: members.text("query")?,
                path: members.optional("path")?.unwrap_or_default(),
            },
            "fetch" => Self::Fetch {
                method: members.optional("method")?.unwrap_or_else(|| "GET".into()),
                url: members.text("url")?,
            },
            "send" => Self::Send { what: members.text("what")?, to: members.text("where")? },
            "tool" => Self::Tool {
                name: members.text("name")?,
                summary: members.optional("summary")?.unwrap_or_default(),
            },
            "text" => Self::Text { line: members.text("line")? },
            kind => return Err(WireError::UnknownKind(kind.into())),
        };
        members.only(member_names(&action)).map(|()| action)
    }

    /// Reads the one-line forms `run shell command: …`, `read file …`, `write file …`, `edit file …`,
    /// `delete file …`, `list …`, `glob …`, `grep for …`, `search …`, `web search: …` and `fetch …`.
    ///
    /// The opening words may be in any case. `glob`, `grep for` and `search` take a folder after their last
    /// ` in `. Any other line, and a `list` or `fetch` of several words, is [`Action::Text`].
    ///
    /// ```
    /// use vanta_kernel::Action;
    ///
    /// assert_eq!(Action::from_text("run shell command: cargo test"), Action::shell("cargo test"));
    /// assert_eq!(Action::from_text("list /etc"), Action::list("/etc"));
    /// assert!(matches!(Action::from_text("book a flight"), Action::Text { .. }));
    /// ```
    #[must_use]
    pub fn from_text(line: &str) -> Self {
        let line = line.trim();
        FORMS
            .iter()
            .find_map(|(opening, form)| form(after(line, opening)?))
            .unwrap_or_else(|| Self::Text { line: line.into() })
    }
}

impl Verdict {
    /// The verdict as `{"verdict", "rule", "reason", "span": [from, to]}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let span = self.finding().span();
        Json::object([
            ("verdict", Json::from(self.risk().as_str())),
            ("rule", self.finding().rule().into()),
            ("reason", self.finding().reason().into()),
            ("span", Json::Array(Vec::from([span.start.into(), span.end.into()]))),
        ])
    }

    /// Reads a verdict; its word may also be called `risk`, and other members are left alone.
    ///
    /// # Errors
    /// [`WireError`] names the member that is missing or wrong. Treat that as no answer: do not run the action.
    pub fn from_json(json: &Json) -> Result<Self, WireError> {
        let members = Members::of(json)?;
        let word = match (members.optional("verdict")?, members.optional("risk")?) {
            (Some(verdict), Some(risk)) if verdict != risk => return Err(WireError::Invalid("risk")),
            (Some(word), _) | (None, Some(word)) => word,
            (None, None) => return Err(WireError::Missing("verdict")),
        };
        let risk = Risk::from_word(&word).ok_or(WireError::Invalid("verdict"))?;
        let span = match json.get("span").ok_or(WireError::Missing("span"))?.as_array() {
            Some([start, end]) => start.as_u64().zip(end.as_u64()),
            _ => None,
        };
        let (start, end) = span.filter(|(start, end)| start <= end).ok_or(WireError::Invalid("span"))?;
        let place = |at: u64| usize::try_from(at).map_err(|_| WireError::Invalid("span"));
        let finding =
            Finding::new(members.text("rule")?, members.text("reason")?, place(start)?..place(end)?);
        Ok(Self::new(risk, finding))
    }
}

/// The action and scope of one row of a batch: `{id, kind, action, root, cwd?, home?, shell?}`.
///
/// `action` is the command, path, query, address, name or sentence; a kind that needs more takes an object
/// with the members of [`Action::to_json`]. Members that say nothing about the action are left alone.
///
/// # Errors
/// [`WireError::UnknownKind`] for a kind this version does not know, which can only be Ask; any other for a
/// row that cannot be judged.
///
/// ```
/// use vanta_kernel::{Action, batch_case, json::Json};
///
/// let row = Json::parse(r#"{"id": 1, "kind": "read", "action": "a.txt", "root": "/srv/app"}"#)?;
/// let (action, scope) = batch_case(&row)?;
/// assert_eq!((action, scope.root()), (Action::read("a.txt"), "/srv/app"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn batch_case(row: &Json) -> Result<(Action, Scope), WireError> {
    let members = Members::of(row)?;
    let mut scope = Scope::new(members.text("root")?);
    if let Some(home) = members.optional("home")? {
        scope = scope.home(home);
    }
    if let Some(cwd) = members.optional("cwd")? {
        scope = scope.cwd(cwd);
    }
    let kind = members.text("kind")?;
    let dialect = members.dialect("shell")?;
    let action = match row.get("action").ok_or(WireError::Missing("action"))? {
        Json::String(subject) => Action::of_kind(&kind, subject, dialect)?,
        Json::Object(given) => {
            let mut given = given.clone();
            given.retain(|(key, _)| key != "kind");
            given.insert(0, ("kind".into(), kind.into()));
            Action::from_json(&Json::Object(given))?
        }
        _ => return Err(WireError::Invalid("action")),
    };
    Ok((action, scope))
}

impl Action {
    /// The action of kind `kind` about `subject`: a command, path, query, address, name or sentence.
    ///
    /// `dialect` is the language of a command and says nothing for the other kinds.
    ///
    /// # Errors
    /// [`WireError::UnknownKind`], and [`WireError::Invalid`] for `move`, `copy` and `send`, which are about
    /// two things.
    pub fn of_kind(kind: &str, subject: &str, dialect: Dialect) -> Result<Self, WireError> {
        Ok(match kind {
            "shell" => Self::Shell { command: subject.into(), cwd: None, dialect },
            "read" => Self::read(subject),
            "write" => Self::write(subject),
            "edit" => Self::edit(subject),
            "delete" => Self::delete(subject),
            "list" => Self::list(subject),
            "search" => Self::Search { query: subject.into(), path: String::new() },
            "fetch" => Self::fetch(subject),
            "tool" => Self::tool(subject, ""),
            "text" => Self::Text { line: subject.into() },
            "move" | "copy" | "send" => return Err(WireError::Invalid("action")),
            _ => return Err(WireError::UnknownKind(kind.into())),
        })
    }
}

/// Why a JSON value is no action, verdict, approval or batch row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// It is no object.
    NotAnObject,
    /// This member is missing.
    Missing(&'static str),
    /// This member has the wrong type or an impossible value.
    Invalid(&'static str),
    /// The kind of action is unknown.
    UnknownKind(String),
    /// The member does not belong to this kind of action.
    UnknownMember(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::Missing(name) => write!(f, "member `{name}` is missing"),
            Self::Invalid(name) => write!(f, "member `{name}` has the wrong type or an impossible value"),
            Self::UnknownKind(kind) => write!(f, "`{}` is no kind of action", kind.escape_debug()),
            Self::UnknownMember(name) => {
                write!(f, "member `{}` does not belong to this kind of action", name.escape_debug())
            }
        }
    }
}

impl core::error::Error for WireError {}

/// Typed access to the members of an object.
pub(crate) struct Members<'a>(&'a [(String, Json)]);

impl<'a> Members<'a> {
    pub(crate) fn of(json: &'a Json) -> Result<Self, WireError> {
        json.as_object().map(Self).ok_or(WireError::NotAnObject)
    }

    fn get(&self, name: &str) -> Option<&'a Json> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<String>, WireError> {
        match self.get(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(WireError::Invalid(name)),
        }
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<String, WireError> {
        self.optional(name)?.ok_or(WireError::Missing(name))
    }

    pub(crate) fn number(&self, name: &'static str) -> Result<u64, WireError> {
        self.get(name).ok_or(WireError::Missing(name))?.as_u64().ok_or(WireError::Invalid(name))
    }

    /// A text that is one of the words `read` knows.
    pub(crate) fn word<T>(&self, name: &'static str, read: fn(&str) -> Option<T>) -> Result<T, WireError> {
        read(&self.text(name)?).ok_or(WireError::Invalid(name))
    }

    fn flag(&self, name: &'static str) -> Result<bool, WireError> {
        self.get(name).map_or(Some(false), Json::as_bool).ok_or(WireError::Invalid(name))
    }

    fn dialect(&self, name: &'static str) -> Result<Dialect, WireError> {
        let word = self.optional(name)?;
        word.map_or(Some(Dialect::Posix), |word| Dialect::from_word(&word)).ok_or(WireError::Invalid(name))
    }

    fn only(&self, names: &[&str]) -> Result<(), WireError> {
        match self.0.iter().find(|(key, _)| key != "kind" && !names.contains(&key.as_str())) {
            Some((key, _)) => Err(WireError::UnknownMember(key.clone())),
            None => Ok(()),
        }
    }
}

fn member_names(action: &Action) -> &'static [&'static str] {
    match action {
        Action::Shell { .. } => &["command", "cwd", "dialect"],
        Action::Read { .. } | Action::Edit { .. } | Action::Delete { .. } | Action::List { .. } => &["path"],
        Action::Write { .. } => &["path", "replaces"],
        Action::Move { .. } | Action::Copy { .. } => &["from", "to"],
        Action::Search { .. } => &["query", "path"],
        Action::Fetch { .. } => &["method", "url"],
        Action::Send { .. } => &["what", "where"],
        Action::Tool { .. } => &["name", "summary"],
        Action::Text { .. } => &["line"],
    }
}

/// What follows `opening` in `line`, when it opens it as whole words.
fn after<'a>(line: &'a str, opening: &str) -> Option<&'a str> {
    let (head, rest) = line.split_at_checked(opening.len())?;
    let whole = rest.is_empty() || opening.ends_with(':') || rest.starts_with(char::is_whitespace);
    (head.eq_ignore_ascii_case(opening) && whole).then(|| rest.trim())
}

/// Makes an action of what follows the opening words; `None` when it does not fit the form.
type Form = fn(&str) -> Option<Action>;

const FORMS: &[(&str, Form)] = &[
    ("run shell command:", |rest| some(rest).map(Action::shell)),
    ("read file", |rest| some(rest).map(Action::read)),
    ("write file", |rest| some(rest).map(Action::write)),
    ("edit file", |rest| some(rest).map(Action::edit)),
    ("delete file", |rest| some(rest).map(Action::delete)),
    ("web search:", |rest| some(rest).map(|query| Action::Search { query: query.into(), path: "".into() })),
    ("list", list),
    ("glob", glob),
    ("grep for", search),
    ("search", search),
    ("fetch", fetch),
];

fn some(rest: &str) -> Option<&str> {
    (!rest.is_empty()).then_some(rest)
}

fn list(rest: &str) -> Option<Action> {
    let mut path = rest;
    for noun in ["files", "directory", "folder", "dir", "in", "of"] {
        path = after(path, noun).unwrap_or(path);
    }
    let one_word = !path.contains(char::is_whitespace);
    one_word.then(|| Action::list(some(path).unwrap_or(".")))
}

fn search(rest: &str) -> Option<Action> {
    let rest = after(rest, "for").unwrap_or(rest);
    let (query, path) = rest.rsplit_once(" in ").unwrap_or((rest, ""));
    some(query.trim()).map(|query| Action::Search { query: query.into(), path: path.trim().into() })
}

/// A glob lists the folders in front of its first wildcard; one that could leave them is no clear form.
fn glob(rest: &str) -> Option<Action> {
    let (pattern, folder) = rest.rsplit_once(" in ").unwrap_or((rest, ""));
    let (pattern, folder) = (some(pattern.trim())?, folder.trim());
    let (fixed, wild) =
        pattern.split_at_checked(pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len()))?;
    let fixed = if wild.is_empty() { fixed } else { parent(fixed) };
    if wild.contains("..") || wild.contains("{/") || wild.contains(",/") || wild.contains('~') {
        return None;
    }
    Some(Action::list(match (folder, fixed) {
        ("", "") => ".".into(),
        ("", only) | (only, "") => String::from(only),
        (_, absolute) if absolute.starts_with(['/', '~']) => absolute.into(),
        (folder, below) => format!("{folder}/{below}"),
    }))
}

/// `path` up to and with its last slash.
fn parent(path: &str) -> &str {
    path.trim_end_matches(|char| char != '/')
}

fn fetch(rest: &str) -> Option<Action> {
    let (method, url) = match rest.split_once(char::is_whitespace) {
        Some((method, url)) if method.bytes().all(|byte| byte.is_ascii_uppercase()) => (method, url.trim()),
        Some(_) => return None,
        None => ("GET", some(rest)?),
    };
    let one_word = !url.contains(char::is_whitespace);
    one_word.then(|| Action::Fetch { method: method.into(), url: url.into() })
}
