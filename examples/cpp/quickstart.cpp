// Clusters 400 handwritten digits that are described in six ways (views), with nothing tuned.
// Build: c++ -std=c++17 quickstart.cpp $(pkg-config --cflags --libs scmk)   Run: ./a.out FOLDER
#include "csv.hpp"
#include <iomanip>
#include <iostream>
#include <scmk.hpp>

int main(int argc, char **argv) try {
    const std::string folder = argc > 1 ? argv[1] : "examples/data/digits";
    const std::vector<std::string> views = {"fou", "fac", "kar", "pix", "zer", "mor"};
    const Table digits = read_csv(folder + "/labels.csv");
    const std::vector<std::int32_t> truth(digits.values.begin(), digits.values.end());

    scmk::Model model(truth.size(), 10);
    for (const auto &view : views) {
        const Table x = read_csv(folder + "/" + view + ".csv");
        model.add_features(x.values, x.cols, "auto", view);
    }
    const scmk::Fit fit = model.fit();
    if (!fit.warning.empty()) std::cerr << "warning: " << fit.warning << '\n';

    std::vector<int> sizes(fit.n_clusters);
    for (const auto label : fit.labels) sizes[static_cast<std::size_t>(label)]++;
    std::cout << "labels   ";
    for (std::size_t i = 0; i < 25; i++) std::cout << ' ' << fit.labels[i];
    std::cout << " ...\nclusters ";
    for (std::size_t c = 0; c < sizes.size(); c++) std::cout << ' ' << c << ':' << sizes[c];
    std::cout << std::fixed << std::setprecision(4) << "\nweights  ";
    for (std::size_t v = 0; v < 6; v++)
        std::cout << ' ' << fit.view_names[v] << ':' << fit.weights[v];
    std::cout << std::setprecision(1) << "\nquality   accuracy "
              << 100 * scmk::metric("accuracy", truth, fit.labels) << " %, NMI "
              << 100 * scmk::metric("nmi", truth, fit.labels) << " %\nsolved    in "
              << fit.infos.at("seconds") << " s, relative duality gap at most " << std::scientific
              << fit.infos.at("kkt_residual") << '\n';
} catch (const std::exception &error) {
    return std::cerr << error.what() << '\n', 1;
}
