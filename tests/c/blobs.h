/* Three groups of points in the plane, far apart, and a Gaussian kernel of them. */
#ifndef BLOBS_H
#define BLOBS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOBS = 3 };

/* A small generator of its own, so that every machine sees the same points. */
static inline double blobs_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* n points as rows of x (n by 2), sample i of group i % 3, which is labels[i]. */
static inline void blobs_points(double *x, int32_t *labels, size_t n)
{
    static const double centre[BLOBS][2] = {{0, 0}, {10, 0}, {0, 10}};
    uint64_t state = 1;
    size_t i, k;
    for (i = 0; i < n; i++) {
        for (k = 0; k < 2; k++)
            x[2 * i + k] = centre[i % BLOBS][k] + 2 * blobs_random(&state) - 1;
        labels[i] = (int32_t)(i % BLOBS);
    }
}

/* kernel(i, j) = exp(-|x_i - x_j|^2 / width), column j starting at kernel[j * leading_dim]. */
static inline void blobs_kernel(const double *x, size_t n, double width, double *kernel,
                                size_t leading_dim)
{
    size_t i, j;
    for (j = 0; j < n; j++) {
        for (i = 0; i < n; i++) {
            double a = x[2 * i] - x[2 * j], b = x[2 * i + 1] - x[2 * j + 1];
            kernel[i + j * leading_dim] = exp(-(a * a + b * b) / width);
        }
    }
}

#endif
