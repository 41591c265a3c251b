"""
Clustering with several kernels: a similarity graph, the clusters and a weight for each kernel are
learned together, as Kang, Peng and Cheng (AAAI 2017) do. Six older methods run on the same kernels.

    result = scmk(K, k)                                  # K: a kernel matrix, or a vector of them
    result = scmk(X, k; kernels = "gaussian(t=0.1)")     # X: features, SAMPLES AS COLUMNS
    assignments(result)

[`scmk`](@ref) does all in one call. [`Model`](@ref) is for more: several fits on the same kernels,
kernels beside features, kernels that are not copied, cancelling from another thread.
[`SCMK.options`](@ref), [`SCMK.infos`](@ref), [`SCMK.metrics`](@ref) and
[`SCMK.methods_available`](@ref) list what there is.
"""
module SCMK

export scmk, SCMKResult, SCMKError, assignments, counts, nclusters, weights, similarity, embedding,
    trace, info, outcome, metric,
    Model, set!, add_kernel!, borrow_kernel!, add_features!, clear_kernels!, fit!, cancel!

include("library.jl")
include("listings.jl")
include("model.jl")
include("results.jl")
include("scmk.jl")

end
