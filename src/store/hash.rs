//! The hash of a row: over every column, each with its length, so that no two rows look alike.

use sha2::{Digest, Sha256};

/// Hashes the columns of one row in order; `None` differs from empty.
pub(super) fn row(columns: &[Option<&[u8]>]) -> Vec<u8> {
    let mut hash = Sha256::new();
    for column in columns {
        match column {
            Some(bytes) => {
                hash.update([1]);
                hash.update((bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
            None => hash.update([0]),
        }
    }
    hash.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_run_together_hash_differently() {
        assert_ne!(row(&[Some(b"ab"), Some(b"c")]), row(&[Some(b"a"), Some(b"bc")]));
        assert_ne!(row(&[None]), row(&[Some(b"")]));
    }
}
