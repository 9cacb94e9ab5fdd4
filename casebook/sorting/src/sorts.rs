//! Two sorts that every textbook has; the other two are the standard library's.

/// Each value moves left past the greater ones: a step for each inversion, and one for each value.
#[inline(never)]
pub fn insertion(values: &mut [u32]) {
    for at in 1..values.len() {
        let value = values[at];
        let mut hole = at;
        while hole > 0 && values[hole - 1] > value {
            values[hole] = values[hole - 1];
            hole -= 1;
        }
        values[hole] = value;
    }
}

/// Four passes, a byte each, the lowest first: the same work whatever the order.
#[inline(never)]
pub fn radix(values: &mut Vec<u32>) {
    let mut counts = [[0_u32; 256]; 4];
    for &value in values.iter() {
        for (count, byte) in counts.iter_mut().zip(value.to_le_bytes()) {
            count[usize::from(byte)] += 1;
        }
    }
    let mut sorted = vec![0; values.len()];
    for (pass, count) in counts.iter_mut().enumerate() {
        let mut start = 0;
        for place in count.iter_mut() {
            start += std::mem::replace(place, start);
        }
        for &value in values.iter() {
            let place = &mut count[usize::from(value.to_le_bytes()[pass])];
            sorted[*place as usize] = value;
            *place += 1;
        }
        std::mem::swap(values, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    /// All lengths up to 300: values of few and of many bytes, in no order, in order, and nearly.
    #[test]
    fn both_sort_whatever_the_standard_library_sorts() {
        let mut seed = 1_u64;
        for length in 0..300_usize {
            let mut random: Vec<u32> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (seed >> 32) as u32 >> (8 * (length % 4))
                })
                .collect();
            for _ in 0..3 {
                let mut expected = random.clone();
                expected.sort();
                let (mut by_insertion, mut by_radix) = (random.clone(), random.clone());
                super::insertion(&mut by_insertion);
                super::radix(&mut by_radix);
                assert_eq!((&by_insertion, &by_radix), (&expected, &expected));
                // Next sorted, then with one pair exchanged.
                random = expected;
                if length > 1 && by_radix.is_sorted() {
                    random.swap(length / 2, length / 3);
                }
            }
        }
    }
}
