# The whole work in one call.

"""
    scmk(K, k; options..., progress = nothing) -> SCMKResult

Divides samples into `k` clusters, given a kernel: a symmetric matrix with a row and a column for each
sample. `K` may be a vector of kernels, too; each then gets a weight.

    scmk(X, k; kernels, options..., progress = nothing) -> SCMKResult

The same, given features. **Samples are the columns of `X`**, as in Clustering.jl: a table with one
sample a row is given as `X'`. `X` may be a vector of feature matrices, too, which describe the same
samples in several ways (views). `kernels` tells which kernels to build: `"paper"` for the paper's pool
of twelve, or a list such as `"gaussian(t=0.1); linear; polynomial(a=1,b=2)"`. It is the same for all
views, or a vector with one for each view.

The keyword `kernels` alone decides how matrices are understood: as features with it, as kernels
without it.

Any option of the library is a keyword: [`SCMK.options`](@ref) lists them. `progress` is called during
the fit and may stop it, see [`fit!`](@ref). Kernels are not copied.

# Example
```julia
X = hcat(randn(2, 50), randn(2, 50) .+ 8)
result = scmk(X, 2; kernels = "gaussian(t=0.1); linear", alpha = 0.1)
assignments(result), counts(result), weights(result)
```
"""
function scmk(data, k::Integer; kernels = nothing, progress = nothing, options...)
    matrices = as_matrices(data)
    model = Model(size(first(matrices), 2), k; options...)
    try
        if kernels === nothing
            foreach(kernel -> offer_kernel!(model, kernel), matrices)
        else
            lists = as_lists(kernels, length(matrices))
            foreach((view, list) -> add_features!(model, view; kernels = list), matrices, lists)
        end
        fit!(model; progress = progress)
        return SCMKResult(model)
    finally
        close(model)
    end
end

as_matrices(data::AbstractMatrix) = (data,)

function as_matrices(data::Union{AbstractVector,Tuple})
    isempty(data) && throw(ArgumentError("no matrix given"))
    all(matrix -> matrix isa AbstractMatrix, data) || throw(ArgumentError(
        "a matrix or a vector of matrices expected, not a $(typeof(data))"))
    return data
end

as_matrices(data) = throw(ArgumentError(
    "a matrix or a vector of matrices expected, not a $(typeof(data))"))

as_lists(list::AbstractString, views::Int) = fill(list, views)

function as_lists(lists::Union{AbstractVector{<:AbstractString},Tuple{Vararg{AbstractString}}},
                  views::Int)
    length(lists) == views || throw(DimensionMismatch("$(length(lists)) kernel lists for $views " *
        "views: give one for all views or one for each, such as \"gaussian(t=0.1); linear\""))
    return lists
end

as_lists(other, ::Int) = throw(ArgumentError(
    "kernels must be a string, or a vector of strings, not a $(typeof(other))"))

# The model lives no longer than the call, so that it may use the caller's matrix where C can read it.
function offer_kernel!(model::Model, kernel::AbstractMatrix)
    size(kernel, 1) == size(kernel, 2) || throw(DimensionMismatch(
        "a kernel must be a square matrix, but this one is $(size(kernel, 1))×$(size(kernel, 2)); " *
        "to cluster features (samples as columns), say which kernels to build: kernels = \"paper\""))
    return borrow_kernel!(model, as_columns(kernel))
end
