// Three groups of points in the plane, far apart: what every method must find.
#ifndef BLOBS_HPP
#define BLOBS_HPP

#include <scmk.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

struct Blobs {
    static constexpr std::size_t clusters = 3;
    std::size_t n;
    std::vector<double> x; // row-major n x 2
    std::vector<std::int32_t> truth;

    explicit Blobs(std::size_t samples) : n(samples), x(2 * samples), truth(samples) {
        const double centre[clusters][2] = {{0, 0}, {10, 0}, {0, 10}};
        std::mt19937 random(1);
        for (std::size_t i = 0; i < n; i++) {
            truth[i] = static_cast<std::int32_t>(i % clusters);
            for (std::size_t k = 0; k < 2; k++)
                x[2 * i + k] =
                    centre[i % clusters][k] + static_cast<double>(random()) / 2147483648.0;
        }
    }

    // A Gaussian kernel, column j starting at j * leading_dim.
    std::vector<double> kernel(double width, std::size_t leading_dim) const {
        std::vector<double> values(n * leading_dim, std::nan(""));
        for (std::size_t j = 0; j < n; j++)
            for (std::size_t i = 0; i < n; i++) {
                const double a = x[2 * i] - x[2 * j], b = x[2 * i + 1] - x[2 * j + 1];
                values[i + j * leading_dim] = std::exp(-(a * a + b * b) / width);
            }
        return values;
    }
    std::vector<double> kernel(double width) const { return kernel(width, n); }
};

// What the call throws: status and message. A call that does not throw fails the test.
template <class Call> scmk::Error refused(Call call) {
    try {
        call();
    } catch (const scmk::Error &error) {
        return error;
    }
    FAIL("nothing was thrown");
    return {SCMK_OK, ""};
}

// AddressSanitizer keeps memory that was given back: no use in measuring it.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// Bytes of memory in use by this process.
inline std::size_t resident() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    REQUIRE(pages > 0);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// How much memory sixteen kernels take that are added one after the other, in kernels.
template <class Add> double kernels_kept(std::size_t n, Add add) {
    scmk::Model model(n, Blobs::clusters);
    add(model); // what only the first one needs
    const std::size_t before = resident();
    for (int i = 0; i < 16; i++)
        add(model);
    const double grown = static_cast<double>(resident()) - static_cast<double>(before);
    return grown / static_cast<double>(8 * n * n);
}

inline bool contains(const char *text, const std::string &part) {
    return std::string(text).find(part) != std::string::npos;
}

#endif
