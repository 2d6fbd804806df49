//! Whole numbers as text: a fixed count of base-64 digits each, so that a thousand numbers cost a
//! kilobyte or two and neither separators nor a search for their ends.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// How many digits a number has.
pub(super) fn width(largest: u64) -> usize {
    let bits = u64::BITS - largest.leading_zeros();
    bits.div_ceil(6).max(1) as usize
}

/// The numbers with so many digits each, the most significant first; nothing at all when all are
/// zero.
pub(super) fn pack(numbers: &[u64], width: usize) -> String {
    if numbers.iter().all(|&n| n == 0) {
        return String::new();
    }
    pack_all(numbers, width)
}

/// The same, also when all are zero.
pub(super) fn pack_all(numbers: &[u64], width: usize) -> String {
    let digit = |n: u64, place: usize| DIGITS[(n >> (6 * place)) as usize & 63] as char;
    numbers.iter().flat_map(|&n| (0..width).rev().map(move |place| digit(n, place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_least_that_hold_the_largest() {
        assert_eq!([0, 1, 63, 64, 4095, 4096, u64::MAX].map(width), [1, 1, 1, 2, 2, 3, 11]);
    }

    #[test]
    fn digits_stand_most_significant_first() {
        assert_eq!(pack(&[0, 1, 25, 26, 61, 62, 63], 1), "ABZa9-_");
        assert_eq!(pack(&[64, 4095, 0], 2), "BA__AA");
        assert_eq!(pack(&[0, 0, 0], 2), "");
        assert_eq!(pack(&[u64::MAX], width(u64::MAX)), "P__________");
    }
}
