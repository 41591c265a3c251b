//! What faer needs of the crate `gemm`: products of matrices of doubles on one thread.

use std::any::TypeId;

/// How many threads a product may use.
#[derive(Clone, Copy, Debug)]
pub enum Parallelism {
    /// The calling one.
    None,
    /// So many of a pool; taken as the calling one.
    Rayon(usize),
}

/// Multiplications from which faer thinks of several threads, which it has not here.
pub fn get_threading_threshold() -> usize {
    usize::MAX
}

/// dst = alpha·dst + beta·lhs·rhs; dst is not read unless `read_dst` says so.
///
/// # Panics
/// For other numbers than `f64` and `f32`: the library multiplies no others.
///
/// # Safety
/// The pointers and strides (of columns and rows, in elements) reach m×n, m×k and k×n elements, and
/// nobody else uses those of `dst`.
#[allow(clippy::too_many_arguments)]
pub unsafe fn gemm<T: Copy + 'static>(
    m: usize,
    n: usize,
    k: usize,
    dst: *mut T,
    dst_cs: isize,
    dst_rs: isize,
    read_dst: bool,
    lhs: *const T,
    lhs_cs: isize,
    lhs_rs: isize,
    rhs: *const T,
    rhs_cs: isize,
    rhs_rs: isize,
    alpha: T,
    beta: T,
    _conj_dst: bool,
    _conj_lhs: bool,
    _conj_rhs: bool,
    _parallelism: Parallelism,
) {
    macro_rules! multiply {
        ($number:ty, $product:path) => {
            if TypeId::of::<T>() == TypeId::of::<$number>() {
                let (lhs, rhs, dst) = (lhs.cast(), rhs.cast(), dst.cast::<$number>());
                // SAFETY: T is this type.
                let (alpha, beta): ($number, $number) = unsafe {
                    (
                        (&raw const alpha).cast::<$number>().read(),
                        (&raw const beta).cast::<$number>().read(),
                    )
                };
                let keep = if read_dst { alpha } else { 0.0 };
                // SAFETY: the caller's promise is passed on.
                unsafe {
                    $product(
                        m, k, n, beta, lhs, lhs_rs, lhs_cs, rhs, rhs_rs, rhs_cs, keep, dst, dst_rs,
                        dst_cs,
                    );
                }
                return;
            }
        };
    }
    multiply!(f64, matrixmultiply::dgemm);
    multiply!(f32, matrixmultiply::sgemm);
    panic!("products of other numbers than f64 and f32");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (40, 33, 70), (5, 4, 0), (130, 9, 300)] {
            let number = |seed: usize, e: usize| ((e * 31 + seed * 17) % 23) as f64 - 11.0;
            let a: Vec<f64> = (0..m * k).map(|e| number(1, e)).collect();
            let b: Vec<f64> = (0..k * n).map(|e| number(2, e)).collect();
            for read in [false, true] {
                // Not read unless asked for: NaN would stay.
                let before = if read { 2.0 } else { f64::NAN };
                let mut c = vec![before; m * n];
                // Column-major left factor and product, row-major right factor.
                // SAFETY: the strides stay within the three vectors.
                unsafe {
                    gemm(
                        m,
                        n,
                        k,
                        c.as_mut_ptr(),
                        m as isize,
                        1,
                        read,
                        a.as_ptr(),
                        m as isize,
                        1,
                        b.as_ptr(),
                        1,
                        n as isize,
                        0.5,
                        3.0,
                        false,
                        false,
                        false,
                        Parallelism::None,
                    );
                }
                for i in 0..m {
                    for j in 0..n {
                        let product: f64 = (0..k).map(|l| a[i + l * m] * b[l * n + j]).sum();
                        let expected = 3.0 * product + if read { 1.0 } else { 0.0 };
                        assert_eq!(c[i + j * m], expected, "{m} {n} {k} ({i}, {j})");
                    }
                }
            }
        }
    }
}
