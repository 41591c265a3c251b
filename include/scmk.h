/*
 * scmk: clustering with several kernels.
 *
 * Generated from src/ffi by tests/header.rs; do not edit.
 *
 * HOW TO USE IT
 *
 *   scmk_model *model;
 *   if (scmk_create(n_samples, n_clusters, &model) != SCMK_OK) ...
 *   scmk_add_features(model, x, n_samples, n_features, n_features, 1, "auto");
 *   if (scmk_fit(model) != SCMK_OK) fprintf(stderr, "%s\n", scmk_last_error());
 *   scmk_labels(model, labels, n_samples);
 *   scmk_destroy(model);
 *
 * Instead of features, or beside them, kernel matrices are added with scmk_add_kernel (copied)
 * or scmk_borrow_kernel (not copied). Link with -lscmk.
 *
 * ERRORS
 *
 * Every call answers SCMK_OK or a negative code. A call that fails leaves the model as it was and
 * writes to none of its outputs; scmk_last_error has one line that names the argument, the
 * value and what is allowed. Besides the errors listed with a call, every call on a model can
 * answer SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_HANDLE, SCMK_E_BUSY and SCMK_E_PANIC. How a fit
 * ended (converged, a limit, cancelled) is no error but the info "outcome".
 *
 * SCMK_E_PANIC is a bug of the library, contained: the host is safe, that model answers only
 * scmk_error_message and scmk_destroy, all other models are fine.
 *
 * THREADS
 *
 * Different models may be used by any number of threads at once. One model is used by one thread
 * at a time, not always the same one: a second call gets SCMK_E_BUSY at once and disturbs
 * nothing. During a call any thread may call scmk_cancel and scmk_error_message. The library's
 * own threads exist only during a call, so a process may fork when none is running. Results do
 * not depend on the number of threads, nor on the floating-point environment of the host, which is
 * the same before and after a call.
 *
 * STOPPING
 *
 * What can take long obeys scmk_cancel, the progress function and the option time_limit. A fit that
 * is stopped has succeeded, with its last complete iterate; any other call answers SCMK_E_STOPPED and
 * leaves the model as it was.
 *
 * MEMORY
 *
 * All memory is the caller's: inputs are read during the call only (but for scmk_borrow_kernel),
 * results are copied into arrays of the caller. Each array is followed by its length in elements.
 * Matrices are column-major. Text is UTF-8 and ends with a NUL. Samples, kernels, views and labels
 * are counted from 0; messages count from the option index_base.
 *
 * The option memory_limit bounds the kernels that the library holds (info memory_kernels; borrowed
 * ones are the caller's) together with what a call needs beside them (info memory_required for a
 * fit). What would exceed it is refused before any work.
 *
 * METHODS
 *
 * Of the option method; see scmk_method_name.
 *
 *   scmk   similarity, clusters and weights of the kernels together, sum(w) = 1, or by option
 *          weighting sum(sqrt(w)) = 1; with one kernel it is SCSK (Kang et al. 2017)
 *   kkm    kernel k-means: squared distances to the centres, on the mean of the kernels (Schoelkopf
 *          et al. 1998)
 *   sc     spectral clustering with the mean kernel as affinities, option laplacian (Ng et al.
 *          2002)
 *   rkkm   robust kernel k-means: distances to the centres, not squared ones, on the mean of the
 *          kernels (Du et al. 2015)
 *   mkkm   multiple kernel k-means: kernel k enters with w_k^2, sum(w) = 1 (Huang et al. 2012)
 *   aasc   affinity aggregation for spectral clustering: affinity k enters with w_k^2, sum(w) = 1
 *          (Huang et al. 2012)
 *   rmkkm  robust multiple kernel k-means: sum(w^gamma) = 1, option gamma (Du et al. 2015)
 *
 * KERNELS
 *
 * Of scmk_add_features, with their parameters and defaults; see scmk_kernel_function_name. "paper"
 * stands for a pool of twelve of them.
 *
 *   gaussian(t=1)        exp(-|x-y|^2 / (t d^2)), d the largest distance between two samples or,
 *                        with neighbors=k, the mean distance to the k-th neighbour
 *   linear               x'y
 *   cosine               x'y / (|x| |y|), 0 for samples without any feature
 *   polynomial(a=1,b=2)  (a + x'y)^b
 *
 * Before the first kernel a list may prepare the features, as in "tfidf; unit_rows; linear"; see
 * scmk_preparation_name.
 *
 *   auto         what suits the view: tfidf; unit_rows for counts of which four fifths are 0,
 *                unit_rows for other such features that are not negative, standardize for all else
 *   standardize  each feature to mean 0 and variance 1; one that never changes to 0
 *   tfidf        each feature, a count, times ln((1+n)/(1+m)) + 1, where m of n samples have it
 *   unit_rows    each sample divided by its length
 *
 * GUEST
 *
 * The library never prints, reads no environment variables, installs no signal handlers and starts
 * no processes.
 */


#ifndef SCMK_H
#define SCMK_H

#include <stddef.h>
#include <stdint.h>

/*
 Number of the binary interface this header describes: the 1 of libscmk.so.1. It is not the
 release number, and grows only when a program built against an older header would break.
 */
#define SCMK_ABI_VERSION 1

/*
 Type of an option or info: a real number (double).
 */
#define SCMK_TYPE_REAL 0

/*
 Type of an option or info: a whole number (int64_t).
 */
#define SCMK_TYPE_INT 1

/*
 Type of an option that is one of a few names, or of an info that is a text.
 */
#define SCMK_TYPE_TEXT 2

/*
 Outcome of a fit: the changes fell below the option tolerance.
 */
#define SCMK_OUTCOME_CONVERGED 0

/*
 Outcome of a fit: max_iterations were made.
 */
#define SCMK_OUTCOME_ITERATION_LIMIT 1

/*
 Outcome of a fit: time_limit was reached; the last complete iterate is the result.
 */
#define SCMK_OUTCOME_TIME_LIMIT 2

/*
 Outcome of a fit: the host asked to stop; the last complete iterate is the result.
 */
#define SCMK_OUTCOME_CANCELLED 3

/*
 A model: kernels, options and, after a fit, its result. The pointer is a ticket, not an
 address: nothing can be read through it, and a ticket is never issued twice.
 */
typedef struct scmk_model scmk_model;

/*
 What every call answers: SCMK_OK, or a negative SCMK_E_ code. The text belonging to an error
 is read with scmk_error_message.
 */
typedef int32_t scmk_status;

/*
 The host's progress function. It is called on the thread that made the call, after each outer
 iteration of a fit and about ten times a second in between, also while kernels are added; and it
 stops the call by returning anything but 0.

 user: as given to scmk_set_progress.
 step: "kernels" while kernels are built or checked; in a fit "similarity", "embedding",
 "weights", "labels", or "iteration" when an outer iteration is complete; a static string.
 iteration: complete outer iterations. Methods that restart (option restarts) count complete restarts
 instead, and tell the best objective so far.
 fraction: how much of the step is done, from 0 to 1.
 objective: after the last complete iteration; NaN before the first.

 Every call on the same model answers SCMK_E_BUSY here, but for scmk_cancel and
 scmk_error_message. The floating-point environment is the host's. The function must return: no
 longjmp may leave it, and an exception that does ends the process.
 */
typedef int32_t (*scmk_progress_fn)(void *user,
                                    const char *step,
                                    int64_t iteration,
                                    double fraction,
                                    double objective);

/*
 Success.
 */
#define SCMK_OK 0

/*
 A required pointer is NULL.
 */
#define SCMK_E_NULL_ARGUMENT -1

/*
 The model was never created or has been destroyed.
 */
#define SCMK_E_INVALID_HANDLE -2

/*
 A value outside of what its argument allows, text that is not UTF-8, a misaligned pointer.
 */
#define SCMK_E_INVALID_ARGUMENT -3

/*
 No option, info, metric or kernel of that name; the message suggests the nearest one.
 */
#define SCMK_E_UNKNOWN_OPTION -4

/*
 Sizes that do not fit together, or a buffer that is too short.
 */
#define SCMK_E_DIMENSION -5

/*
 A size whose memory cannot be addressed.
 */
#define SCMK_E_TOO_LARGE -6

/*
 NaN or an infinity in the input.
 */
#define SCMK_E_NOT_FINITE -7

/*
 A kernel that differs from its transpose by more than a relative 1e-8.
 */
#define SCMK_E_ASYMMETRIC -8

/*
 A kernel with a clearly negative eigenvalue.
 */
#define SCMK_E_NOT_PSD -9

/*
 A kernel that tells the samples apart in no way: zero or constant.
 */
#define SCMK_E_DEGENERATE -10

/*
 A call out of order: a fit without kernels, a result before a fit, or one the method does not have.
 */
#define SCMK_E_STATE -11

/*
 Another call, perhaps of another thread, is using the model.
 */
#define SCMK_E_BUSY -12

/*
 Memory that could not be had, or more than the option memory_limit allows.
 */
#define SCMK_E_OUT_OF_MEMORY -13

/*
 The worker threads could not be started.
 */
#define SCMK_E_THREADS -14

/*
 A numerical method did not reach its accuracy.
 */
#define SCMK_E_NO_CONVERGENCE -15

/*
 A bug in this library, contained. The model can only be destroyed; others are not affected.
 */
#define SCMK_E_PANIC -16

/*
 A call other than scmk_fit was stopped by scmk_cancel, the progress function or time_limit before
 it was complete. (A fit that is stopped is SCMK_OK with the info "outcome".)
 */
#define SCMK_E_STOPPED -17

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The ABI number of the library that is loaded, to be compared with SCMK_ABI_VERSION.
 Any thread.
 */
uint32_t scmk_abi_version(void);

/*
 The release of the library that is loaded, such as "1.2.3". The string is static: never free
 it. Any thread.
 */
const char *scmk_version(void);

/*
 The name of a status code, such as "SCMK_E_NOT_FINITE"; "SCMK_E_UNKNOWN" for a number that is
 no code, never NULL. The string is static: never free it. Any thread.
 */
const char *scmk_status_name(scmk_status status);

/*
 Creates a model of n_samples samples that are to be divided into n_clusters clusters.

 n_samples: at least 1, and stays as it is. n_clusters: from 1 to n_samples, or 0 to let each fit
 choose it; scmk_set_clusters changes it.
 out: receives the model, which is to be given back with scmk_destroy.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_DIMENSION, SCMK_E_TOO_LARGE, SCMK_E_OUT_OF_MEMORY. Any
 thread.
 */
scmk_status scmk_create(size_t n_samples, size_t n_clusters, scmk_model **out);

/*
 Destroys a model and everything it holds; borrowed kernels are free again. NULL is allowed
 and does nothing.

 Errors: SCMK_E_INVALID_HANDLE (destroyed already, or never created), SCMK_E_BUSY (a call is
 running: the model lives on). Any thread; the only call, with scmk_error_message, that a
 model answers after SCMK_E_PANIC.
 */
scmk_status scmk_destroy(scmk_model *model);

/*
 Changes the number of clusters; 0 lets each fit choose it. Kernels and options stay, so that several numbers can be tried
 without building the kernels again; a result of an earlier fit is discarded if it changes.

 Errors: SCMK_E_DIMENSION; nothing has changed then. One thread at a time.
 */
scmk_status scmk_set_clusters(scmk_model *model,
                              size_t n_clusters);

/*
 Names the view that the next scmk_add_features, scmk_add_kernel or scmk_borrow_kernel adds:
 messages and scmk_kernel_name then call it so. A view without a name is called "view 0", "view 1"
 and so on, or "kernel 0" if it was added as a kernel.

 name: NUL-terminated, from 1 to 255 bytes. It waits for the next view that is added, also if a
 call fails meanwhile; NULL takes it back.

 Errors: SCMK_E_INVALID_ARGUMENT, SCMK_E_OUT_OF_MEMORY. One thread at a time.
 */
scmk_status scmk_name_view(scmk_model *model, const char *name);

/*
 The name of a view. Each call that added features or a kernel added one view; the info "views"
 tells how many there are.

 view: counted from 0 in the order in which they were added.
 buf, cap, needed: as for scmk_get_text.

 Errors: SCMK_E_INVALID_ARGUMENT (no such view). One thread at a time.
 */
scmk_status scmk_view_name(const scmk_model *model,
                           size_t view,
                           char *buf,
                           size_t cap,
                           size_t *needed);

/*
 The name of a kernel: what it was built by, such as "gaussian(t=0.1)"; where there are several
 views or the view has a name, after that name, such as "pixels: gaussian(t=0.1)"; and of a kernel
 that was added as such the name of its view.

 kernel: counted from 0 in the order of scmk_weights; the info "kernels" tells how many there are.
 view: receives the number of the view it belongs to; may be NULL.
 buf, cap, needed: as for scmk_get_text.

 Errors: SCMK_E_INVALID_ARGUMENT (no such kernel). One thread at a time.
 */
scmk_status scmk_kernel_name(const scmk_model *model,
                             size_t kernel,
                             size_t *view,
                             char *buf,
                             size_t cap,
                             size_t *needed);

/*
 Adds a copy of a kernel matrix. A result of an earlier fit is discarded.

 values: n columns of n doubles each, column j starting at values[j * leading_dim]. All
 entries are read, and must be finite and symmetric up to a relative 1e-8. The memory is the
 caller's and may change as soon as the call has returned.
 n: the model's number of samples. leading_dim: at least n, in elements.

 Errors: SCMK_E_DIMENSION, SCMK_E_TOO_LARGE, SCMK_E_INVALID_ARGUMENT (misaligned),
 SCMK_E_NOT_FINITE, SCMK_E_ASYMMETRIC, SCMK_E_NOT_PSD, SCMK_E_DEGENERATE,
 SCMK_E_OUT_OF_MEMORY (also if the option memory_limit would be exceeded), SCMK_E_THREADS,
 SCMK_E_STOPPED; the message names the kernel, counted from the option index_base, and the
 entry. The model is then as it was. One thread at a time.
 */
scmk_status scmk_add_kernel(scmk_model *model, const double *values, size_t n, size_t leading_dim);

/*
 Adds a kernel matrix without copying it. A result of an earlier fit is discarded.

 The memory stays the caller's, and the caller promises that it is valid and unchanged until
 scmk_clear_kernels or scmk_destroy has returned SCMK_OK for this model. Entries above and
 below the diagonal that differ by less than a relative 1e-8 are averaged where they are used.

 values, n, leading_dim, errors, threads: as for scmk_add_kernel. After an error the memory is
 not borrowed.
 */
scmk_status scmk_borrow_kernel(scmk_model *model,
                               const double *values,
                               size_t n,
                               size_t leading_dim);

/*
 Builds kernels from features and adds them. A result of an earlier fit is discarded. Several
 calls add several views of the same samples.

 x: the features; feature j of sample i is x[i * sample_stride + j * feature_stride]. All must
 be finite. The memory is the caller's and may change as soon as the call has returned.
 n_samples: the model's number of samples. n_features: at least 1.
 sample_stride, feature_stride: in elements. A row for each sample (C): n_features, 1. A
 column for each feature (R, MATLAB): 1, n_samples.
 kernels: NULL, "" or "auto" prepares the features by what they are and builds one kernel of them;
 scmk_kernel_name tells what was done. "paper" is the paper's pool of twelve. Else a list such as
 "gaussian(t=0.1); linear; polynomial(a=1,b=2)"; before the kernels it may prepare the features, as
 in "standardize; gaussian(neighbors=7)" or "auto; linear" (see KERNELS).

 Features whose largest entry is outside of 1e-30 to 1e30 are divided by a power of two s, and the
 kernels multiplied by what that takes from them. A polynomial kernel is then (a + x'y/s^2)^b times
 a factor; the info "rescaled_kernels" tells for how many that was done.

 Errors: as for scmk_add_kernel, and SCMK_E_UNKNOWN_OPTION for an unknown kernel name; the message
 names the view. The model is then as it was. One thread at a time.
 */
scmk_status scmk_add_features(scmk_model *model,
                              const double *x,
                              size_t n_samples,
                              size_t n_features,
                              size_t sample_stride,
                              size_t feature_stride,
                              const char *kernels);

/*
 Removes all kernels; borrowed ones are free again. A result of an earlier fit is discarded,
 options stay.

 Errors: only those every call on a model can have. One thread at a time.
 */
scmk_status scmk_clear_kernels(scmk_model *model);

/*
 Copies the text of an error: one line that names the argument, its value and what is allowed.

 model: the text of the last call on this model that failed, empty if none did; a later call
 that succeeds leaves it. While a call is running on the model: that it is busy. NULL: the text
 of this thread's last failed call, whatever it was.
 buf: cap bytes, of which at most cap - 1 are filled with UTF-8 text and one with a NUL. May
 be NULL when cap is 0.
 needed: receives the length of the whole text with its NUL; may be NULL.

 Errors: SCMK_E_INVALID_HANDLE; SCMK_E_NULL_ARGUMENT for a NULL buf when cap is not 0. Any
 thread, also during a fit.
 */
scmk_status scmk_error_message(const scmk_model *model, char *buf, size_t cap, size_t *needed);

/*
 The text of this thread's last failed call, whatever it was; "" if none has failed. Never NULL.

 The string belongs to the library and is valid until a call of this thread fails again or the
 thread ends: never free it, and copy it to keep it. Ask after the call has returned, not in the
 same expression. scmk_error_message does that, and tells what
 failed in another thread. Any thread.
 */
const char *scmk_last_error(void);

/*
 Sets an option to a real number. Options that are whole numbers take a whole value. If the
 value changes, a result of an earlier fit is discarded.

 name: NUL-terminated; see scmk_option_info for all names.

 Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (the message tells the allowed range);
 the option is then as it was. One thread at a time.
 */
scmk_status scmk_set_real(scmk_model *model, const char *name, double value);

/*
 Sets an option to a whole number. Options that are real numbers take it too.

 Name, errors, threads: as for scmk_set_real.
 */
scmk_status scmk_set_int(scmk_model *model, const char *name, int64_t value);

/*
 Sets an option from text: one of its names, or a number as text. So an option of any type can
 be set from a command line or a settings file.

 value: NUL-terminated. Name, errors, threads: as for scmk_set_real.
 */
scmk_status scmk_set_text(scmk_model *model, const char *name, const char *value);

/*
 Reads an option that is a number; whole numbers are converted.

 name: NUL-terminated. out: receives one double.

 Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (the option is text). One thread at a
 time.
 */
scmk_status scmk_get_real(const scmk_model *model, const char *name, double *out);

/*
 Reads an option that is a whole number.

 name: NUL-terminated. out: receives one int64_t.

 Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (not a whole number). One thread at a
 time.
 */
scmk_status scmk_get_int(const scmk_model *model, const char *name, int64_t *out);

/*
 Reads an option of any type as text that scmk_set_text would take back.

 name: NUL-terminated.
 buf: cap bytes, of which at most cap - 1 are filled with text and one with a NUL. May be NULL
 when cap is 0. needed: receives the length of the whole text with its NUL; may be NULL. Text
 that does not fit is cut, and the call succeeds: compare needed with cap.

 Errors: SCMK_E_UNKNOWN_OPTION. One thread at a time.
 */
scmk_status scmk_get_text(const scmk_model *model,
                          const char *name,
                          char *buf,
                          size_t cap,
                          size_t *needed);

/*
 Number of options. Any thread.
 */
size_t scmk_option_count(void);

/*
 Describes an option. Any output but name may be NULL. Strings are static: never free them.

 index: from 0 to scmk_option_count() - 1.
 name: its name. type: one of the SCMK_TYPE_ constants.
 default_value: its default as text, whatever the type.
 min, max: its smallest and largest value; NaN for text.
 choices: the values of a text option, comma separated; "" for numbers.
 doc: one line of documentation.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_option_info(size_t index,
                             const char **name,
                             int32_t *type,
                             const char **default_value,
                             double *min,
                             double *max,
                             const char **choices,
                             const char **doc);

/*
 Sets the function that is told how far a call has come. A result of an earlier fit stays.

 fn: NULL for none. user: handed to it as it is; it must be usable on every thread that calls
 scmk_fit or adds kernels to this model, until another function is set or the model is destroyed.

 Errors: only those every call on a model can have. One thread at a time.
 */
scmk_status scmk_set_progress(scmk_model *model, scmk_progress_fn fn, void *user);

/*
 Fits the model by the method that the option method names. Method scmk, the default, learns
 similarity, embedding and weights, and reads the labels. Blocks until
 it is done; the work runs on threads of the library (option threads), which are joined before
 it returns.

 A fit that is stopped early, by an iteration or time limit, by scmk_cancel or by the progress
 function, is SCMK_OK with a readable result, its last complete iterate:
 scmk_info_int(model, "outcome", ...) tells. Stopped before there was one, all labels are 0 and the
 info iterations is 0; scmk has Z = I and the first unit vectors for an embedding, the other
 methods have neither an embedding nor an objective.

 Errors: SCMK_E_STATE (no kernel), SCMK_E_OUT_OF_MEMORY, SCMK_E_THREADS, SCMK_E_NOT_PSD (the
 mixed kernel plus alpha is indefinite), SCMK_E_INVALID_ARGUMENT (options that do not go together),
 SCMK_E_NO_CONVERGENCE; a result of an earlier fit then stays. One thread at a time.
 */
scmk_status scmk_fit(scmk_model *model);

/*
 Scores numbers of clusters without building kernels again. The infos suggested_clusters,
 suggested_next and suggested_confidence then tell the best number, or 1 if the samples do not fall
 into clusters, the one to look at next, and how sure that is. A model of 0 clusters does this in every
 fit. A result of an earlier fit stays; the number of clusters of the model does not change.

 from, to: the range, from 1 to n_samples; 0 and 0 leave it to the library, and the infos
 suggested_from and suggested_to tell it. Of large numbers only some are looked at, and scores between
 them are interpolated.
 scores: len elements; len is at least to - from + 1, and that many are written, larger ones are
 better. Where the range is the library's, as many as there are and fit. May be NULL when len is 0.

 Errors: as for scmk_fit, and SCMK_E_DIMENSION, SCMK_E_NULL_ARGUMENT, SCMK_E_STOPPED. Nothing is
 written then. One thread at a time.
 */
scmk_status scmk_suggest_clusters(scmk_model *model,
                                  size_t from,
                                  size_t to,
                                  double *scores,
                                  size_t len);

/*
 Asks the call that is running on this model to stop soon. scmk_fit then returns SCMK_OK with the
 outcome SCMK_OUTCOME_CANCELLED; scmk_add_kernel, scmk_borrow_kernel, scmk_add_features,
 scmk_suggest_clusters, scmk_similarity, scmk_similarity_csc and scmk_model_metric return SCMK_E_STOPPED and leave the
 model as it was. All others are too short to be stopped.

 If no call is running, or none that stops for it, the next scmk_fit on this model stops at once: a
 cancel that comes just before the fit it is meant for is not lost. The fit that it meets uses it
 up, also if it came too late to matter.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_HANDLE. Any thread, at any time; but not from a
 signal handler.
 */
scmk_status scmk_cancel(scmk_model *model);

/*
 Copies the labels: one for each sample, from 0, numbered by first occurrence.

 out: len elements; len is at least n_samples, and that many are written.

 Errors: SCMK_E_STATE (no fit yet, or a kernel or option has changed since, or the method has no
 such result), SCMK_E_NULL_ARGUMENT, SCMK_E_DIMENSION, SCMK_E_INVALID_ARGUMENT (misaligned). On an error
 nothing is written. One thread at a time.
 */
scmk_status scmk_labels(const scmk_model *model,
                        int32_t *out,
                        size_t len);

/*
 Copies the weights: one for each kernel in the order in which they were added. What they sum to is
 said with each method (see METHODS); those that do not learn weights have equal ones.

 out: len elements; len is at least the number of kernels, and that many are written.
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_weights(const scmk_model *model, double *out, size_t len);

/*
 Copies the share of each view: the sum of the weights of its kernels, divided by the sum of all
 weights. The shares sum to 1.

 out: len elements; len is at least the number of views (info "views"), and that many are written.
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_view_weights(const scmk_model *model, double *out, size_t len);

/*
 Copies the embedding from which the labels were read (options embedding, laplacian), if the method
 has one: see the info has_embedding.

 out: len elements; len is at least n_samples * n_clusters, and that many are written, column
 by column: sample i, dimension k is out[i + k * n_samples].
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_embedding(const scmk_model *model, double *out, size_t len);

/*
 Copies the weights that the last step for Z was given. The info kkt_residual certifies Z for these
 and for scmk_certified_embedding: with them anybody can check it. The weights and the embedding of
 the result were found after that step, and differ as much as a further iteration would still
 change them. Method scmk has them, unless it was stopped before its first step was complete.

 out: len elements; len is at least the number of kernels, and that many are written.
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_certified_weights(const scmk_model *model, double *out, size_t len);

/*
 Copies the embedding P that the last step for Z was given; see scmk_certified_weights. If nothing
 pulled at Z, because beta is 0, there is none, and zeros are written.

 out: len elements; len is at least n_samples * n_clusters, and that many are written, column
 by column as by scmk_embedding.
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_certified_embedding(const scmk_model *model, double *out, size_t len);

/*
 Copies the similarity graph Z of method scmk as a dense matrix; its columns sum to 1.

 out: len elements; len is at least n_samples * n_samples, and that many are written, column by
 column: Z(i, j) is out[i + j * n_samples].
 Errors, threads: as for scmk_labels, and SCMK_E_STOPPED, after which what out holds is not
 defined: the one error that may come when something has been written.
 */
scmk_status scmk_similarity(const scmk_model *model, double *out, size_t len);

/*
 Copies the similarity graph Z of method scmk as a sparse matrix in compressed columns: the nonzero entries of
 column j are values[k] in row rows[k], rows rising, for k from colptr[j] to colptr[j + 1] - 1.

 colptr: colptr_len elements, which is exactly n_samples + 1.
 rows, values: nnz elements each; nnz is at least the info "similarity_nnz", and that many are
 written. The three arrays must not overlap.
 Errors, threads: as for scmk_similarity.
 */
scmk_status scmk_similarity_csc(const scmk_model *model,
                                size_t *colptr,
                                size_t colptr_len,
                                size_t *rows,
                                double *values,
                                size_t nnz);

/*
 Copies the objective after each outer iteration; it never rises.

 out: cap elements, of which the first iterations are written, as many as there are and fit;
 may be NULL when cap is 0. len: receives the number of iterations, which may exceed cap.
 Errors, threads: as for scmk_labels.
 */
scmk_status scmk_trace(const scmk_model *model, double *out, size_t cap, size_t *len);

/*
 Reads an info about the last fit as a real number; whole numbers are converted.

 name: NUL-terminated; see scmk_info_name for all names. out: receives one double.

 Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (a text), SCMK_E_STATE (no fit yet, or a kernel or option has changed
 since; scmk_info_name says which infos are known before a fit). One thread at a time.
 */
scmk_status scmk_info_real(const scmk_model *model,
                           const char *name,
                           double *out);

/*
 Reads an info about the last fit that is a whole number.

 name: NUL-terminated; see scmk_info_name for all names. out: receives one int64_t.

 Errors: as for scmk_info_real, and SCMK_E_INVALID_ARGUMENT (not a whole number). One thread at
 a time.
 */
scmk_status scmk_info_int(const scmk_model *model, const char *name, int64_t *out);

/*
 Reads an info as a text; numbers are written in as many digits as they have.

 name: NUL-terminated; see scmk_info_name for all names. buf, cap, needed: as for scmk_get_text.

 Errors: as for scmk_info_real. One thread at a time.
 */
scmk_status scmk_info_text(const scmk_model *model,
                           const char *name,
                           char *buf,
                           size_t cap,
                           size_t *needed);

/*
 Number of infos. Any thread.
 */
size_t scmk_info_count(void);

/*
 Describes an info. Any output but name may be NULL. Strings are static: never free them.

 index: from 0 to scmk_info_count() - 1.
 name: its name. type: SCMK_TYPE_REAL, SCMK_TYPE_INT or SCMK_TYPE_TEXT. doc: one line of documentation.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_info_name(size_t index,
                           const char **name,
                           int32_t *type,
                           const char **doc);

/*
 An outcome in words, such as "iteration limit"; "unknown" for a number that is none, never
 NULL. The string is static: never free it. Any thread.
 */
const char *scmk_outcome_name(int64_t outcome);

/*
 Compares labels with a known division of the same samples. The numbers of the labels do not
 matter, only which samples share one.

 name: NUL-terminated; see scmk_metric_name for all names.
 truth, labels: n elements each, n at least 1. out: receives one double.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_UNKNOWN_OPTION, SCMK_E_DIMENSION, SCMK_E_TOO_LARGE,
 SCMK_E_INVALID_ARGUMENT (misaligned), SCMK_E_OUT_OF_MEMORY; the text is read with
 scmk_last_error. It cannot be stopped: for many millions of labels, see scmk_model_metric. Any
 thread.
 */
scmk_status scmk_metric(const char *name,
                        const int32_t *truth,
                        const int32_t *labels,
                        size_t n,
                        double *out);

/*
 Compares labels with a known division as scmk_metric does, but obeys the model: its option
 time_limit, its progress function and scmk_cancel.

 labels: NULL for those of the model's last fit; n is then its number of samples.
 name, truth, n, out: as for scmk_metric.

 Errors: as for scmk_metric, SCMK_E_STATE (no fit yet), SCMK_E_STOPPED. One thread at a time.
 */
scmk_status scmk_model_metric(scmk_model *model,
                              const char *name,
                              const int32_t *truth,
                              const int32_t *labels,
                              size_t n,
                              double *out);

/*
 Number of metrics. Any thread.
 */
size_t scmk_metric_count(void);

/*
 Describes a metric. doc may be NULL. Strings are static: never free them.

 index: from 0 to scmk_metric_count() - 1. name: its name. doc: one line of documentation.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_metric_name(size_t index, const char **name, const char **doc);

/*
 Number of methods. Any thread.
 */
size_t scmk_method_count(void);

/*
 Describes a method. doc may be NULL. Strings are static: never free them.

 index: from 0, the default, to scmk_method_count() - 1. name: as the option method takes it. doc:
 one line of documentation.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_method_name(size_t index, const char **name, const char **doc);

/*
 Number of kernel functions. Any thread.
 */
size_t scmk_kernel_function_count(void);

/*
 Describes a kernel function of scmk_add_features. Any output but name may be NULL. Strings are
 static: never free them.

 index: from 0 to scmk_kernel_function_count() - 1. name: its name in a list of kernels.
 parameters: with their defaults, such as "a=1,b=2"; empty if it has none. doc: its formula, in
 one line.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_kernel_function_name(size_t index,
                                      const char **name,
                                      const char **parameters,
                                      const char **doc);

/*
 Number of steps in which features can be prepared. Any thread.
 */
size_t scmk_preparation_count(void);

/*
 Describes a step in which scmk_add_features prepares features. doc may be NULL. Strings are
 static: never free them.

 index: from 0 to scmk_preparation_count() - 1. name: its name in a list of kernels, where it stands
 before the first kernel. doc: one line of documentation.

 Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
 */
scmk_status scmk_preparation_name(size_t index, const char **name, const char **doc);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCMK_H */
