// The binding itself: everything that goes in and comes out, progress, errors, lifetimes.
#include "blobs.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

static_assert(std::is_nothrow_move_constructible_v<scmk::Model>);
static_assert(std::is_nothrow_move_assignable_v<scmk::Model>);
static_assert(!std::is_copy_constructible_v<scmk::Model>);
static_assert(!std::is_copy_assignable_v<scmk::Model>);
static_assert(std::is_copy_constructible_v<scmk::Fit> && std::is_copy_assignable_v<scmk::Fit>);
static_assert(std::is_base_of_v<std::runtime_error, scmk::Error>);
static_assert(std::is_base_of_v<scmk::Error, scmk::Stopped>);

namespace {

// A temporary cannot be lent.
template <class T, class = void> struct can_lend : std::false_type {};
template <class T>
struct can_lend<T, std::void_t<decltype(std::declval<scmk::Model &>().borrow_kernel(
                       std::declval<T>()))>> : std::true_type {};
static_assert(can_lend<std::vector<double> &>::value);
static_assert(can_lend<const std::vector<double> &>::value);
static_assert(!can_lend<std::vector<double>>::value);

// Nothing converges to 0: many iterations, unless something stops them.
scmk::Model long_model(const Blobs &blobs) {
    scmk::Model model(blobs.n, blobs.clusters);
    model.add_kernel(blobs.kernel(20)).add_features(blobs.x, 2, "gaussian(t=1); linear");
    model.set("preset", "joint").set("tolerance", 0).set("max_iterations", 20);
    return model;
}

bool works(scmk::Model &model, const Blobs &blobs) { return model.fit().labels == blobs.truth; }

} // namespace

TEST_CASE("the example of the documentation") {
    const Blobs blobs(60);
    const std::size_t n = blobs.n, d = 2;
    const std::vector<double> &x = blobs.x;
    scmk::Model model(n);
    model.add_features(x.data(), n, d);
    auto fit = model.fit();
    CHECK(fit.labels == blobs.truth);
    CHECK(fit.weights == std::vector<double>{1});
    CHECK(fit.warning == "");
    CHECK(fit.similarity().n == n);
}

TEST_CASE("all ways in give the same fit") {
    const Blobs blobs(30);
    const std::size_t n = blobs.n;
    std::vector<double> by_column(2 * n), padded(5 * n, std::nan(""));
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t k = 0; k < 2; k++)
            by_column[i + k * n] = padded[5 * i + 2 * k] = blobs.x[2 * i + k];
    const std::string list = "gaussian(t=0.1); linear";
    const auto kernel = blobs.kernel(20), wide = blobs.kernel(20, n + 3);

    std::vector<scmk::Model> models;
    for (int i = 0; i < 4; i++)
        models.emplace_back(n, Blobs::clusters);
    models[0].add_kernel(kernel).add_features(blobs.x, 2, list);
    models[1].add_kernel(kernel.data(), n).add_features(blobs.x.data(), n, 2, list);
    models[2].add_kernel(wide.data(), n, n + 3).add_features(by_column.data(), n, 2, 1, n, list);
    models[3].borrow_kernel(wide.data(), n, n + 3).add_features(padded.data(), n, 2, 5, 2, list);

    const scmk::Fit expected = models[0].fit();
    CHECK(expected.weights.size() == 3);
    for (auto &model : models) {
        const scmk::Fit fit = model.fit();
        CHECK(fit.labels == expected.labels);
        CHECK(fit.weights == expected.weights);
        CHECK(fit.trace == expected.trace);
        CHECK(fit.similarity().values == expected.similarity().values);
    }
}

TEST_CASE("a borrowed kernel is not copied" * doctest::skip(sanitized)) {
    const Blobs blobs(400);
    const auto kernel = blobs.kernel(20);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.borrow_kernel(kernel); }) < 4);
    CHECK(kernels_kept(400, [&](scmk::Model &model) { model.add_kernel(kernel); }) > 12);
}

TEST_CASE("kernels are cleared") {
    const Blobs blobs(12);
    scmk::Model model(blobs.n, Blobs::clusters);
    {
        const auto kernel = blobs.kernel(20);
        model.set("alpha", 0.5).borrow_kernel(kernel);
        CHECK(works(model, blobs));
        model.clear_kernels();
    }
    CHECK(refused([&] { model.fit(); }).status() == SCMK_E_STATE);
    model.add_features(blobs.x, 2, "gaussian(t=1); linear");
    CHECK(works(model, blobs));
    CHECK(model.weights().size() == 2);
    CHECK(model.get_real("alpha") == 0.5);
}

TEST_CASE("more kernels than the first guess") {
    const Blobs blobs(12);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.set("preset", "joint");
    for (int k = 1; k <= 40; k++) {
        model.add_kernel(blobs.kernel(10.0 * k));
        if (k != 16 && k != 17 && k != 40)
            continue;
        model.run();
        const auto weights = model.weights();
        CHECK(weights.size() == static_cast<std::size_t>(k));
        double roots = 0;
        for (const double weight : weights)
            roots += std::sqrt(weight);
        CHECK(roots == doctest::Approx(1).epsilon(1e-9));
    }
}

TEST_CASE("every method") {
    const Blobs blobs(60);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_kernel(blobs.kernel(30)).add_kernel(blobs.kernel(60));
    const std::set<std::string> embeds = {"scmk", "sc", "aasc"};

    const auto methods = scmk::methods();
    REQUIRE(methods.size() >= 7);
    for (const auto &[name, doc] : methods) {
        SUBCASE(name.c_str()) {
            model.set("method", name);
            const scmk::Fit fit = model.fit();
            CHECK(scmk::metric("accuracy", blobs.truth, fit.labels) == 1);
            CHECK(fit.weights.size() == 2);
            CHECK(fit.infos.at("objective") == fit.trace.back());
            CHECK(std::is_sorted(fit.trace.rbegin(), fit.trace.rend()));
            CHECK(fit.infos.at("iterations") >= 1);
            CHECK(fit.outcome == scmk::Outcome::converged);

            REQUIRE(fit.embedding.has_value() == (embeds.count(name) == 1));
            if (fit.embedding) {
                CHECK(fit.embedding->rows == blobs.n);
                CHECK(fit.embedding->cols == Blobs::clusters);
                CHECK(fit.embedding->values == model.embedding().values);
            } else {
                CHECK(std::string(refused([&] { model.embedding(); }).what()) ==
                      "method " + name + " has no embedding");
            }
            CHECK(fit.has_similarity() == (name == "scmk"));
            CHECK(model.has_similarity() == fit.has_similarity());
            CHECK(model.has_embedding() == fit.embedding.has_value());
            CHECK(model.metric("accuracy", blobs.truth) == 1);
            CHECK(fit.infos.count("kkt_residual") == (name == "scmk" ? 1 : 0));
            if (name != "scmk") {
                const scmk::Error error = refused([&] { fit.similarity(); });
                CHECK(error.status() == SCMK_E_STATE);
                CHECK(error.what() == "method " + name + " has no similarity");
                CHECK(refused([&] { scmk::Fit(fit).similarity(); }).status() == SCMK_E_STATE);
            }
        }
    }
}

TEST_CASE("results agree with one another and outlive the model") {
    const Blobs blobs(30);
    auto model = std::make_unique<scmk::Model>(blobs.n, Blobs::clusters);
    model->add_kernel(blobs.kernel(20));
    const scmk::Fit fit = model->fit();
    CHECK(fit.labels == model->labels());
    CHECK(fit.weights == model->weights());
    CHECK(fit.trace == model->trace());
    CHECK(fit.infos.at("iterations") == static_cast<double>(model->info_int("iterations")));
    CHECK(fit.n_clusters == Blobs::clusters);
    CHECK(fit.warning == model->info_text("warning"));
    // All of them but texts, and what was not asked for.
    for (const auto &info : scmk::infos()) {
        INFO(info.name);
        const bool asked = info.name != "stability" && info.name.rfind("suggested_", 0) != 0;
        CHECK(fit.infos.count(info.name) == (asked && info.type != scmk::Type::text ? 1 : 0));
        if (asked)
            CHECK((info.name == "warning" || !model->info_text(info.name).empty()));
        else
            CHECK(refused([&] { model->info_text(info.name); }).status() == SCMK_E_STATE);
    }
    CHECK(fit.similarity().to_dense().values == model->similarity_dense().values);
    model->set("alpha", 2.0);
    CHECK(refused([&] { model->results(); }).status() == SCMK_E_STATE);
    model.reset();

    const scmk::SparseMatrix &z = fit.similarity();
    REQUIRE(z.colptr.size() == blobs.n + 1);
    CHECK(z.colptr.back() == z.rows.size());
    CHECK(z.values.size() == z.rows.size());
    CHECK(static_cast<double>(z.values.size()) == fit.infos.at("similarity_nnz"));
    for (std::size_t j = 0; j < blobs.n; j++)
        CHECK(std::accumulate(z.values.begin() + static_cast<std::ptrdiff_t>(z.colptr[j]),
                              z.values.begin() + static_cast<std::ptrdiff_t>(z.colptr[j + 1]),
                              0.0) == doctest::Approx(1));
    // Taken out of a fit that is going away.
    CHECK(scmk::Fit(fit).similarity().values == z.values);
    CHECK(refused([] { scmk::Fit().similarity(); }).status() == SCMK_E_STATE);
}

TEST_CASE("the graph is as good as kkt_residual says, for what it was given") {
    const Blobs blobs(30);
    const std::size_t n = blobs.n;
    const double alpha = 0.5;
    const std::vector<std::vector<double>> kernels = {blobs.kernel(20), blobs.kernel(5)};
    // One kernel without the pull of clusters, then two with it.
    for (std::size_t count = 1; count <= 2; count++) {
        const double beta = count == 1 ? 0 : 0.1;
        scmk::Model model(n, Blobs::clusters);
        model.set("normalize", "none").set("alpha", alpha).set("beta", beta);
        for (std::size_t i = 0; i < count; i++)
            model.borrow_kernel(kernels[i]);
        CHECK(refused([&] { model.certified_weights(); }).status() == SCMK_E_STATE);
        model.run();
        const auto weights = model.certified_weights();
        const scmk::Matrix p = model.certified_embedding(), z = model.similarity_dense();
        REQUIRE(weights.size() == count);
        REQUIRE(p.values.size() == n * Blobs::clusters);
        const double length =
            std::inner_product(p.values.begin(), p.values.end(), p.values.begin(), 0.0);
        CHECK(length == doctest::Approx(beta > 0 ? 3 : 0));

        std::vector<double> mixed(n * n), means(n);
        double largest = 0, mean = 0;
        for (std::size_t e = 0; e < n * n; e++) {
            for (std::size_t i = 0; i < count; i++)
                mixed[e] += weights[i] * kernels[i][e];
            largest = std::max(largest, std::fabs(mixed[e]));
            means[e % n] += mixed[e] / static_cast<double>(n);
            mean += mixed[e] / static_cast<double>(n * n);
        }
        const auto centred = [&](std::size_t i, std::size_t j) {
            return mixed[i + j * n] - means[i] - means[j] + mean;
        };
        double worst = 0;
        for (std::size_t i = 0; i < n; i++) {
            double product = 0, least = std::numeric_limits<double>::infinity();
            for (std::size_t j = 0; j < n; j++) {
                double apart = 0, g = 2 * alpha * z(j, i);
                for (std::size_t k = 0; k < Blobs::clusters; k++)
                    apart += (p(i, k) - p(j, k)) * (p(i, k) - p(j, k));
                for (std::size_t k = 0; k < n; k++)
                    g += 2 * centred(j, k) * (z(k, i) - (k == i ? 1 : 0));
                g += beta / 2 * apart;
                product += g * z(j, i);
                least = std::min(least, g);
            }
            worst = std::max(worst, (product - least) / (largest + alpha));
        }
        CHECK(worst <= 2 * model.info_real("kkt_residual") + 1e-9);
        model.set("method", "kkm").run();
        CHECK(refused([&] { model.certified_embedding(); }).status() == SCMK_E_STATE);
    }
}

TEST_CASE("options of all types") {
    scmk::Model model(10, 2);
    model.set("alpha", 0.25).set("beta", 2).set("restarts", 7L).set("learn_weights", false);
    CHECK(model.get_real("alpha") == 0.25);
    CHECK(model.get_real("beta") == 2);
    CHECK(model.get_int("restarts") == 7);
    CHECK(model.get_int("learn_weights") == 0);
    model.set("alpha", 0.5f).set("restarts", std::size_t{9}).set("seed", INT64_MAX);
    CHECK(model.get_real("alpha") == 0.5);
    CHECK(model.get_int("restarts") == 9);
    CHECK(model.get_int("seed") == INT64_MAX);
    model.set("method", "kkm").set(std::string("embedding"), std::string("normalized"));
    CHECK(model.get_text("method") == "kkm");
    CHECK(model.get_text("embedding") == "normalized");
    model.set("alpha", "1e-3");
    CHECK(model.get_text("alpha") == "0.001");

    CHECK(refused([&] { model.set("seed", UINT64_MAX); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.set("alpha", std::nan("")); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.set("aplha", 1); }).status() == SCMK_E_UNKNOWN_OPTION);
    CHECK(refused([&] { model.set("method", std::string("sc\0x", 4)); }).status() ==
          SCMK_E_INVALID_ARGUMENT);
    const char *none = nullptr;
    CHECK(refused([&] { model.set("method", none); }).status() == SCMK_E_NULL_ARGUMENT);
    CHECK(refused([&] { model.get_real("method"); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.get_int("alpha"); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.get_text("x"); }).status() == SCMK_E_UNKNOWN_OPTION);
    CHECK(model.get_text("method") == "kkm");
    CHECK(model.get_int("seed") == INT64_MAX);
}

TEST_CASE("what the library tells about itself") {
    CHECK(scmk::version() == scmk_version());
    CHECK(scmk::abi_version() == SCMK_ABI_VERSION);

    scmk::Model model(10, 2);
    const auto options = scmk::options();
    REQUIRE(options.size() == scmk_option_count());
    for (const auto &option : options) {
        INFO(option.name);
        CHECK(model.get_text(option.name) == option.default_value);
        CHECK(!option.doc.empty());
        CHECK(option.choices.empty() == (option.type != scmk::Type::text));
        for (const auto &choice : option.choices)
            CHECK(scmk::Model(10, 2).set(option.name, choice).get_text(option.name) == choice);
        if (option.type == scmk::Type::text)
            CHECK(std::isnan(option.min));
        else
            CHECK(option.min < option.max);
    }
    const auto infos = scmk::infos();
    REQUIRE(infos.size() == scmk_info_count());
    CHECK(std::any_of(infos.begin(), infos.end(), [](const auto &info) {
        return info.name == "objective" && info.type == scmk::Type::real && !info.doc.empty();
    }));
    CHECK(model.info_int("memory_required") > 0);
    CHECK(model.info_int("samples") == 10);
    CHECK(model.info_int("clusters") == 2);
    CHECK(std::string(scmk::outcome_name(scmk::Outcome::iteration_limit)) == "iteration limit");

    const std::vector<std::int32_t> truth = {0, 0, 1, 1}, same = {5, 5, 3, 3}, other = {0, 1, 0, 1};
    const auto metrics = scmk::metrics();
    REQUIRE(metrics.size() == scmk_metric_count());
    for (const auto &metric : metrics) {
        INFO(metric.name);
        CHECK(!metric.doc.empty());
        CHECK(scmk::metric(metric.name, truth, same) == doctest::Approx(1));
        CHECK(scmk::metric(metric.name, truth.data(), other.data(), 4) < 0.75);
    }
    CHECK(refused([&] { scmk::metric("nmi", truth, {0, 1, 1}); }).status() == SCMK_E_DIMENSION);
    CHECK(refused([&] { scmk::metric("nmi", {}, {}); }).status() != SCMK_OK);
}

TEST_CASE("methods are listed by the library") {
    const auto methods = scmk::methods();
    REQUIRE(methods.size() == scmk_method_count());
    CHECK(methods.front().name == "scmk");
    std::vector<std::string> names;
    for (const auto &method : methods) {
        INFO(method.name);
        CHECK(!method.doc.empty());
        names.push_back(method.name);
    }
    const auto options = scmk::options();
    const auto option = std::find_if(options.begin(), options.end(),
                                     [](const auto &other) { return other.name == "method"; });
    REQUIRE(option != options.end());
    CHECK(option->choices == names);
    CHECK(option->default_value == names.front());

    const char *name = "as it was", *doc = name;
    CHECK(scmk_method_name(methods.size(), &name, &doc) == SCMK_E_INVALID_ARGUMENT);
    CHECK(scmk_method_name(0, nullptr, &doc) == SCMK_E_NULL_ARGUMENT);
    CHECK(name == std::string("as it was"));
    CHECK(doc == name);
}

TEST_CASE("kernel functions are listed by the library") {
    const Blobs blobs(12);
    const auto functions = scmk::kernel_functions();
    REQUIRE(functions.size() == scmk_kernel_function_count());
    REQUIRE(!functions.empty());
    for (const auto &function : functions) {
        INFO(function.name);
        CHECK(!function.doc.empty());
        const std::string full = function.parameters.empty()
                                     ? function.name
                                     : function.name + "(" + function.parameters + ")";
        scmk::Model model(blobs.n, Blobs::clusters);
        model.add_features(blobs.x, 2, full + "; " + function.name);
        CHECK(model.kernel_names() == std::vector<std::string>{full, full});
    }
    const char *name = "as it was", *parameters = name, *doc = name;
    CHECK(scmk_kernel_function_name(functions.size(), &name, &parameters, &doc) ==
          SCMK_E_INVALID_ARGUMENT);
    CHECK(scmk_kernel_function_name(0, nullptr, &parameters, &doc) == SCMK_E_NULL_ARGUMENT);
    CHECK(name == std::string("as it was"));
    CHECK(parameters == name);
    CHECK(doc == name);
}

TEST_CASE("steps that prepare features are listed by the library") {
    const Blobs blobs(12);
    const auto steps = scmk::preparations();
    REQUIRE(steps.size() == scmk_preparation_count());
    REQUIRE(!steps.empty());
    for (const auto &step : steps) {
        INFO(step.name);
        CHECK(!step.doc.empty());
        scmk::Model model(blobs.n, Blobs::clusters);
        model.add_features(blobs.x, 2, step.name + "; linear");
        // What auto chooses is told instead.
        const std::string done = step.name == "auto" ? "standardize" : step.name;
        CHECK(model.kernel_names() == std::vector<std::string>{done + "; linear"});
        const auto error = refused([&] { model.add_features(blobs.x, 2, "linear; " + step.name); });
        CHECK(error.status() == SCMK_E_INVALID_ARGUMENT);
        CHECK(error.what() == "kernels = '" + step.name +
                                  "' is not allowed: features are prepared before the first kernel "
                                  "of the list");
        CHECK(model.kernel_names().size() == 1);
    }
    const char *name = "as it was", *doc = name;
    CHECK(scmk_preparation_name(steps.size(), &name, &doc) == SCMK_E_INVALID_ARGUMENT);
    CHECK(scmk_preparation_name(0, nullptr, &doc) == SCMK_E_NULL_ARGUMENT);
    CHECK(name == std::string("as it was"));
    CHECK(doc == name);
}

TEST_CASE("progress is told") {
    const Blobs blobs(60);
    scmk::Model model = long_model(blobs);
    std::int64_t iterations = 0;
    double objective = 0;
    bool here = true;
    const auto thread = std::this_thread::get_id();
    model.set_progress([&](const scmk::Progress &progress) {
        here = here && std::this_thread::get_id() == thread;
        CHECK((progress.fraction >= 0 && progress.fraction <= 1));
        if (progress.step == "iteration") {
            iterations = progress.iteration;
            objective = progress.objective;
        }
    });
    // The function follows the model to another place.
    scmk::Model moved = std::move(model);
    const scmk::Fit fit = moved.fit();
    CHECK(iterations >= 1);
    CHECK(static_cast<double>(iterations) == fit.infos.at("iterations"));
    CHECK(objective == fit.infos.at("objective"));
    CHECK(here);

    iterations = 0;
    SUBCASE("nullptr") { moved.set_progress(nullptr); }
    SUBCASE("empty, of void") { moved.set_progress(std::function<void(const scmk::Progress &)>()); }
    SUBCASE("empty, of bool") { moved.set_progress(std::function<bool(scmk::Progress)>()); }
    moved.fit();
    CHECK(iterations == 0);
}

TEST_CASE("progress stops a fit") {
    const Blobs blobs(60);
    scmk::Model model = long_model(blobs);
    model.set_progress([](const scmk::Progress &progress) { return progress.iteration < 1; });
    const scmk::Fit fit = model.fit();
    CHECK(fit.outcome == scmk::Outcome::cancelled);
    CHECK(fit.infos.at("iterations") == 1);
    CHECK(fit.labels == blobs.truth);

    model.set_progress([](const scmk::Progress &) { return true; });
    CHECK(model.fit().outcome != scmk::Outcome::cancelled);
}

TEST_CASE("an exception of the progress function leaves the fit") {
    struct Mine {
        int value;
    };
    const Blobs blobs(60);
    scmk::Model model = long_model(blobs);
    int calls = 0;
    model.set_progress([&](const scmk::Progress &progress) {
        calls++;
        if (progress.iteration == 1)
            throw Mine{42};
    });
    for (int time = 0; time < 2; time++) {
        int caught = 0;
        try {
            model.fit();
        } catch (const Mine &mine) {
            caught = mine.value;
        }
        CHECK(caught == 42);
        // The fit was stopped, and has left what it had.
        CHECK(model.results().outcome == scmk::Outcome::cancelled);
        CHECK(model.labels() == blobs.truth);
    }
    const int before = calls;
    CHECK(before >= 2);
    model.set_progress(nullptr);
    const scmk::Fit fit = model.fit();
    CHECK(fit.labels == blobs.truth);
    CHECK(fit.outcome != scmk::Outcome::cancelled);
    CHECK(calls == before);
}

TEST_CASE("the model is busy in its progress function") {
    const Blobs blobs(30);
    scmk::Model model = long_model(blobs);
    int refusals = 0;
    model.set_progress([&](const scmk::Progress &) {
        const auto busy = [&](auto call) {
            const scmk::Error error = refused(call);
            CHECK(contains(error.what(), "busy"));
            refusals += error.status() == SCMK_E_BUSY;
        };
        busy([&] { model.fit(); });
        busy([&] { model.labels(); });
        busy([&] { model.suggest_clusters(); });
        busy([&] { model.set("alpha", 3); });
        busy([&] { model.set_progress(nullptr); });
        model.cancel();
    });
    CHECK(model.fit().outcome == scmk::Outcome::cancelled);
    CHECK(refusals >= 5);
    CHECK(refusals % 5 == 0);
    CHECK(model.get_real("alpha") == 1);
    // A refusal that is not caught there leaves the fit like any exception.
    model.set_progress([&](const scmk::Progress &) { model.run(); });
    CHECK(refused([&] { model.fit(); }).status() == SCMK_E_BUSY);
    model.set_progress(nullptr);
    CHECK(works(model, blobs));
}

TEST_CASE("cancel from another thread") {
    const Blobs blobs(60);
    scmk::Model model = long_model(blobs);
    model.cancel(); // nothing runs: for the next fit, and only that
    CHECK(model.fit().outcome == scmk::Outcome::cancelled);
    CHECK(model.fit().outcome != scmk::Outcome::cancelled);

    std::atomic<bool> inside{false}, cancelled{false};
    model.set_progress([&](const scmk::Progress &) {
        inside = true;
        while (!cancelled)
            std::this_thread::yield();
    });
    std::thread other([&] {
        while (!inside)
            std::this_thread::yield();
        model.cancel();
        cancelled = true;
    });
    const scmk::Fit fit = model.fit();
    other.join();
    CHECK(fit.outcome == scmk::Outcome::cancelled);
    CHECK(fit.labels.size() == blobs.n);
}

TEST_CASE("errors carry the status and the model works on") {
    const Blobs blobs(12);
    const std::size_t n = blobs.n;
    const auto good = blobs.kernel(20);
    scmk::Model model(n, Blobs::clusters);
    const scmk::Error early = refused([&] { model.labels(); });
    CHECK(early.status() == SCMK_E_STATE);
    CHECK(std::string(early.status_name()) == "SCMK_E_STATE");
    CHECK(refused([&] { model.results(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.info_text("warning"); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.suggest_clusters(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.weights(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.trace(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.similarity(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.similarity_dense(); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.info_real("objective"); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.info_int("iterations"); }).status() == SCMK_E_STATE);
    CHECK(refused([&] { model.fit(); }).status() == SCMK_E_STATE);
    model.add_kernel(good);
    CHECK(works(model, blobs));
    CHECK(refused([&] { model.info_real("objektive"); }).status() == SCMK_E_UNKNOWN_OPTION);
    CHECK(refused([&] { model.info_int("objective"); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.info_real("warning"); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.info_text("warnings"); }).status() == SCMK_E_UNKNOWN_OPTION);
    CHECK(refused([&] { model.info_text(std::string("warning\0", 8)); }).status() ==
          SCMK_E_INVALID_ARGUMENT);

    const auto check = [&](scmk_status status, const std::string &part, auto call) {
        const scmk::Error error = refused(call);
        CHECK(error.status() == status);
        CHECK(contains(error.what(), part));
        CHECK(works(model, blobs));
    };
    auto bad = good;
    bad[7 + 4 * n] = std::nan("");
    check(SCMK_E_NOT_FINITE, "kernel 1 entry (7, 4) is NaN", [&] { model.add_kernel(bad); });
    check(SCMK_E_NOT_FINITE, "(7, 4)", [&] { model.borrow_kernel(bad); });
    bad.pop_back();
    check(SCMK_E_DIMENSION, "143 values given, 12 x 12", [&] { model.add_kernel(bad); });
    check(SCMK_E_DIMENSION, "143 values given, 12 x 12", [&] { model.borrow_kernel(bad); });
    check(SCMK_E_DIMENSION, "11", [&] { model.add_kernel(good.data(), n - 1); });
    check(SCMK_E_DIMENSION, "leading_dim", [&] { model.add_kernel(good.data(), n, n - 1); });
    const double *none = nullptr;
    check(SCMK_E_NULL_ARGUMENT, "values", [&] { model.add_kernel(none, n); });
    check(SCMK_E_DEGENERATE, "", [&] { model.add_kernel(std::vector<double>(n * n)); });
    check(SCMK_E_DIMENSION, "24 values given, 12 x 5", [&] { model.add_features(blobs.x, 5); });
    check(SCMK_E_DIMENSION, "24 values given, 12 x 3", [&] { model.add_features(blobs.x, 3); });
    check(SCMK_E_DIMENSION, "n_features", [&] { model.add_features(blobs.x, 0); });
    check(SCMK_E_UNKNOWN_OPTION, "gaussian", [&] { model.add_features(blobs.x, 2, "gausian"); });
    check(SCMK_E_INVALID_ARGUMENT, "NUL",
          [&] { model.add_features(blobs.x, 2, std::string("linear\0x", 8)); });
    check(SCMK_E_DIMENSION, "n_clusters", [] { scmk::Model(5, 6); });
    model.set("memory_limit", 1);
    CHECK(refused([&] { model.fit(); }).status() == SCMK_E_OUT_OF_MEMORY);
    model.set("memory_limit", 0);
    CHECK(works(model, blobs));
    CHECK(model.weights().size() == 1); // nothing of the above has come in
}

TEST_CASE("views and kernels have names") {
    const Blobs blobs(30);
    const std::size_t n = blobs.n;
    const auto kernel = blobs.kernel(20);
    using Names = std::vector<std::string>;

    scmk::Model plain(n, Blobs::clusters);
    CHECK(plain.kernel_names().empty());
    CHECK(plain.view_names().empty());
    plain.add_features(blobs.x, 2, "gaussian(t=1); linear");
    CHECK(plain.kernel_names() == Names{"gaussian(t=1)", "linear"});
    CHECK(plain.view_names() == Names{"view 0"});

    scmk::Model model(n, Blobs::clusters);
    model.add_features(blobs.x, 2, "gaussian(t=1); linear", "plane");
    model.add_features(blobs.x.data(), n, 2, "linear", "again");
    model.add_features(blobs.x.data(), n, 2, 2, 1, "linear");
    model.name_view("mine").add_kernel(kernel).name_view("lent").borrow_kernel(kernel);
    model.add_kernel(kernel);
    const Names kernels = {"plane: gaussian(t=1)", "plane: linear", "again: linear",
                           "view 2: linear",       "mine",          "lent",
                           "kernel 6"};
    const Names views = {"plane", "again", "view 2", "mine", "lent", "kernel 6"};
    CHECK(model.kernel_names() == kernels);
    CHECK(model.view_names() == views);
    CHECK(model.kernel_name(1) == "plane: linear");
    CHECK(model.view_name(1) == "again");
    CHECK(model.view_of(1) == 0);
    CHECK(model.view_of(6) == 5);
    CHECK(refused([&] { model.kernel_name(7); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.view_name(6); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.view_of(7); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.view_weights(); }).status() == SCMK_E_STATE);

    const scmk::Fit fit = model.fit();
    CHECK(fit.kernel_names == kernels);
    CHECK(fit.view_names == views);
    REQUIRE(fit.view_weights.size() == 6);
    CHECK(fit.view_weights == model.view_weights());
    const double total = std::accumulate(fit.weights.begin(), fit.weights.end(), 0.0);
    CHECK(fit.view_weights[0] == doctest::Approx((fit.weights[0] + fit.weights[1]) / total));
    CHECK(fit.view_weights[5] == doctest::Approx(fit.weights[6] / total));

    auto bad = blobs.x;
    bad[7] = std::nan("");
    const scmk::Error error = refused([&] { model.add_features(bad, 2, "linear", "worse"); });
    CHECK(std::string(error.what()) == "features of view 'worse' entry (3, 1) is NaN");
    CHECK(scmk::last_error() == error.what());
    CHECK(refused([&] { model.add_features(blobs.x, 2, "gausian", "worse"); }).status() ==
          SCMK_E_UNKNOWN_OPTION);
    // One that is refused leaves no name behind.
    CHECK(model.add_features(blobs.x, 2, "linear").view_name(6) == "view 6");
    // One that was given before waits, unless it is taken back.
    model.name_view("late");
    CHECK(refused([&] { model.add_features(bad, 2, "linear"); }).status() == SCMK_E_NOT_FINITE);
    CHECK(model.add_features(blobs.x, 2, "linear").view_name(7) == "late");
    model.name_view("never").name_view(nullptr);
    CHECK(model.add_kernel(kernel).view_name(8) == "kernel 9");
    CHECK(refused([&] { model.name_view(""); }).status() == SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.name_view(std::string(256, 'x')); }).status() ==
          SCMK_E_INVALID_ARGUMENT);
    CHECK(refused([&] { model.name_view(std::string("a\0b", 3)); }).status() ==
          SCMK_E_INVALID_ARGUMENT);
    const std::string longest(255, 'x');
    CHECK(model.add_features(blobs.x, 2, "linear", longest).view_name(9) == longest);
}

TEST_CASE("the number of clusters changes and the kernels stay") {
    const Blobs blobs(30);
    scmk::Model model(blobs.n, 2);
    model.set("alpha", 0.5).add_features(blobs.x, 2, "gaussian(t=1); linear");
    for (std::size_t clusters = 2; clusters <= 5; clusters++) {
        const scmk::Fit fit = model.set_clusters(clusters).fit();
        scmk::Model fresh(blobs.n, clusters);
        fresh.set("alpha", 0.5).add_features(blobs.x, 2, "gaussian(t=1); linear");
        CHECK(fit.labels == fresh.fit().labels);
        CHECK(model.n_clusters() == clusters);
        CHECK(fit.embedding->cols == clusters);
    }
    CHECK(refused([&] { model.set_clusters(31); }).status() == SCMK_E_DIMENSION);
    CHECK(model.n_clusters() == 5);
    CHECK(model.labels().size() == blobs.n);
    model.set_clusters(3);
    CHECK(refused([&] { model.labels(); }).status() == SCMK_E_STATE);
    CHECK(works(model, blobs));
}

TEST_CASE("adding kernels is told and can be stopped") {
    // So many features that it takes longer than the tenth of a second between two calls.
    const std::size_t n = 1500, d = 6000;
    std::vector<double> x(n * d);
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = std::sin(0.7 * static_cast<double>(i));
    scmk::Model model(n, Blobs::clusters);
    model.set("threads", 1);
    const auto add = [&] { model.add_features(x, d, "linear"); };
    int calls = 0;
    bool kernels = true;
    model.set_progress([&](const scmk::Progress &progress) {
        calls++;
        kernels = kernels && progress.step == "kernels";
    });
    add();
    CHECK(calls >= 1);
    CHECK(kernels);
    model.clear_kernels();

    const auto stopped = [&] {
        try {
            add();
        } catch (const scmk::Stopped &error) {
            return error.status() == SCMK_E_STOPPED && contains(error.what(), "stopped");
        }
        return false;
    };
    model.set_progress([](const scmk::Progress &) { return false; });
    CHECK(stopped());
    model.set_progress([&](const scmk::Progress &) { model.cancel(); });
    CHECK(stopped());
    // Its own exception leaves the call, and does not come back in a later one.
    model.set_progress([](const scmk::Progress &progress) {
        if (progress.step == "kernels")
            throw 42;
    });
    int caught = 0;
    try {
        add();
    } catch (int value) {
        caught = value;
    }
    CHECK(caught == 42);
    CHECK(model.info_int("views") == 0);
    CHECK(model.info_int("kernels") == 0);

    model.set_progress(nullptr).set("time_limit", 1e-9);
    CHECK(stopped());
    model.set("time_limit", 0);
    add();
    CHECK(model.info_int("kernels") == 1);
    CHECK(model.info_int("memory_kernels") > 0);
}

TEST_CASE("metrics of a model") {
    const Blobs blobs(30);
    scmk::Model model(blobs.n, Blobs::clusters);
    model.add_kernel(blobs.kernel(20));
    CHECK(refused([&] { model.metric("ari", blobs.truth); }).status() == SCMK_E_STATE);
    std::vector<std::int32_t> other(blobs.n);
    for (std::size_t i = 0; i < blobs.n; i++)
        other[i] = static_cast<std::int32_t>(i % 4);
    model.run();
    for (const auto &metric : scmk::metrics()) {
        CHECK(model.metric(metric.name, other) ==
              scmk::metric(metric.name, other, model.labels()));
        CHECK(model.metric(metric.name, other, blobs.truth) ==
              scmk::metric(metric.name, other, blobs.truth));
    }
    other.pop_back();
    CHECK(refused([&] { model.metric("ari", other); }).status() == SCMK_E_DIMENSION);
    CHECK(refused([&] { model.metric("ari", other, blobs.truth); }).status() == SCMK_E_DIMENSION);
    const scmk::Error error = refused([] { scmk::metric("acuracy", {0, 1}, {0, 1}); });
    CHECK(contains(error.what(), "accuracy"));
    CHECK(scmk::last_error() == error.what());
}

TEST_CASE("models move") {
    const Blobs blobs(12);
    scmk::Model first(blobs.n, Blobs::clusters);
    first.add_kernel(blobs.kernel(20));
    scmk::Model second = std::move(first);
    CHECK(works(second, blobs));
    CHECK(refused([&] { first.fit(); }).status() == SCMK_E_NULL_ARGUMENT);
    CHECK(refused([&] { first.cancel(); }).status() == SCMK_E_NULL_ARGUMENT);
    CHECK(refused([&] { first.labels(); }).status() == SCMK_E_NULL_ARGUMENT);
    CHECK(refused([&] { first.suggest_clusters(2, 5); }).status() == SCMK_E_NULL_ARGUMENT);
    scmk::Model third(5, 2);
    third = std::move(second);
    CHECK(third.n_samples() == blobs.n);
    CHECK(third.n_clusters() == Blobs::clusters);
    CHECK(works(third, blobs));
    int32_t labels[12];
    CHECK(scmk_labels(third.handle(), labels, 12) == SCMK_OK);
}

TEST_CASE("a model destroyed behind its back") {
    scmk::Model model(5, 2);
    REQUIRE(scmk_destroy(model.handle()) == SCMK_OK);
    const scmk::Error error = refused([&] { model.labels(); });
    CHECK(error.status() == SCMK_E_INVALID_HANDLE);
    // It has text of its own, which is not kept with the model.
    CHECK(error.what() != std::string(error.status_name()));
}

TEST_CASE("models of several threads do not disturb one another") {
    const Blobs blobs(30);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            scmk::Model model = long_model(blobs);
            try {
                model.set("aplha", 1);
            } catch (const scmk::Error &error) {
                right += contains(error.what(), "aplha");
            }
            right += model.fit().labels == blobs.truth;
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(right == 8);
}

TEST_CASE("a thousand models leave nothing behind" * doctest::skip(sanitized)) {
    const Blobs blobs(12);
    const auto cycle = [&](int i) {
        scmk::Model model(blobs.n, Blobs::clusters);
        model.add_kernel(blobs.kernel(20)).add_features(blobs.x, 2, "linear").set("threads", 1);
        model.set_progress([&](const scmk::Progress &) {
            if (i % 10 == 0)
                throw std::runtime_error("enough");
            return true;
        });
        try {
            model.fit();
        } catch (const std::runtime_error &) {
        }
    };
    for (int i = 0; i < 100; i++)
        cycle(i);
    const std::size_t before = resident();
    for (int i = 0; i < 1000; i++)
        cycle(i);
    CHECK(resident() < before + (4 << 20));
}
