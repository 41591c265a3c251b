# The whole work in one call.

"""
    scmk(X, k = 0; kernels = "auto", options..., progress = nothing) -> SCMKResult

Divides samples into `k` clusters, given features; without `k`, or if it is 0, into as many as suit them
best ([`suggest_clusters`](@ref) tells more about that). **Samples are the columns of `X`**, as in
Clustering.jl: a table with one sample a row is given as `X'`.

Several matrices describe the same samples in several ways (views): a vector of matrices, or with names
a named tuple, a dictionary or pairs, such as `(pixels = X1, shape = X2)` or `["pixels" => X1]`. Messages
and the names of the weights then say which view they mean.

`kernels` tells which kernels to build: `"auto"` prepares a view by what it holds and builds one kernel,
which the names of the kernels tell; `"paper"` is the paper's pool of twelve; else it is a list such as
`"gaussian(t=0.1); linear"` of what [`SCMK.kernel_functions`](@ref) names, before which it may prepare the
features by steps of [`SCMK.preparations`](@ref): `"standardize; linear"`, `"auto; linear"`. It is the same
for all views, or one for each view: a vector, or a named tuple or dictionary with the names of the views.

    scmk(K, k = 0; kernels = "precomputed", options..., progress = nothing) -> SCMKResult

The same, given a kernel matrix: symmetric, with a row and a column for each sample. Several kernels are
given as several views are; each gets a weight. They are not copied. Beside features, each view has its
own: `scmk([K, X], k; kernels = ["precomputed", "linear"])`.

Any option of the library is a keyword: [`SCMK.options`](@ref) lists them with their defaults and what
they do, [`SCMK.clustering_methods`](@ref) what `method` may be. `preset`, which changes others, comes first
wherever it stands. `progress = true` prints how far it has come; a function is told, and may stop it, see
[`SCMK.fit!`](@ref). An answer that should not be trusted as it is comes with a warning.

# Example
```julia
X = hcat(randn(2, 50), randn(2, 50) .+ 8)
result = scmk(X, 2)
result.assignments, result.counts, result.kernel_names .=> result.weights
```
"""
function scmk(data, k::Integer = 0; kernels = "auto", progress = nothing, options...)
    return with_model(data, k, kernels, progress, options) do model
        SCMKResult(fit!(model; progress = progress))
    end
end

# Does `work` with a model of the data, which lives no longer than that.
function with_model(work, data, k::Integer, kernels, progress, options)
    views = as_views(data)
    lists = as_lists(kernels, first.(views))
    model = Model(size(last(first(views)), 2), k; options...)
    try
        for ((name, matrix), list) in zip(views, lists)
            if string(list) == "precomputed"
                offer_kernel!(model, name, matrix, progress)
            else
                add_features!(model, matrix; kernels = list, name = name, progress = progress)
                # Only now, when it is known to hold numbers.
                like_kernel(matrix) && @warn("the features$(name === nothing ? "" : " of view '$name'") " *
                    "are a square symmetric matrix, as kernel matrices are; if it is one, say " *
                    "kernels = \"precomputed\"")
            end
        end
        return work(model)
    finally
        close(model)
    end
end

# The views and their names; `nothing` for a view without one. A Dict has no order of its own: sorted,
# so that the same call always gives the same result.
as_views(data::AbstractMatrix) = [(nothing, data)]
as_views(data::NamedTuple) = as_views(collect(pairs(data)))
as_views(data::AbstractDict) = as_views(collect(pairs(data)))
as_views(data::Dict) = as_views(sort!(collect(pairs(data)); by = string ∘ first))

function as_views(data::Union{AbstractVector,Tuple})
    isempty(data) && throw(ArgumentError("no matrix given"))
    return map(as_view, collect(data))
end

as_views(::AbstractVector{<:Real}) = throw(ArgumentError(
    "a matrix or several expected, not a vector of numbers; one feature x of many samples is given as x'"))

as_views(data) = unexpected(data)

as_view(matrix::AbstractMatrix) = (nothing, matrix)
as_view(named::Pair{<:Name,<:AbstractMatrix}) = (string(named.first), named.second)
as_view(other) = unexpected(other)

unexpected(data) = throw(ArgumentError("a matrix expected, or several in a vector, a named tuple, a " *
    "dictionary or pairs name => matrix, not a $(typeof(data))"))

# The list of kernels of each view.
as_lists(::Nothing, names) = fill("auto", length(names))
as_lists(list::Name, names) = fill(list, length(names))

function as_lists(lists::Union{AbstractVector{<:Name},Tuple{Vararg{Name}}}, names)
    length(lists) == length(names) || throw(DimensionMismatch("$(length(lists)) kernel lists for " *
        "$(length(names)) views: give one for all views or one for each, such as " *
        "\"gaussian(t=0.1); linear\""))
    return lists
end

function as_lists(lists::Union{NamedTuple,AbstractDict}, names)
    given = Dict(string(name) => list for (name, list) in pairs(lists))
    for name in keys(given)
        name in names || throw(ArgumentError("kernels names the view \"$name\", which is not there"))
    end
    return map(names) do name
        list = get(given, name, nothing)
        list isa Name || throw(ArgumentError("kernels has no list for the view " *
            "$(repr(name)), such as \"gaussian(t=0.1); linear\""))
        return list
    end
end

as_lists(::Union{AbstractMatrix,AbstractVector{<:AbstractMatrix}}, names) = throw(ArgumentError(
    "kernels tells what to build from features; kernel matrices are given first: " *
    "scmk(K, k; kernels = \"precomputed\")"))

as_lists(other, names) = throw(ArgumentError(
    "kernels must be a string, or one for each view, not a $(typeof(other))"))

# Whether a matrix of features may have been meant as a kernel.
function like_kernel(matrix::AbstractMatrix)
    n = size(matrix, 1)
    n == size(matrix, 2) > 1 || return false
    close(a, b) = abs(a - b) <= 1e-8 * max(abs(a), abs(b))
    return all(close(matrix[i, j], matrix[j, i]) for j in 2:n for i in 1:j - 1)
end

# The model lives no longer than the call, so that it may use the caller's matrix where C can read it.
function offer_kernel!(model::Model, name, kernel::AbstractMatrix, progress)
    size(kernel, 1) == size(kernel, 2) || throw(DimensionMismatch(
        "a kernel must be a square matrix, but this one is $(size(kernel, 1))×$(size(kernel, 2)); " *
        "features (samples as columns) are given without kernels = \"precomputed\""))
    return borrow_kernel!(model, as_columns(kernel); name = name, progress = progress)
end
