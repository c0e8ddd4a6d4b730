//! Programs that send what they are given to another machine, and programs that turn a secret into another file.

/// What of a command leaves the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Its arguments and input: a name that is looked up, an address that is opened.
    Words,
    /// The files it names as well.
    Files,
}

/// What `program` sends.
pub(crate) fn sink(program: &str) -> Option<Sink> {
    SINKS.binary_search_by(|(name, _)| (*name).cmp(program)).ok().and_then(|i| SINKS.get(i)).map(|(_, s)| *s)
}

/// Does `program` write what it read in another form?
pub(crate) fn encrypts(program: &str) -> bool {
    ENCRYPTERS.binary_search(&program).is_ok()
}

/// Sorted.
const ENCRYPTERS: &[&str] = &["age", "ansible-vault", "ccrypt", "gpg", "gpg2", "rage", "sops"];

/// Sorted.
#[rustfmt::skip]
const SINKS: &[(&str, Sink)] = &[
    ("amqp-publish", Sink::Files),
    ("brave", Sink::Words),
    ("brave-browser", Sink::Words),
    ("chrome", Sink::Words),
    ("chromium", Sink::Words),
    ("chromium-browser", Sink::Words),
    ("croc", Sink::Files),
    ("dig", Sink::Words),
    ("dog", Sink::Words),
    ("doggo", Sink::Words),
    ("drill", Sink::Words),
    ("elinks", Sink::Words),
    ("explorer", Sink::Words),
    ("ffsend", Sink::Files),
    ("firefox", Sink::Words),
    ("ftp", Sink::Files),
    ("getent", Sink::Words),
    ("gio", Sink::Words),
    ("gist", Sink::Files),
    ("gnome-open", Sink::Words),
    ("google-chrome", Sink::Words),
    ("google-chrome-stable", Sink::Words),
    ("grpcurl", Sink::Files),
    ("host", Sink::Words),
    ("hping3", Sink::Files),
    ("ipfs", Sink::Files),
    ("kafka-console-producer", Sink::Files),
    ("kafkacat", Sink::Files),
    ("kcat", Sink::Files),
    ("kde-open", Sink::Words),
    ("kdig", Sink::Words),
    ("lftp", Sink::Files),
    ("links", Sink::Words),
    ("logger", Sink::Files),
    ("lynx", Sink::Words),
    ("microsoft-edge", Sink::Words),
    ("mosquitto_pub", Sink::Files),
    ("mtr", Sink::Words),
    ("ncftpput", Sink::Files),
    ("nping", Sink::Files),
    ("nslookup", Sink::Words),
    ("ntfy", Sink::Files),
    ("open", Sink::Words),
    ("opera", Sink::Words),
    ("pastebinit", Sink::Files),
    ("ping", Sink::Words),
    ("ping6", Sink::Words),
    ("q", Sink::Words),
    ("resolvectl", Sink::Words),
    ("safari", Sink::Words),
    ("sensible-browser", Sink::Words),
    ("sftp", Sink::Files),
    ("slackcat", Sink::Files),
    ("smbclient", Sink::Files),
    ("snmpset", Sink::Files),
    ("snmptrap", Sink::Files),
    ("systemd-resolve", Sink::Words),
    ("telegram-send", Sink::Files),
    ("termux-open-url", Sink::Words),
    ("tftp", Sink::Files),
    ("tracepath", Sink::Words),
    ("traceroute", Sink::Words),
    ("vivaldi", Sink::Words),
    ("w3m", Sink::Words),
    ("websocat", Sink::Files),
    ("whois", Sink::Words),
    ("wormhole", Sink::Files),
    ("wscat", Sink::Files),
    ("wslview", Sink::Words),
    ("www-browser", Sink::Words),
    ("x-www-browser", Sink::Words),
    ("xdg-open", Sink::Words),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(ENCRYPTERS.is_sorted());
        assert!(SINKS.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
