"""
Clustering of samples that are described in one way or in several (views): a similarity graph, the
clusters, their number if it is not given, and a weight for each kernel. The joint model of Kang, Peng and
Cheng (AAAI 2017) and older methods run on the same kernels.

    result = scmk(X, k)                                  # X: features, SAMPLES AS COLUMNS
    result = scmk(X)                                     # the number of clusters is chosen
    result = scmk((pixels = X1, shape = X2), k)          # several views of the same samples
    result = scmk(X, k; kernels = "gaussian(t=0.1); linear")
    result = scmk([K1, K2], k; kernels = "precomputed")   # kernel matrices of your own
    result.assignments

[`scmk`](@ref) does all in one call, and [`SCMKResult`](@ref) is what it returns.
[`suggest_clusters`](@ref) tells how many clusters there may be. [`Model`](@ref) is for more: several fits
on the same kernels, kernels beside features, kernels that are not copied, cancelling from another
thread. [`SCMK.options`](@ref), [`SCMK.clustering_methods`](@ref),
[`SCMK.kernel_functions`](@ref), [`SCMK.preparations`](@ref), [`SCMK.infos`](@ref) and
[`SCMK.metrics`](@ref) list what there is.
"""
module SCMK

# Nothing that Clustering.jl or StatsBase.jl exports (assignments, counts, nclusters, weights, fit!):
# next to them the name would mean neither. Results are fields; their functions go by SCMK.name.
export scmk, suggest_clusters, SCMKResult, SCMKSuggestion, SCMKError, metric,
    Model, set!, set_clusters!, add_kernel!, borrow_kernel!, add_features!, clear_kernels!, cancel!

include("library.jl")
include("listings.jl")
include("model.jl")
include("results.jl")
include("suggest.jl")
include("scmk.jl")

end
