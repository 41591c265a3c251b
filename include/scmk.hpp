/*
 * scmk for C++17: clustering with several kernels. Header-only, over scmk.h; link with -lscmk.
 *
 *   scmk::Model model(n);                       // n samples; model(n, 10) for 10 clusters
 *   model.add_features(x.data(), n, d);         // row-major n x d; once for each view
 *   auto fit = model.fit();                     // fit.labels, fit.weights, fit.warning, ...
 *
 * ERRORS are thrown as scmk::Error, whose what() is the library's message. A call that throws
 * leaves the model as it was. How a fit ended (converged, a limit, cancelled) is no error but
 * fit.outcome; any other call that is stopped throws scmk::Stopped.
 *
 * THREADS: different models may be used by any number of threads at once. One model is used by one
 * thread at a time: a second one gets SCMK_E_BUSY. Only cancel() may be called meanwhile.
 *
 * COUNTING starts at 0: samples, kernels, views, labels.
 *
 * EIGEN matrices are accepted wherever a matrix goes in, in both storage orders; the order in
 * which the headers are included does not matter.
 */
#ifndef SCMK_HPP
#define SCMK_HPP

#include <scmk.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace scmk {

/* What every failure is thrown as. what() is one line of the library, unchanged. */
class Error : public std::runtime_error {
public:
    Error(scmk_status status, const std::string &message)
        : std::runtime_error(message), status_(status) {}

    /* One of the SCMK_E_ codes of scmk.h. */
    scmk_status status() const noexcept { return status_; }
    /* Its name, such as "SCMK_E_NOT_FINITE". */
    const char *status_name() const noexcept { return scmk_status_name(status_); }

private:
    scmk_status status_;
};

/* A call other than a fit was stopped before it was complete, by cancel(), the progress function or the
   option time_limit: SCMK_E_STOPPED. */
class Stopped : public Error {
public:
    using Error::Error;
};

enum class Outcome : std::int64_t {
    converged = SCMK_OUTCOME_CONVERGED,
    iteration_limit = SCMK_OUTCOME_ITERATION_LIMIT,
    time_limit = SCMK_OUTCOME_TIME_LIMIT,
    cancelled = SCMK_OUTCOME_CANCELLED
};

/* An outcome in words, such as "iteration limit". */
inline const char *outcome_name(Outcome outcome) noexcept {
    return scmk_outcome_name(static_cast<std::int64_t>(outcome));
}

enum class Type : std::int32_t {
    real = SCMK_TYPE_REAL,
    integer = SCMK_TYPE_INT,
    text = SCMK_TYPE_TEXT
};

/* What the progress function is told. */
struct Progress {
    /* "kernels" while kernels are added; in a fit and in suggest_clusters() "similarity", "embedding",
       "weights", "labels", or "iteration" when one is complete. */
    std::string_view step;
    /* Complete iterations. Methods that restart (option restarts) count complete restarts instead. */
    std::int64_t iteration;
    /* How much of the step is done, from 0 to 1. */
    double fraction;
    /* After the last complete iteration; NaN before the first. */
    double objective;
};

/* A dense result, column by column. */
struct Matrix {
    std::size_t rows = 0, cols = 0;
    std::vector<double> values;

    double operator()(std::size_t i, std::size_t j) const { return values[i + j * rows]; }
};

/* A square sparse result in compressed columns: the entries of column j are values[k] in row
   rows[k], rows rising, for k from colptr[j] to colptr[j + 1] - 1. */
struct SparseMatrix {
    std::size_t n = 0;
    std::vector<std::size_t> colptr, rows;
    std::vector<double> values;

    Matrix to_dense() const {
        Matrix dense{n, n, std::vector<double>(n * n)};
        for (std::size_t j = 0; j < n; j++)
            for (std::size_t k = colptr[j]; k < colptr[j + 1]; k++)
                dense.values[rows[k] + j * n] = values[k];
        return dense;
    }
};

/* The results of a fit. A value: it stays when the model changes or goes. */
class Fit {
public:
    /* One for each sample, from 0, numbered by first occurrence. */
    std::vector<std::int32_t> labels;
    /* One for each kernel, in the order in which they were added. */
    std::vector<double> weights;
    /* What each kernel is, such as "gaussian(t=0.1)" or "pixels: gaussian(t=0.1)". */
    std::vector<std::string> kernel_names;
    /* The share of each view in all weights; they sum to 1. */
    std::vector<double> view_weights;
    /* As given, or "view 0", or "kernel 0" for one that was added as a kernel. */
    std::vector<std::string> view_names;
    /* The objective after each iteration. */
    std::vector<double> trace;
    /* n_samples x n_clusters; empty for methods that have none. */
    std::optional<Matrix> embedding;
    /* As the model was asked for, or as the fit has chosen. */
    std::size_t n_clusters = 0;
    /* What to know before the labels are trusted, such as "4 of 5 clusters are single samples"; empty
       if nothing. */
    std::string warning;
    /* All infos that are numbers and that this fit has, by name; scmk::infos() describes them. */
    std::map<std::string, double> infos;
    Outcome outcome = Outcome::converged;

    /* Whether the method has learned a similarity graph. */
    bool has_similarity() const noexcept { return similarity_.has_value(); }

    /* The similarity graph; its columns sum to 1. SCMK_E_STATE for methods that have none. */
    const SparseMatrix &similarity() const & {
        if (!similarity_)
            throw Error(SCMK_E_STATE, no_similarity_);
        return *similarity_;
    }
    SparseMatrix similarity() && {
        static_cast<const Fit &>(*this).similarity();
        return std::move(*similarity_);
    }

private:
    friend class Model;
    std::optional<SparseMatrix> similarity_;
    std::string no_similarity_ = "no fit yet";
};

/* How many clusters the samples have, as Model::suggest_clusters() found. */
struct Suggestion {
    /* The number to take; 1 if the samples do not fall into clusters. */
    std::size_t best = 1;
    /* The one to look at next; 0 if there is none. */
    std::size_t next = 0;
    /* How sure that is, from 0 to 1. */
    double confidence = 0;
    /* scores[k] is that of from + k clusters; larger is better. */
    std::size_t from = 0;
    std::vector<double> scores;

    /* The same in words, such as "4 clusters, or else 3 (confidence 93 %)". */
    std::string describe() const {
        std::string text = best == 1 ? "the samples do not fall into clusters"
                                     : std::to_string(best) + " clusters";
        if (next != 0)
            text += ", or else " + std::to_string(next);
        return text + " (confidence " + std::to_string(std::lround(100 * confidence)) + " %)";
    }
};

/* An option as the library describes it. */
struct Option {
    std::string name;
    Type type;
    std::string default_value;        /* as text, whatever the type */
    double min, max;                  /* NaN for text */
    std::vector<std::string> choices; /* empty for numbers */
    std::string doc;
};

struct Info {
    std::string name;
    Type type;
    std::string doc;
};

struct Metric {
    std::string name;
    std::string doc;
};

struct Method {
    std::string name; /* as the option method takes it */
    std::string doc;
};

struct KernelFunction {
    std::string name;       /* as a list of kernels has it */
    std::string parameters; /* with their defaults, such as "a=1,b=2"; "" if it has none */
    std::string doc;
};

struct Preparation {
    std::string name; /* as a list of kernels has it, before the first kernel */
    std::string doc;
};

namespace detail {

inline std::string message(scmk_status status, const scmk_model *model) {
    /* These two concern the caller, not the model: their text is kept with the thread. */
    if (status == SCMK_E_BUSY || status == SCMK_E_INVALID_HANDLE)
        model = nullptr;
    std::size_t needed = 0;
    if (scmk_error_message(model, nullptr, 0, &needed) != SCMK_OK || needed == 0)
        return scmk_status_name(status);
    std::vector<char> text(needed, '\0');
    if (scmk_error_message(model, text.data(), text.size(), nullptr) != SCMK_OK)
        return scmk_status_name(status);
    return text.data();
}

inline void check(scmk_status status, const scmk_model *model = nullptr) {
    if (status == SCMK_E_STOPPED)
        throw Stopped(status, message(status, model));
    if (status != SCMK_OK)
        throw Error(status, message(status, model));
}

/* C would take the text up to a NUL for the whole. */
inline const char *c_text(const std::string &text) {
    if (text.find('\0') != std::string::npos)
        throw Error(SCMK_E_INVALID_ARGUMENT, "text with a NUL in it is not allowed");
    return text.c_str();
}

inline std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view part = list.substr(0, comma);
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        parts.emplace_back(part);
        list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
    }
    return parts;
}

/* Matrices are told by what they can do, as Eigen's can, so that Eigen need not be known here. */

/* Anything that can be evaluated to a matrix. */
template <class M, class = void> struct is_matrix : std::false_type {};
template <class M>
struct is_matrix<M, std::void_t<typename M::PlainObject, decltype(std::declval<const M &>().rows()),
                                decltype(std::declval<const M &>().cols())>> : std::true_type {};

/* One whose entries lie in memory: Matrix, Map, Ref, Block, transposes of them. */
template <class M, class = void> struct is_stored : std::false_type {};
template <class M>
struct is_stored<M, std::void_t<decltype(std::declval<const M &>().data()),
                                decltype(std::declval<const M &>().rowStride()),
                                decltype(std::declval<const M &>().colStride())>>
    : std::true_type {};

/* A stored matrix as the C interface wants it. */
struct View {
    const double *data;
    std::size_t rows, cols, row_stride, col_stride;
};

template <class M> View view(const M &matrix) {
    static_assert(std::is_same_v<typename M::Scalar, double>,
                  "scmk takes matrices of double: use .cast<double>()");
    return {matrix.data(), static_cast<std::size_t>(matrix.rows()),
            static_cast<std::size_t>(matrix.cols()), static_cast<std::size_t>(matrix.rowStride()),
            static_cast<std::size_t>(matrix.colStride())};
}

inline void check_square(const View &kernel) {
    if (kernel.rows != kernel.cols)
        throw Error(SCMK_E_DIMENSION, "kernel: " + std::to_string(kernel.rows) + " x " +
                                          std::to_string(kernel.cols) +
                                          " given, a square matrix expected");
}

inline void check_size(const char *what, std::size_t given, std::size_t rows, std::size_t cols) {
    if (cols != 0 && (given % cols != 0 || given / cols != rows))
        throw Error(SCMK_E_DIMENSION, std::string(what) + ": " + std::to_string(given) +
                                          " values given, " + std::to_string(rows) + " x " +
                                          std::to_string(cols) + " expected");
}

inline void check_same_size(const std::vector<std::int32_t> &truth,
                            const std::vector<std::int32_t> &labels) {
    if (truth.size() != labels.size())
        throw Error(SCMK_E_DIMENSION, "labels: " + std::to_string(labels.size()) + " given, " +
                                          std::to_string(truth.size()) + " as in truth expected");
}

/* Lives at one place while its model moves: the library holds a pointer to it. */
struct Listener {
    std::function<bool(const Progress &)> function;
    std::exception_ptr thrown;
};

/* Stands between the library and the host's function: no exception may cross the library. */
inline std::int32_t listen(void *user, const char *step, std::int64_t iteration, double fraction,
                           double objective) noexcept {
    Listener &listener = *static_cast<Listener *>(user);
    if (listener.thrown)
        return 1;
    try {
        return listener.function(Progress{step, iteration, fraction, objective}) ? 0 : 1;
    } catch (...) {
        listener.thrown = std::current_exception();
        return 1;
    }
}

struct Destroy {
    void operator()(scmk_model *model) const noexcept { scmk_destroy(model); }
};

} // namespace detail

/*
 Kernels and options, to be fitted any number of times. Can be moved, not copied. A model that was
 moved from answers every call with SCMK_E_NULL_ARGUMENT. Do not destroy, move or assign to a model
 while its fit runs, not in its progress function either.
 */
class Model {
public:
    /* Each fit chooses the number of clusters. */
    explicit Model(std::size_t n_samples) : Model(n_samples, 0) {}

    /* n_clusters from 1 to n_samples, or 0 to let each fit choose it. */
    Model(std::size_t n_samples, std::size_t n_clusters)
        : n_samples_(n_samples), n_clusters_(n_clusters) {
        scmk_model *model = nullptr;
        detail::check(scmk_create(n_samples, n_clusters, &model));
        model_.reset(model);
    }

    std::size_t n_samples() const noexcept { return n_samples_; }
    /* As asked for: 0 if each fit chooses. Fit::n_clusters has what it chose. */
    std::size_t n_clusters() const noexcept { return n_clusters_; }
    /* For calls of the C interface; it stays this object's. */
    scmk_model *handle() const noexcept { return model_.get(); }

    /* Changes the number of clusters; 0 lets each fit choose it. Kernels and options stay, so that
       several numbers can be tried without building the kernels again. */
    Model &set_clusters(std::size_t n_clusters) {
        check(scmk_set_clusters(handle(), n_clusters));
        n_clusters_ = n_clusters;
        return *this;
    }

    /* KERNELS. Each of these discards the result of an earlier fit, and returns this model. They can
       be stopped as a fit can, and throw scmk::Stopped then. */

    /* Names the view that the next call adds, a kernel or features: messages and kernel names then
       call it so. From 1 to 255 bytes. It waits until one is added; nullptr takes it back. */
    Model &name_view(const std::string &name) {
        return check(scmk_name_view(handle(), detail::c_text(name)));
    }
    Model &name_view(std::nullptr_t) { return check(scmk_name_view(handle(), nullptr)); }

    /* Adds a copy of a symmetric n x n matrix whose column j starts at values[j * leading_dim]. */
    Model &add_kernel(const double *values, std::size_t n, std::size_t leading_dim) {
        return watched(scmk_add_kernel(handle(), values, n, leading_dim));
    }
    Model &add_kernel(const double *values, std::size_t n) { return add_kernel(values, n, n); }

    /* n_samples * n_samples values. */
    Model &add_kernel(const std::vector<double> &values) {
        detail::check_size("kernel", values.size(), n_samples_, n_samples_);
        return add_kernel(values.data(), n_samples_);
    }

    /* An Eigen matrix or expression. */
    template <class M>
    std::enable_if_t<detail::is_matrix<M>::value, Model &> add_kernel(const M &kernel) {
        if constexpr (detail::is_stored<M>::value) {
            const detail::View from = detail::view(kernel);
            detail::check_square(from);
            if (from.row_stride == 1)
                return add_kernel(from.data, from.rows, from.col_stride);
            /* Row-major or strided. Symmetric or not is for the library to see, and its message
               names an entry by row and column: so the columns are put together here. */
            std::vector<double> columns(from.rows * from.cols);
            for (std::size_t j = 0; j < from.cols; j++)
                for (std::size_t i = 0; i < from.rows; i++)
                    columns[i + j * from.rows] =
                        from.data[i * from.row_stride + j * from.col_stride];
            return add_kernel(columns.data(), from.rows);
        } else {
            return add_kernel(evaluated(kernel));
        }
    }

    /* Adds a kernel without copying it. The memory stays yours: it must be valid and unchanged
       until clear_kernels() has returned or the model is gone. */
    Model &borrow_kernel(const double *values, std::size_t n, std::size_t leading_dim) {
        return watched(scmk_borrow_kernel(handle(), values, n, leading_dim));
    }
    Model &borrow_kernel(const double *values, std::size_t n) {
        return borrow_kernel(values, n, n);
    }

    /* The vector must live, and keep its size, as long as its memory is borrowed. */
    Model &borrow_kernel(const std::vector<double> &values) {
        detail::check_size("kernel", values.size(), n_samples_, n_samples_);
        return borrow_kernel(values.data(), n_samples_);
    }
    Model &borrow_kernel(const std::vector<double> &&values) = delete;

    /* An Eigen Matrix, Map, Ref or Block with contiguous columns or rows. The memory it lies in is
       borrowed, not the object: beware of a Ref<const ...>, which may hold a copy of its own. Of a
       row-major kernel, messages name an entry by column and row. */
    template <class M>
    std::enable_if_t<detail::is_matrix<std::decay_t<M>>::value, Model &>
    borrow_kernel(M &&kernel) {
        using Kernel = std::decay_t<M>;
        static_assert(detail::is_stored<Kernel>::value,
                      "an expression has no memory to borrow: evaluate it into a matrix");
        static_assert(std::is_lvalue_reference_v<M> ||
                          !std::is_same_v<Kernel, typename Kernel::PlainObject>,
                      "the memory of a temporary matrix cannot be borrowed");
        const detail::View from = detail::view(kernel);
        detail::check_square(from);
        if (from.row_stride == 1)
            return borrow_kernel(from.data, from.rows, from.col_stride);
        /* Symmetric, so rows are columns. */
        if (from.col_stride == 1)
            return borrow_kernel(from.data, from.rows, from.row_stride);
        throw Error(SCMK_E_INVALID_ARGUMENT,
                    "a borrowed kernel must have contiguous columns or rows");
    }

    /* Builds kernels from features, one call a view. kernels: "auto" prepares the features by what they
       are and builds one kernel of them, and kernel_name() tells which; "paper" is the paper's pool of
       twelve; else a list such as "gaussian(t=0.1); linear". scmk::kernel_functions() has what it may
       name, and scmk::preparations() the steps that may stand before the kernels, as in
       "standardize; linear" or "auto; linear". view: a name as name_view() gives it, or "" for none. */

    /* Row-major: feature j of sample i is x[i * n_features + j]. */
    Model &add_features(const double *x, std::size_t n_samples, std::size_t n_features,
                        const std::string &kernels = "auto", const std::string &view = "") {
        return add_features(x, n_samples, n_features, n_features, 1, kernels, view);
    }

    /* Feature j of sample i is x[i * sample_stride + j * feature_stride]. */
    Model &add_features(const double *x, std::size_t n_samples, std::size_t n_features,
                        std::size_t sample_stride, std::size_t feature_stride,
                        const std::string &kernels = "auto", const std::string &view = "") {
        const char *list = detail::c_text(kernels);
        if (!view.empty())
            name_view(view);
        const scmk_status status = scmk_add_features(handle(), x, n_samples, n_features,
                                                     sample_stride, feature_stride, list);
        /* A view that is not added leaves no name behind. */
        if (status != SCMK_OK && !view.empty())
            scmk_name_view(handle(), nullptr);
        return watched(status);
    }

    /* Row-major, n_samples * n_features values. */
    Model &add_features(const std::vector<double> &x, std::size_t n_features,
                        const std::string &kernels = "auto", const std::string &view = "") {
        detail::check_size("features", x.size(), n_samples_, n_features);
        return add_features(x.data(), n_samples_, n_features, kernels, view);
    }

    /* An Eigen matrix or expression, one sample a row. */
    template <class M>
    std::enable_if_t<detail::is_matrix<M>::value, Model &>
    add_features(const M &x, const std::string &kernels = "auto", const std::string &view = "") {
        if constexpr (detail::is_stored<M>::value) {
            const detail::View from = detail::view(x);
            return add_features(from.data, from.rows, from.cols, from.row_stride, from.col_stride,
                                kernels, view);
        } else {
            return add_features(evaluated(x), kernels, view);
        }
    }

    /* Removes all kernels; borrowed memory is free again. Options stay. */
    Model &clear_kernels() { return check(scmk_clear_kernels(handle())); }

    /* The names of views and kernels, also before a fit. Each call that added features or a kernel
       added one view. */

    /* As given, or "view 0", or "kernel 0" for one that was added as a kernel. */
    std::string view_name(std::size_t view) const {
        return text([&](char *to, std::size_t size, std::size_t *needed) {
            return scmk_view_name(handle(), view, to, size, needed);
        });
    }
    std::vector<std::string> view_names() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < count("views"); i++)
            names.push_back(view_name(i));
        return names;
    }

    /* What the kernel was built by, such as "gaussian(t=0.1)"; where there are several views or the
       view has a name, after that name. */
    std::string kernel_name(std::size_t kernel) const {
        return text([&](char *to, std::size_t size, std::size_t *needed) {
            return scmk_kernel_name(handle(), kernel, nullptr, to, size, needed);
        });
    }
    std::vector<std::string> kernel_names() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < count("kernels"); i++)
            names.push_back(kernel_name(i));
        return names;
    }

    /* The number of the view that a kernel belongs to. */
    std::size_t view_of(std::size_t kernel) const {
        std::size_t view = 0;
        check(scmk_kernel_name(handle(), kernel, &view, nullptr, 0, nullptr));
        return view;
    }

    /* OPTIONS, by name; scmk::options() lists them, scmk::methods() what "method" may be. A change
       discards the result of an earlier fit. "preset" sets others, so it comes before them. */

    /* Any number or bool. */
    template <class T>
    std::enable_if_t<std::is_arithmetic_v<T>, Model &> set(const std::string &name, T value) {
        const char *text = detail::c_text(name);
        bool whole = std::is_integral_v<T>;
        /* What no int64_t holds is left to the library to refuse. */
        if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t))
            whole = value <= static_cast<T>(std::numeric_limits<std::int64_t>::max());
        if (whole)
            return check(scmk_set_int(handle(), text, static_cast<std::int64_t>(value)));
        return check(scmk_set_real(handle(), text, static_cast<double>(value)));
    }

    /* One of the option's names, or a number as text. */
    Model &set(const std::string &name, const char *value) {
        return check(scmk_set_text(handle(), detail::c_text(name), value));
    }
    Model &set(const std::string &name, const std::string &value) {
        return set(name, detail::c_text(value));
    }

    double get_real(const std::string &name) const {
        double value = 0;
        check(scmk_get_real(handle(), detail::c_text(name), &value));
        return value;
    }

    std::int64_t get_int(const std::string &name) const {
        std::int64_t value = 0;
        check(scmk_get_int(handle(), detail::c_text(name), &value));
        return value;
    }

    /* An option of any type. */
    std::string get_text(const std::string &name) const {
        const char *option = detail::c_text(name);
        return text([&](char *to, std::size_t size, std::size_t *needed) {
            return scmk_get_text(handle(), option, to, size, needed);
        });
    }

    /* PROGRESS. function takes a const scmk::Progress & and returns void, or bool: false stops the
       call; a fit then returns what it has, any other throws scmk::Stopped. It runs on the thread that
       made the call, about ten times a second. It may throw: the call is stopped, and the exception
       leaves it. nullptr or an empty std::function is none. */
    template <class F> Model &set_progress(F &&function) {
        if constexpr (std::is_null_pointer_v<std::decay_t<F>>) {
            return set_listener(nullptr);
        } else {
            using Answer = std::invoke_result_t<std::decay_t<F> &, const Progress &>;
            static_assert(std::is_void_v<Answer> || std::is_same_v<Answer, bool>,
                          "a progress function returns void, or bool: false stops the fit");
            std::function<Answer(const Progress &)> called(std::forward<F>(function));
            if (!called)
                return set_listener(nullptr);
            auto listener = std::make_unique<detail::Listener>();
            if constexpr (std::is_void_v<Answer>)
                listener->function = [called = std::move(called)](const Progress &progress) {
                    called(progress);
                    return true;
                };
            else
                listener->function = std::move(called);
            return set_listener(std::move(listener));
        }
    }

    /* FITTING */

    /* Scores the numbers of clusters from 1 or more to at most n_samples, without building kernels
       again; 0 and 0 leave the range to the library. It can be stopped as a fit can, and throws
       scmk::Stopped then. The number of clusters of the model and a result of an earlier fit stay. */
    Suggestion suggest_clusters(std::size_t from = 0, std::size_t to = 0) {
        Suggestion suggestion;
        /* What is no range is left to the library to refuse. */
        if (from == 0 && to == 0)
            suggestion.scores.resize(n_samples_);
        else if (from != 0 && from <= to && to <= n_samples_)
            suggestion.scores.resize(to - from + 1);
        watched(scmk_suggest_clusters(handle(), from, to, suggestion.scores.data(),
                                      suggestion.scores.size()));
        suggestion.from = count("suggested_from");
        suggestion.scores.resize(count("suggested_to") + 1 - suggestion.from);
        suggestion.best = count("suggested_clusters");
        suggestion.next = count("suggested_next");
        suggestion.confidence = info_real("suggested_confidence");
        return suggestion;
    }

    /* Fits, and collects all results. */
    Fit fit() {
        run();
        return results();
    }

    /* Fits, and leaves the results in the model, to be read one by one: for n so large that a copy
       of the similarity is not wanted. */
    void run() {
        watched(scmk_fit(handle()));
    }

    /* Asks the call that is running to stop soon: a fit with what it has, adding kernels,
       suggest_clusters(), similarity() and metric() with scmk::Stopped. Without one the next fit stops
       at once. From any thread, but not from a signal handler. */
    void cancel() { check(scmk_cancel(handle())); }

    /* RESULTS of the last fit. SCMK_E_STATE before a fit, after a change of kernels or options, and
       for what the method does not have. */

    /* All of them; what the method does not have is left out. */
    Fit results() const {
        Fit fit;
        fit.labels = labels();
        fit.weights = weights();
        fit.kernel_names = kernel_names();
        fit.view_weights = view_weights();
        fit.view_names = view_names();
        fit.trace = trace();
        if (has_embedding())
            fit.embedding = embedding();
        if (has_similarity())
            fit.similarity_ = similarity();
        else
            fit.no_similarity_ = "method " + get_text("method") + " has no similarity";
        fit.outcome = static_cast<Outcome>(info_int("outcome"));
        fit.n_clusters = count("clusters");
        fit.warning = info_text("warning");
        for (std::size_t i = 0; i < scmk_info_count(); i++) {
            const char *name = nullptr;
            std::int32_t type = 0;
            detail::check(scmk_info_name(i, &name, &type, nullptr));
            if (type == SCMK_TYPE_TEXT)
                continue;
            double value = 0;
            const scmk_status status = scmk_info_real(handle(), name, &value);
            /* There is a fit, so it has no such info. */
            if (status == SCMK_E_STATE)
                continue;
            check(status);
            fit.infos[name] = value;
        }
        return fit;
    }

    std::vector<std::int32_t> labels() const {
        std::vector<std::int32_t> labels(n_samples_);
        check(scmk_labels(handle(), labels.data(), labels.size()));
        return labels;
    }

    std::vector<double> weights() const {
        std::vector<double> weights(count("kernels"));
        check(scmk_weights(handle(), weights.data(), weights.size()));
        return weights;
    }

    /* The share of each view: the sum of its weights, divided by the sum of all. */
    std::vector<double> view_weights() const {
        std::vector<double> weights(count("views"));
        check(scmk_view_weights(handle(), weights.data(), weights.size()));
        return weights;
    }

    /* Whether the method of the last fit has these. */
    bool has_embedding() const { return info_int("has_embedding") != 0; }
    bool has_similarity() const { return info_int("has_similarity") != 0; }

    /* The objective after each iteration. */
    std::vector<double> trace() const {
        std::size_t length = 0;
        check(scmk_trace(handle(), nullptr, 0, &length));
        std::vector<double> trace(length);
        check(scmk_trace(handle(), trace.data(), trace.size(), &length));
        return trace;
    }

    /* n_samples x n_clusters. Of methods that have one: see has_embedding(). */
    Matrix embedding() const { return read_embedding(scmk_embedding); }

    /* The weights and the embedding that the last step for the similarity was given: the info
       "kkt_residual" holds for these. Those of the result were found after that step. The embedding
       is 0 if beta is. Of methods that have a similarity, unless stopped before the first step was
       complete. */
    std::vector<double> certified_weights() const {
        std::vector<double> weights(count("kernels"));
        check(scmk_certified_weights(handle(), weights.data(), weights.size()));
        return weights;
    }
    Matrix certified_embedding() const { return read_embedding(scmk_certified_embedding); }

    /* The similarity graph; its columns sum to 1. Of methods that have one: see has_similarity(). */
    SparseMatrix similarity() const {
        SparseMatrix sparse;
        sparse.n = n_samples_;
        sparse.colptr.resize(n_samples_ + 1);
        /* Without a similarity, the call below says so in better words than that for the info. */
        sparse.rows.resize(has_similarity() ? count("similarity_nnz") : 1);
        sparse.values.resize(sparse.rows.size());
        check(scmk_similarity_csc(handle(), sparse.colptr.data(), sparse.colptr.size(),
                                  sparse.rows.data(), sparse.values.data(), sparse.values.size()));
        return sparse;
    }

    /* The same, n_samples x n_samples. */
    Matrix similarity_dense() const {
        Matrix dense{n_samples_, n_samples_, std::vector<double>(n_samples_ * n_samples_)};
        check(scmk_similarity(handle(), dense.values.data(), dense.values.size()));
        return dense;
    }

    /* Compares the labels of the last fit with a known truth, as scmk::metric() does, but obeys
       cancel(), the progress function and the option time_limit, and throws scmk::Stopped then. */
    double metric(const std::string &name, const std::vector<std::int32_t> &truth) {
        double value = 0;
        watched(scmk_model_metric(handle(), detail::c_text(name), truth.data(), nullptr,
                                  truth.size(), &value));
        return value;
    }

    /* The same with any labels. */
    double metric(const std::string &name, const std::vector<std::int32_t> &truth,
                  const std::vector<std::int32_t> &labels) {
        detail::check_same_size(truth, labels);
        double value = 0;
        watched(scmk_model_metric(handle(), detail::c_text(name), truth.data(), labels.data(),
                                  truth.size(), &value));
        return value;
    }

    /* An info that is a number, by name; scmk::infos() lists them, and says which are known before a
       fit. SCMK_E_STATE for those that the last fit does not have. */
    double info_real(const std::string &name) const {
        double value = 0;
        check(scmk_info_real(handle(), detail::c_text(name), &value));
        return value;
    }

    /* An info that is a whole number. */
    std::int64_t info_int(const std::string &name) const {
        std::int64_t value = 0;
        check(scmk_info_int(handle(), detail::c_text(name), &value));
        return value;
    }

    /* An info of any type. */
    std::string info_text(const std::string &name) const {
        const char *info = detail::c_text(name);
        return text([&](char *to, std::size_t size, std::size_t *needed) {
            return scmk_info_text(handle(), info, to, size, needed);
        });
    }

private:
    void check(scmk_status status) const { detail::check(status, handle()); }

    Model &check(scmk_status status) {
        detail::check(status, handle());
        return *this;
    }

    template <class M> static typename M::PlainObject evaluated(const M &expression) {
        static_assert(detail::is_stored<typename M::PlainObject>::value,
                      "scmk takes dense matrices");
        return typename M::PlainObject(expression);
    }

    /* Closes a call in which the progress function may have thrown. */
    Model &watched(scmk_status status) {
        /* If busy, the exception is for the one who made the other call. */
        if (status != SCMK_E_BUSY && listener_ && listener_->thrown)
            std::rethrow_exception(std::exchange(listener_->thrown, nullptr));
        return check(status);
    }

    Matrix read_embedding(scmk_status (*read)(const scmk_model *, double *, std::size_t)) const {
        const std::size_t clusters = count("clusters");
        Matrix embedding{n_samples_, clusters, std::vector<double>(n_samples_ * clusters)};
        check(read(handle(), embedding.values.data(), embedding.values.size()));
        return embedding;
    }

    std::size_t count(const char *info) const { return static_cast<std::size_t>(info_int(info)); }

    /* Text that read(to, size, needed) writes, and tells the full size of. */
    template <class Read> std::string text(Read read) const {
        std::size_t needed = 0;
        check(read(nullptr, 0, &needed));
        std::vector<char> text(needed + 1, '\0');
        check(read(text.data(), text.size(), nullptr));
        return text.data();
    }

    Model &set_listener(std::unique_ptr<detail::Listener> listener) {
        check(scmk_set_progress(handle(), listener ? detail::listen : nullptr, listener.get()));
        /* Only now, when the library no longer holds the old one. */
        listener_ = std::move(listener);
        return *this;
    }

    std::size_t n_samples_, n_clusters_;
    std::unique_ptr<detail::Listener> listener_;
    std::unique_ptr<scmk_model, detail::Destroy> model_;
};

/* Compares labels with a known truth; the numbers of the labels do not matter, only which samples
   share one. scmk::metrics() lists the names. */
inline double metric(const std::string &name, const std::int32_t *truth,
                     const std::int32_t *labels, std::size_t n) {
    double value = 0;
    detail::check(scmk_metric(detail::c_text(name), truth, labels, n, &value));
    return value;
}

inline double metric(const std::string &name, const std::vector<std::int32_t> &truth,
                     const std::vector<std::int32_t> &labels) {
    detail::check_same_size(truth, labels);
    return metric(name, truth.data(), labels.data(), truth.size());
}

/* The text of this thread's last failed call, whatever it was; "" if none has failed. For those who
   call the C interface beside this one: here the exception has it. */
inline std::string last_error() { return scmk_last_error(); }

/* All options that Model::set takes. */
inline std::vector<Option> options() {
    std::vector<Option> all;
    for (std::size_t i = 0; i < scmk_option_count(); i++) {
        const char *name, *default_value, *choices, *doc;
        std::int32_t type;
        double min, max;
        detail::check(
            scmk_option_info(i, &name, &type, &default_value, &min, &max, &choices, &doc));
        all.push_back({name, static_cast<Type>(type), default_value, min, max,
                       detail::split(choices), doc});
    }
    return all;
}

/* All infos that a fit can have. */
inline std::vector<Info> infos() {
    std::vector<Info> all;
    for (std::size_t i = 0; i < scmk_info_count(); i++) {
        const char *name, *doc;
        std::int32_t type;
        detail::check(scmk_info_name(i, &name, &type, &doc));
        all.push_back({name, static_cast<Type>(type), doc});
    }
    return all;
}

/* All metrics that metric() takes. */
inline std::vector<Metric> metrics() {
    std::vector<Metric> all;
    for (std::size_t i = 0; i < scmk_metric_count(); i++) {
        const char *name, *doc;
        detail::check(scmk_metric_name(i, &name, &doc));
        all.push_back({name, doc});
    }
    return all;
}

/* All methods that the option method takes; the first is its default. */
inline std::vector<Method> methods() {
    std::vector<Method> all;
    for (std::size_t i = 0; i < scmk_method_count(); i++) {
        const char *name, *doc;
        detail::check(scmk_method_name(i, &name, &doc));
        all.push_back({name, doc});
    }
    return all;
}

/* All kernel functions that Model::add_features takes. */
inline std::vector<KernelFunction> kernel_functions() {
    std::vector<KernelFunction> all;
    for (std::size_t i = 0; i < scmk_kernel_function_count(); i++) {
        const char *name, *parameters, *doc;
        detail::check(scmk_kernel_function_name(i, &name, &parameters, &doc));
        all.push_back({name, parameters, doc});
    }
    return all;
}

/* All steps in which Model::add_features prepares features. */
inline std::vector<Preparation> preparations() {
    std::vector<Preparation> all;
    for (std::size_t i = 0; i < scmk_preparation_count(); i++) {
        const char *name, *doc;
        detail::check(scmk_preparation_name(i, &name, &doc));
        all.push_back({name, doc});
    }
    return all;
}

/* The release of the library that is loaded, such as "1.2.3". */
inline std::string version() { return scmk_version(); }

/* Its ABI number, to be compared with SCMK_ABI_VERSION. */
inline std::uint32_t abi_version() noexcept { return scmk_abi_version(); }

} // namespace scmk

#endif
