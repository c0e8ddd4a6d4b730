//! Splits a bill.

/// What each of `people` pays of `total` cents, so that all of it is paid.
pub fn split(total: u64, people: u64) -> Vec<u64> {
    let share = total / people;
    (0..people).map(|_| share).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn every_cent_is_paid() {
        let shares = split(100, 3);
        assert_eq!(shares.iter().sum::<u64>(), 100, "the shares are {shares:?}");
    }
}
