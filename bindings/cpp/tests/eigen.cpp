// Eigen matrices of both storage orders. Included after scmk.hpp, which does not matter.
#include "blobs.hpp"

#include <Eigen/Dense>

namespace {

using Columns = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Data {
    Blobs blobs{24};
    std::vector<double> values = blobs.kernel(20);
    Eigen::Index n = 24;
    Columns x = Eigen::Map<const Rows>(blobs.x.data(), n, 2);
    Columns kernel = Eigen::Map<const Columns>(values.data(), n, n);

    // The same, without Eigen.
    scmk::Fit from_features() const {
        return scmk::Model(24, 3).add_features(blobs.x, 2, "gaussian(t=0.1); linear").fit();
    }
    scmk::Fit from_kernel() const { return scmk::Model(24, 3).add_kernel(values).fit(); }
};

template <class X> void same_features(const Data &data, const X &x) {
    const scmk::Fit expected = data.from_features();
    const scmk::Fit fit = scmk::Model(24, 3).add_features(x, "gaussian(t=0.1); linear").fit();
    CHECK(fit.labels == data.blobs.truth);
    CHECK(fit.trace == expected.trace);
}

template <class K> void same_kernel(const Data &data, K &&kernel) {
    const scmk::Fit expected = data.from_kernel();
    CHECK(scmk::Model(24, 3).add_kernel(kernel).fit().trace == expected.trace);
    CHECK(scmk::Model(24, 3).borrow_kernel(std::forward<K>(kernel)).fit().trace == expected.trace);
}

// A function as users write them.
std::vector<std::int32_t> by_ref(const Eigen::Ref<const Columns> &x) {
    return scmk::Model(24, 3).add_features(x).fit().labels;
}

} // namespace

TEST_CASE("Eigen features") {
    const Data data;
    const Rows rows = data.x;
    same_features(data, data.x);
    same_features(data, rows);
    same_features(data, Eigen::Map<const Columns>(data.x.data(), data.n, 2));
    same_features(data, Eigen::Map<const Rows>(data.blobs.x.data(), data.n, 2));
    same_features(data, Eigen::Ref<const Columns>(data.x));
    same_features(data, Eigen::Ref<const Rows>(rows));
    const Columns samples_as_columns = data.x.transpose();
    same_features(data, samples_as_columns.transpose());
    // A part of something larger, in both orders.
    Columns large = Columns::Constant(data.n + 3, 7, 99);
    large.block(2, 3, data.n, 2) = data.x;
    same_features(data, large.block(2, 3, data.n, 2));
    const Rows large_rows = large;
    same_features(data, large_rows.block(2, 3, data.n, 2));
    same_features(data, large.middleCols<2>(3).middleRows(2, data.n));
    // Every second row and column.
    Columns spread = Columns::Constant(2 * data.n, 4, 99);
    using Steps = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    Eigen::Map<Columns, 0, Steps> sparse(spread.data(), data.n, 2, Steps(4 * data.n, 2));
    sparse = data.x;
    same_features(data, sparse);
    same_features(data, Eigen::Matrix<double, 24, 2, Eigen::RowMajor>(data.x));
    same_features(data, data.x.array());
    // Expressions are evaluated.
    same_features(data, data.x * Eigen::Matrix2d::Identity());
    same_features(data, 1.0 * data.x);
    const Eigen::MatrixXi whole = (100 * data.x).cast<int>();
    CHECK(scmk::Model(24, 3).add_features(whole.cast<double>()).fit().labels == data.blobs.truth);
    CHECK(by_ref(data.x) == data.blobs.truth);
    // One feature.
    CHECK(scmk::Model(24, 2).add_features(data.x.col(0), "linear").fit().trace ==
          scmk::Model(24, 2).add_features(data.x.data(), 24, 1, "linear").fit().trace);

    const scmk::Error error = refused([&] { scmk::Model(24, 3).add_features(data.x.topRows(9)); });
    CHECK(error.status() == SCMK_E_DIMENSION);
    Rows bad = rows;
    bad(3, 1) = std::nan("");
    CHECK(std::string(refused([&] { scmk::Model(24, 3).add_features(bad); }).what()) ==
          "features of view 0 entry (3, 1) is NaN");
    const auto named = [&] { scmk::Model(24, 3).add_features(bad, "linear", "plane"); };
    CHECK(std::string(refused(named).what()) == "features of view 'plane' entry (3, 1) is NaN");
    CHECK(scmk::Model(24, 3).add_features(2 * data.x, "linear", "plane").kernel_name(0) ==
          "plane: linear");
}

TEST_CASE("Eigen kernels") {
    const Data data;
    const Rows rows = data.kernel;
    same_kernel(data, data.kernel);
    same_kernel(data, rows);
    same_kernel(data, Eigen::Map<const Columns>(data.values.data(), data.n, data.n));
    same_kernel(data, Eigen::Map<const Rows>(data.values.data(), data.n, data.n));
    same_kernel(data, Eigen::Ref<const Columns>(data.kernel));
    Columns large = Columns::Constant(data.n + 5, data.n + 5, std::nan(""));
    large.block(1, 2, data.n, data.n) = data.kernel;
    same_kernel(data, large.block(1, 2, data.n, data.n));
    const Rows large_rows = large;
    same_kernel(data, large_rows.block(1, 2, data.n, data.n));
    Columns writable = data.kernel;
    same_kernel(data, Eigen::Ref<Columns>(writable));
    CHECK(scmk::Model(24, 3).add_kernel(1.0 * data.kernel).fit().trace == data.from_kernel().trace);

    // Every second entry can be copied, but not borrowed.
    Columns spread = Columns::Constant(2 * data.n, data.n, std::nan(""));
    using Steps = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    Eigen::Map<Columns, 0, Steps> sparse(spread.data(), data.n, data.n, Steps(2 * data.n, 2));
    sparse = data.kernel;
    CHECK(scmk::Model(24, 3).add_kernel(sparse).fit().trace == data.from_kernel().trace);
    CHECK(refused([&] { scmk::Model(24, 3).borrow_kernel(sparse); }).status() ==
          SCMK_E_INVALID_ARGUMENT);
}

TEST_CASE("Eigen kernels that are borrowed are not copied" * doctest::skip(sanitized)) {
    const auto values = Blobs(400).kernel(20);
    const Columns columns = Eigen::Map<const Columns>(values.data(), 400, 400);
    const Rows rows = columns;
    const Eigen::Map<const Columns> map(values.data(), 400, 400);
    const Eigen::Ref<const Columns> ref(columns);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.borrow_kernel(columns); }) < 4);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.borrow_kernel(rows); }) < 4);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.borrow_kernel(map); }) < 4);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.borrow_kernel(ref); }) < 4);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.add_kernel(rows); }) > 12);
}

TEST_CASE("Eigen refusals name row and column") {
    const Data data;
    Columns bad = data.kernel;
    bad(7, 4) = 3;
    const Rows bad_rows = bad;
    const std::string by_column = refused([&] { scmk::Model(24, 3).add_kernel(bad); }).what();
    CHECK(contains(by_column.c_str(), "(7, 4) = 3"));
    CHECK(refused([&] { scmk::Model(24, 3).add_kernel(bad_rows); }).what() == by_column);
    CHECK(refused([&] { scmk::Model(24, 3).borrow_kernel(bad_rows); }).status() ==
          SCMK_E_ASYMMETRIC);

    scmk::Model model(24, 3);
    const scmk::Error error = refused([&] { model.add_kernel(data.kernel.leftCols(9)); });
    CHECK(error.status() == SCMK_E_DIMENSION);
    CHECK(contains(error.what(), "24 x 9"));
    CHECK(refused([&] { model.borrow_kernel(data.x); }).status() == SCMK_E_DIMENSION);
    CHECK(refused([&] { model.add_kernel(data.kernel.topLeftCorner(9, 9)); }).status() ==
          SCMK_E_DIMENSION);
    CHECK(model.add_kernel(data.kernel).fit().labels == data.blobs.truth);
}

TEST_CASE("Eigen reads the results in place") {
    const Data data;
    const scmk::Fit fit = scmk::Model(24, 3).set("preset", "joint").add_kernel(data.kernel).fit();
    const Eigen::Map<const Columns> p(fit.embedding->values.data(), 24, 3);
    CHECK((p.transpose() * p).isIdentity(1e-8));
    const scmk::Matrix dense = fit.similarity().to_dense();
    const Eigen::Map<const Columns> z(dense.values.data(), 24, 24);
    CHECK(z.colwise().sum().isOnes(1e-8));
    CHECK(z(1, 4) == dense(1, 4));
}
