// The problems and refusals that all languages share: tests/golden.
#include "blobs.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(__FILE__).parent_path() / "../../../tests/golden";

using Rows = std::vector<std::vector<std::string>>;

// Fields are separated by commas; one in quotation marks may have commas in it.
Rows read_csv(const fs::path &path) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file, path.string());
    Rows rows;
    for (std::string line; std::getline(file, line);) {
        rows.push_back({""});
        bool quoted = false;
        for (const char c : line) {
            if (c == '"')
                quoted = !quoted;
            else if (c == ',' && !quoted)
                rows.back().emplace_back();
            else
                rows.back().back() += c;
        }
    }
    REQUIRE(!rows.empty());
    return rows;
}

struct Table {
    std::size_t rows, cols;
    std::vector<double> values; // row-major
};

Table read_table(const fs::path &path) {
    const Rows rows = read_csv(path);
    Table table{rows.size(), rows[0].size(), {}};
    for (const auto &row : rows)
        for (const auto &field : row)
            table.values.push_back(std::stod(field));
    REQUIRE(table.values.size() == table.rows * table.cols);
    return table;
}

std::vector<Table> read_tables(const fs::path &folder, const std::string &name) {
    std::vector<Table> tables;
    for (;;) {
        const fs::path path = folder / (name + std::to_string(tables.size() + 1) + ".csv");
        if (!fs::exists(path))
            return tables;
        tables.push_back(read_table(path));
    }
}

void set_option(scmk::Model &model, const std::string &name, const std::string &value) {
    std::size_t end = 0;
    double number = 0;
    try {
        number = std::stod(value, &end);
    } catch (const std::invalid_argument &) {
    }
    if (end == value.size() && end > 0)
        model.set(name, number);
    else
        model.set(name, value);
}

void check_close(const std::vector<double> &got, const std::vector<double> &expected) {
    REQUIRE(got.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); i++) {
        const double difference =
            std::fabs(got[i] - expected[i]) / std::max(1.0, std::fabs(expected[i]));
        worst = difference <= worst ? worst : difference; // NaN counts as worst
    }
    CHECK(worst <= 1e-10);
}

void solve(const fs::path &folder) {
    const Rows problem = read_csv(folder / "problem.csv");
    const auto kernels = read_tables(folder, "kernel"), views = read_tables(folder, "features");
    REQUIRE(kernels.size() + views.size() > 0);
    REQUIRE(problem[0][0] == "clusters");
    scmk::Model model((kernels.empty() ? views : kernels)[0].rows, std::stoul(problem[0][1]));
    for (const Table &kernel : kernels)
        model.add_kernel(kernel.values);
    for (std::size_t i = 1; i < problem.size(); i++) {
        if (problem[i][0] != "kernels")
            set_option(model, problem[i][0], problem[i][1]);
        else
            for (const Table &view : views)
                model.add_features(view.values, view.cols, problem[i][1]);
    }
    const scmk::Fit fit = model.fit();

    std::vector<std::int32_t> labels;
    for (const double label : read_table(folder / "labels.csv").values)
        labels.push_back(static_cast<std::int32_t>(label));
    CHECK(fit.labels == labels);
    check_close(fit.weights, read_table(folder / "weights.csv").values);
    check_close({fit.infos.at("objective")}, read_table(folder / "objective.csv").values);
    REQUIRE(fit.has_similarity() == fs::exists(folder / "similarity.csv"));
    if (fit.has_similarity()) {
        const Table expected = read_table(folder / "similarity.csv");
        const scmk::Matrix got = fit.similarity().to_dense();
        std::vector<double> rows;
        for (std::size_t i = 0; i < got.rows; i++)
            for (std::size_t j = 0; j < got.cols; j++)
                rows.push_back(got(i, j));
        check_close(rows, expected.values);
    }
}

// Does what a line of bad_inputs.csv says.
void misuse(const std::string &kind, const std::string &argument, const std::string &value) {
    Table kernel = read_table(golden / "one_kernel/kernel1.csv");
    Table view = read_table(golden / "features/features1.csv");
    const std::size_t n = kernel.rows, clusters = 3;
    std::istringstream entry(argument);
    std::size_t row = 0, column = 0;
    entry >> row >> column;
    if (kind == "entry") {
        kernel.values[row + column * n] = std::stod(value);
        scmk::Model(n, clusters).add_kernel(kernel.values);
    } else if (kind == "feature") {
        view.values[row * view.cols + column] = std::stod(value);
        scmk::Model(view.rows, clusters).add_features(view.values, view.cols, "linear");
    } else if (kind == "clusters") {
        scmk::Model(n, std::stoul(value)).add_kernel(kernel.values);
    } else if (kind == "option") {
        scmk::Model model(n, clusters);
        set_option(model, argument, value);
    } else if (kind == "kernels") {
        scmk::Model(view.rows, clusters).add_features(view.values, view.cols, value);
    } else if (kind == "metric") {
        scmk::metric(value, {0, 1, 1}, {0, 1, 1});
    } else {
        FAIL("unknown kind " << kind);
    }
}

} // namespace

// doctest runs a test case anew for each of its subcases, and skips those it was not asked for.

TEST_CASE("golden problem") {
    bool ran = false;
    for (const auto &entry : fs::directory_iterator(golden)) {
        if (!entry.is_directory())
            continue;
        SUBCASE(entry.path().filename().c_str()) {
            ran = true;
            solve(entry.path());
        }
    }
    CHECK(ran);
}

TEST_CASE("bad input") {
    bool ran = false;
    const Rows lines = read_csv(golden / "bad_inputs.csv");
    for (std::size_t i = 1; i < lines.size(); i++) {
        const auto &line = lines[i];
        SUBCASE(line[0].c_str()) {
            ran = true;
            // The last column counts from 1, for other languages.
            REQUIRE(line.size() == 7);
            const scmk::Error error = refused([&] { misuse(line[2], line[3], line[4]); });
            CHECK(error.status_name() == line[1]);
            CHECK(error.what() == line[5]);
        }
    }
    CHECK(ran);
}
