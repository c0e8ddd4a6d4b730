//! Programs that start another one after many options of their own: sandboxes that map folders, and the dynamic loader.

/// The options of `bwrap` that take a value.
pub(crate) fn bwrap_values(option: &str) -> usize {
    if BWRAP_TWO.binary_search(&option).is_ok() {
        2
    } else {
        usize::from(BWRAP_ONE.binary_search(&option).is_ok())
    }
}

/// Does the option show a folder of this machine inside, and where: first the folder, then the place?
pub(crate) fn bwrap_binds(option: &str) -> bool {
    matches!(
        option,
        "--bind" | "--bind-try" | "--dev-bind" | "--dev-bind-try" | "--ro-bind" | "--ro-bind-try"
    )
}

/// `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`, `ld.so`: started by hand, it runs the program behind it.
pub(crate) fn is_loader(name: &str) -> bool {
    let library = name.contains(".so");
    name == "ld.so"
        || library && ["ld-linux", "ld-musl", "ld64.", "ld-2.", "ld-elf"].iter().any(|p| name.starts_with(p))
}

/// Options of the loader with a value.
pub(crate) const LOADER_VALUES: &str =
    "--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend --glibc-hwcaps-mask";

/// Sorted.
#[rustfmt::skip]
const BWRAP_ONE: &[&str] = &[
    "--add-seccomp-fd", "--args", "--argv0", "--block-fd", "--cap-add", "--cap-drop", "--chdir", "--dev", "--dir",
    "--exec-label", "--file-label", "--gid", "--hostname", "--info-fd", "--json-status-fd", "--lock-file",
    "--mqueue", "--overlay-src", "--perms", "--pidns", "--proc", "--remount-ro", "--ro-overlay", "--seccomp",
    "--size", "--sync-fd", "--tmp-overlay", "--tmpfs", "--uid", "--unsetenv", "--userns", "--userns-block-fd",
    "--userns2",
];

/// Sorted.
#[rustfmt::skip]
const BWRAP_TWO: &[&str] = &[
    "--bind", "--bind-data", "--bind-fd", "--bind-try", "--chmod", "--dev-bind", "--dev-bind-try", "--file",
    "--ro-bind", "--ro-bind-data", "--ro-bind-fd", "--ro-bind-try", "--setenv", "--symlink",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(BWRAP_ONE.windows(2).all(|w| w[0] < w[1]));
        assert!(BWRAP_TWO.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn loaders() {
        assert!(is_loader("ld-linux-x86-64.so.2"));
        assert!(!is_loader("ld-linux-notes"));
        assert!(!is_loader("ld"));
    }
}
