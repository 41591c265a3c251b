// What is chosen when nothing is said: kernels, weights, the number of clusters; and what is told
// about an answer.
#include "blobs.hpp"

#include <algorithm>
#include <numeric>

namespace {

// Points without any clusters, row-major n x 2.
std::vector<double> noise(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> x(2 * n);
    for (double &value : x) {
        value = 0;
        for (int k = 0; k < 12; k++)
            value += static_cast<double>(random()) / 4294967296.0 - 0.5;
    }
    return x;
}

// Forty samples close together, and four that are far from them and from one another.
std::vector<double> lonely() {
    std::vector<double> x = noise(44, 5);
    const double places[4][2] = {{300, 0}, {0, 500}, {-700, 0}, {0, -900}};
    for (std::size_t i = 0; i < 4; i++)
        std::copy(places[i], places[i] + 2, x.begin() + static_cast<std::ptrdiff_t>(2 * i));
    return x;
}

} // namespace

TEST_CASE("plain defaults prepare the features and choose the kernel") {
    const Blobs blobs(60);
    using Names = std::vector<std::string>;
    scmk::Model plain(blobs.n, Blobs::clusters);
    CHECK(plain.get_text("preset") == "auto");
    plain.add_features(blobs.x, 2);
    CHECK(plain.kernel_names() == Names{"standardize; gaussian(t=25,neighbors=7)"});
    const scmk::Fit fit = plain.fit();
    CHECK(fit.labels == blobs.truth);
    CHECK(fit.warning == "");
    CHECK(fit.infos.at("silhouette") > 0.5);
    CHECK(fit.infos.at("smallest_cluster") == 20);
    CHECK(fit.infos.at("largest_cluster") == 20);

    for (const char *list : {"auto", ""}) {
        scmk::Model same(blobs.n, Blobs::clusters);
        CHECK(same.add_features(blobs.x, 2, list).fit().trace == fit.trace);
    }
    scmk::Model named(blobs.n, Blobs::clusters);
    CHECK(named.add_features(blobs.x, 2, "auto; linear").kernel_names() ==
          Names{"standardize; linear"});

    // The unit of a column means nothing.
    auto scaled = blobs.x;
    for (std::size_t i = 0; i < blobs.n; i++)
        scaled[2 * i] *= 1024;
    CHECK(scmk::Model(blobs.n, Blobs::clusters).add_features(scaled, 2).fit().labels ==
          blobs.truth);
}

TEST_CASE("a view of noise has no weight") {
    const Blobs blobs(90);
    std::vector<double> turned(blobs.x.size());
    for (std::size_t i = 0; i < blobs.n; i++) {
        turned[2 * i] = blobs.x[2 * i] - blobs.x[2 * i + 1];
        turned[2 * i + 1] = blobs.x[2 * i] + blobs.x[2 * i + 1];
    }
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_features(blobs.x, 2).add_features(turned, 2).add_features(noise(blobs.n, 3), 2);
    const scmk::Fit fit = model.fit();
    CHECK(fit.labels == blobs.truth);
    REQUIRE(fit.weights.size() == 3);
    CHECK(fit.weights[2] == 0);
    CHECK(std::accumulate(fit.weights.begin(), fit.weights.end(), 0.0) == doctest::Approx(1));
}

TEST_CASE("the number of clusters is suggested") {
    const Blobs blobs(90);
    scmk::Model model(blobs.n, 2);
    model.add_features(blobs.x, 2);
    const auto labels = model.fit().labels;
    CHECK(refused([&] { model.info_int("suggested_clusters"); }).status() == SCMK_E_STATE);

    const scmk::Suggestion found = model.suggest_clusters(2, 8);
    CHECK(found.best == 3);
    CHECK(found.next != found.best);
    CHECK(found.confidence > 0.5);
    CHECK(found.confidence <= 1);
    CHECK(found.from == 2);
    REQUIRE(found.scores.size() == 7);
    CHECK(std::max_element(found.scores.begin(), found.scores.end()) == found.scores.begin() + 1);
    CHECK(contains(found.describe().c_str(), "3 clusters"));
    // The model is as it was, and so is its result.
    CHECK(model.n_clusters() == 2);
    CHECK(model.labels() == labels);
    CHECK(model.info_int("suggested_clusters") == 3);

    const scmk::Suggestion unasked = model.suggest_clusters();
    CHECK(unasked.best == 3);
    CHECK(unasked.from == 2);
    CHECK(unasked.scores.size() == 21);
    CHECK(model.suggest_clusters(3, 3).scores.size() == 1);

    const std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::size_t wrong[][2] = {{0, 5}, {5, 4}, {91, 0}, {2, 91}, {2, most}};
    for (const auto &range : wrong)
        CHECK(refused([&] { model.suggest_clusters(range[0], range[1]); }).status() ==
              SCMK_E_DIMENSION);
    CHECK(model.info_int("suggested_clusters") == 3);
}

TEST_CASE("a suggestion is told in words") {
    scmk::Suggestion suggestion;
    suggestion.confidence = 0.876;
    CHECK(suggestion.describe() == "the samples do not fall into clusters (confidence 88 %)");
    suggestion.next = 3;
    CHECK(suggestion.describe() ==
          "the samples do not fall into clusters, or else 3 (confidence 88 %)");
    suggestion.best = 4;
    CHECK(suggestion.describe() == "4 clusters, or else 3 (confidence 88 %)");
    suggestion.next = 0;
    suggestion.confidence = 1;
    CHECK(suggestion.describe() == "4 clusters (confidence 100 %)");
}

TEST_CASE("samples that do not fall into clusters are said not to") {
    const std::size_t n = 120;
    scmk::Model model(n);
    model.add_features(noise(n, 1), 2);
    const scmk::Suggestion found = model.suggest_clusters(1, 8);
    CHECK(found.best == 1);
    CHECK(contains(found.describe().c_str(), "do not fall into clusters"));
    const scmk::Fit fit = model.fit();
    CHECK(fit.n_clusters == 1);
    CHECK(fit.labels == std::vector<std::int32_t>(n));
    CHECK(contains(fit.warning.c_str(), "no number of clusters"));
    CHECK(fit.infos.count("silhouette") == 0);
}

TEST_CASE("the number of clusters is chosen by the fit") {
    const Blobs blobs(90);
    scmk::Model model(blobs.n);
    CHECK(model.n_clusters() == 0);
    model.add_features(blobs.x, 2);
    CHECK(model.info_int("clusters") == 0);
    CHECK(refused([&] { model.embedding(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.certified_embedding(); }).status() == SCMK_E_STATE);

    const scmk::Fit fit = model.fit();
    CHECK(fit.n_clusters == 3);
    CHECK(fit.labels == blobs.truth);
    CHECK(fit.infos.at("clusters") == static_cast<double>(fit.n_clusters));
    CHECK(fit.infos.at("suggested_clusters") == static_cast<double>(fit.n_clusters));
    CHECK(fit.infos.at("suggested_confidence") > 0.5);
    REQUIRE(fit.embedding);
    CHECK(fit.embedding->cols == fit.n_clusters);
    CHECK(fit.embedding->values.size() == blobs.n * fit.n_clusters);
    CHECK(model.certified_embedding().cols == fit.n_clusters);
    CHECK(model.n_clusters() == 0);

    // The same as if it had been asked for, and back again.
    const scmk::Fit asked = model.set_clusters(fit.n_clusters).fit();
    CHECK(asked.labels == fit.labels);
    CHECK(asked.infos.count("suggested_clusters") == 0);
    CHECK(model.set_clusters(0).fit().labels == fit.labels);
    for (const auto &method : scmk::methods()) {
        INFO(method.name);
        const scmk::Fit other = model.set("method", method.name).fit();
        CHECK(other.n_clusters == 3);
        CHECK(other.labels == blobs.truth);
    }
}

TEST_CASE("a suggestion is watched and can be stopped") {
    // So many samples that it takes longer than the tenth of a second between two calls.
    const Blobs blobs(1500);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_features(blobs.x, 2).set("threads", 1);
    int calls = 0;
    model.set_progress([&](const scmk::Progress &progress) {
        calls++;
        CHECK((progress.fraction >= 0 && progress.fraction <= 1));
    });
    CHECK(model.suggest_clusters(2, 5).best == 3);
    CHECK(calls >= 1);

    const auto stopped = [&] {
        try {
            model.suggest_clusters(2, 5);
        } catch (const scmk::Stopped &error) {
            return error.status() == SCMK_E_STOPPED;
        }
        return false;
    };
    model.set_progress([](const scmk::Progress &) { return false; });
    CHECK(stopped());
    model.set_progress([&](const scmk::Progress &) { model.cancel(); });
    CHECK(stopped());
    model.set_progress([](const scmk::Progress &) { throw 42; });
    int caught = 0;
    try {
        model.suggest_clusters(2, 5);
    } catch (int value) {
        caught = value;
    }
    CHECK(caught == 42);
    model.set_progress(nullptr).set("time_limit", 1e-9);
    CHECK(stopped());
    // None of that is left over for a fit.
    CHECK(model.set("time_limit", 0).fit().outcome == scmk::Outcome::converged);
}

TEST_CASE("clusters of single samples are warned of") {
    const auto x = lonely();
    scmk::Model model(44, 5);
    model.add_features(x, 2, "linear").set("preset", "joint");
    const scmk::Fit fit = model.fit();
    CHECK(fit.warning == "4 of 5 clusters are single samples");
    CHECK(fit.infos.at("smallest_cluster") == 1);
    CHECK(fit.infos.at("largest_cluster") == 40);
    CHECK(fit.infos.count("warning") == 0);
    CHECK(model.info_text("warning") == fit.warning);
    CHECK(model.info_text("largest_cluster") == "40");
}

TEST_CASE("views that do not agree are warned of") {
    scmk::Model model(80, 2);
    model.add_features(noise(80, 1), 2).add_features(noise(80, 2), 2);
    const scmk::Fit fit = model.fit();
    CHECK(fit.warning ==
          "no view or kernel confirms another more than chance would, so their weights are equal");
    CHECK(fit.weights == std::vector<double>{0.5, 0.5});
}

TEST_CASE("beta adapts until the graph falls into the clusters") {
    const Blobs blobs(60);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_features(blobs.x, 2).set("adapt_beta", true);
    const scmk::Fit fit = model.fit();
    CHECK(fit.labels == blobs.truth);
    CHECK(fit.infos.at("components") == 3);
    CHECK(fit.infos.count("beta_used") == 1);
}

TEST_CASE("stability is told if it is asked for") {
    const Blobs blobs(60);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_features(blobs.x, 2);
    CHECK(model.fit().infos.count("stability") == 0);
    CHECK(model.set("subsamples", 5).fit().infos.at("stability") == doctest::Approx(1));
}
