# What a fit leaves behind.

using SparseArrays

"""
    SCMK.assignments(result) -> Vector{Int}

The cluster of each sample, from 1, numbered by first occurrence. Takes a result or a fitted
[`Model`](@ref), as all functions for results do.
"""
function assignments(model::Model)
    labels = Vector{Int32}(undef, model.n_samples)
    @on model ccall(entry(:scmk_labels), Int32, (Ptr{Cvoid}, Ptr{Int32}, Csize_t),
                    model.handle, labels, length(labels))
    return Int.(labels) .+ 1
end

"""
    SCMK.counts(result) -> Vector{Int}

The number of samples in each cluster.
"""
counts(model::Model) = cluster_sizes(assignments(model), nclusters(model))

function cluster_sizes(assignments::Vector{Int}, n_clusters::Int)
    sizes = zeros(Int, n_clusters)
    foreach(cluster -> sizes[cluster] += 1, assignments)
    return sizes
end

"""
    SCMK.nclusters(result) -> Int

The number of clusters that was asked for, or was chosen by the fit. Of a model that is to choose it, 0
before the fit.
"""
nclusters(model::Model) = info(model, :clusters, :int)

"""
    SCMK.chosen(result) -> Bool

Whether the fit chose the number of clusters; `info.suggested_confidence` tells how sure it is.
"""
chosen(model::Model) = model.n_clusters == 0

"""
    SCMK.weights(result) -> Vector{Float64}

The weight of each kernel, in the order of [`SCMK.kernel_names`](@ref). What they sum to is said with
each method, see [`SCMK.clustering_methods`](@ref); those that do not learn weights have equal ones.
"""
weights(model::Model) = numbers(model, :scmk_weights, :kernels)

"""
    SCMK.view_weights(result) -> Vector{Float64}

The share of each view, in the order of [`SCMK.view_names`](@ref): the sum of the weights of its kernels,
divided by the sum of all weights. The shares sum to 1.
"""
view_weights(model::Model) = numbers(model, :scmk_view_weights, :views)

function numbers(model::Model, call::Symbol, count::Symbol)
    values = Vector{Float64}(undef, info(model, count, :int))
    @on model ccall(entry(call), Int32, (Ptr{Cvoid}, Ptr{Float64}, Csize_t),
                    model.handle, values, length(values))
    return values
end

"""
    SCMK.kernel_names(result) -> Vector{String}

The name of each kernel: what it was built by, such as `"gaussian(t=0.1)"`; where there are several views
or the view has a name, after that name, such as `"pixels: gaussian(t=0.1)"`. Of a model also before a
fit.
"""
kernel_names(model::Model) = map(1:info(model, :kernels, :int)) do kernel
    text(model) do buffer, capacity, needed
        ccall(entry(:scmk_kernel_name), Int32,
              (Ptr{Cvoid}, Csize_t, Ptr{Csize_t}, Ptr{UInt8}, Csize_t, Ref{Csize_t}),
              model.handle, kernel - 1, C_NULL, buffer, capacity, needed)
    end
end

"""
    SCMK.view_names(result) -> Vector{String}

The name of each view: as it was given, or `"view 1"`, or `"kernel 1"` for one that was added as a kernel
matrix. Of a model also before a fit.
"""
view_names(model::Model) = map(1:info(model, :views, :int)) do view
    text(model) do buffer, capacity, needed
        ccall(entry(:scmk_view_name), Int32,
              (Ptr{Cvoid}, Csize_t, Ptr{UInt8}, Csize_t, Ref{Csize_t}),
              model.handle, view - 1, buffer, capacity, needed)
    end
end

"""
    SCMK.embedding(result) -> Matrix{Float64} or nothing

The embedding from which the labels were read: a row for each sample, a column for each cluster, as
the paper has it. `nothing` for a method without one.
"""
function embedding(model::Model)
    info(model, :has_embedding, :int) == 1 || return nothing
    return read_embedding(model, :scmk_embedding)
end

function read_embedding(model::Model, call::Symbol)
    values = Matrix{Float64}(undef, model.n_samples, nclusters(model))
    @on model ccall(entry(call), Int32, (Ptr{Cvoid}, Ptr{Float64}, Csize_t),
                    model.handle, values, length(values))
    return values
end

"""
    SCMK.certified(result) -> (weights, embedding) or nothing

The weights and the embedding that the last step for the similarity Z was given, for which
`kkt_residual` of [`SCMK.info`](@ref) holds. Those of the result were found after that step. The embedding
is 0 if `beta` is. `nothing` for a method without a similarity, and for a fit that was stopped before its
first step was complete.
"""
function certified(model::Model)
    # Refused without a fit; what is refused below the fit does not have.
    info(model, :has_similarity, :int) == 1 || return nothing
    try
        return (weights = numbers(model, :scmk_certified_weights, :kernels),
                embedding = read_embedding(model, :scmk_certified_embedding))
    catch error
        error isa SCMKError && error.code == STATE && return nothing
        rethrow()
    end
end

"""
    SCMK.similarity(result) -> SparseMatrixCSC{Float64,Int} or nothing

The similarity graph Z; its columns sum to 1. `nothing` for a method without one.
"""
function similarity(model::Model)
    info(model, :has_similarity, :int) == 1 || return nothing
    stored = info(model, :similarity_nnz, :int)
    columns = Vector{Int}(undef, model.n_samples + 1)
    rows = Vector{Int}(undef, stored)
    values = Vector{Float64}(undef, stored)
    @on model ccall(entry(:scmk_similarity_csc), Int32,
        (Ptr{Cvoid}, Ptr{Int}, Csize_t, Ptr{Int}, Ptr{Float64}, Csize_t),
        model.handle, columns, length(columns), rows, values, stored)
    return SparseMatrixCSC(model.n_samples, model.n_samples, columns .+ 1, rows .+ 1, values)
end

"""
    SCMK.trace(result) -> Vector{Float64}

The objective after each iteration; it never rises.
"""
function trace(model::Model)
    len = Ref{Csize_t}(0)
    values = Float64[]
    while true
        @on model ccall(entry(:scmk_trace), Int32, (Ptr{Cvoid}, Ptr{Float64}, Csize_t, Ref{Csize_t}),
                        model.handle, values, length(values), len)
        len[] == length(values) && return values
        resize!(values, len[])
    end
end

"""
    SCMK.info(result) -> NamedTuple

Numbers about the fit, such as `result.info.silhouette`, and its `warning`, a text that is empty if there
is none; [`SCMK.infos`](@ref) lists them. Those that the fit does not have are `nothing`.

    SCMK.info(model, name)

One of them. Some are known before a fit: `SCMK.info(model, :memory_required)`, the bytes that a fit
needs at most beyond the kernels, and `SCMK.info(model, :memory_kernels)`, those of the kernels that were
not borrowed.
"""
function info(model::Model)
    # Every fit has this one: without a fit it is refused, and what is not there below is not for
    # want of a fit.
    info(model, :has_similarity, :int)
    known = infos()
    return NamedTuple{Tuple(one.name for one in known)}(Tuple(map(known) do one
        value, status = read_info(model, one.name, one.type)
        status == STATE && return nothing
        check(status, model.handle)
        return value
    end))
end

function info(model::Model, name::Name)
    known = filter(one -> one.name === Symbol(name), infos())
    # An unknown name is left to the library, which has the words for it.
    return info(model, name, isempty(known) ? :real : only(known).type)
end

function info(model::Model, name::Name, type::Symbol)
    value, status = read_info(model, name, type)
    check(status, model.handle)
    return value
end

function read_info(model::Model, name::Name, type::Symbol)
    type === :text && return read_text(model) do buffer, capacity, needed
        ccall(entry(:scmk_info_text), Int32, (Ptr{Cvoid}, Cstring, Ptr{UInt8}, Csize_t, Ref{Csize_t}),
              model.handle, string(name), buffer, capacity, needed)
    end
    value = type === :int ? Ref{Int64}(0) : Ref{Float64}(0)
    status = GC.@preserve model if type === :int
        ccall(entry(:scmk_info_int), Int32, (Ptr{Cvoid}, Cstring, Ref{Int64}),
              model.handle, string(name), value)
    else
        ccall(entry(:scmk_info_real), Int32, (Ptr{Cvoid}, Cstring, Ref{Float64}),
              model.handle, string(name), value)
    end
    return value[], status
end

outcome_name(number) =
    unsafe_string(ccall(entry(:scmk_outcome_name), Cstring, (Int64,), number))

"""
    SCMK.outcome(result) -> String

How the fit ended: `"converged"`, `"iteration limit"`, `"time limit"` or `"cancelled"`.
"""
outcome(model::Model) = outcome_name(info(model, :outcome, :int))

"""
    SCMKResult

All results of a fit, which [`scmk`](@ref) returns and `SCMKResult(model)` copies from a model:

| field | what it is |
| --- | --- |
| `assignments` | the cluster of each sample, from 1, numbered by first occurrence |
| `counts` | the number of samples in each cluster |
| `chosen` | whether the fit chose the number of clusters |
| `weights`, `kernel_names` | the weight of each kernel, and what it is called |
| `view_weights`, `view_names` | the share of each view, from 0 to 1, and what it is called |
| `similarity` | the similarity graph, sparse; its columns sum to 1 |
| `embedding` | what the labels were read from: a row for each sample |
| `certified` | the weights and the embedding for which `info.kkt_residual` holds |
| `trace` | the objective after each iteration |
| `outcome` | `"converged"`, `"iteration limit"`, `"time limit"` or `"cancelled"` |
| `info` | numbers about the fit, such as `result.info.silhouette`, and `result.info.warning` |
| `options` | the options of the fit |

What the fit does not have is `nothing`. Each has a function of that name, too, such as
[`SCMK.assignments`](@ref), which also takes a fitted model.
"""
struct SCMKResult
    assignments::Vector{Int}
    counts::Vector{Int}
    chosen::Bool
    weights::Vector{Float64}
    kernel_names::Vector{String}
    view_weights::Vector{Float64}
    view_names::Vector{String}
    similarity::Union{Nothing,SparseMatrixCSC{Float64,Int}}
    embedding::Union{Nothing,Matrix{Float64}}
    certified::Union{Nothing,NamedTuple}
    trace::Vector{Float64}
    outcome::String
    info::NamedTuple
    options::NamedTuple
end

SCMKResult(model::Model) = SCMKResult(
    assignments(model), counts(model), chosen(model), weights(model), kernel_names(model),
    view_weights(model), view_names(model), similarity(model), embedding(model), certified(model),
    trace(model), outcome(model), info(model), options(model))

assignments(result::SCMKResult) = result.assignments
counts(result::SCMKResult) = result.counts
nclusters(result::SCMKResult) = length(result.counts)
chosen(result::SCMKResult) = result.chosen
weights(result::SCMKResult) = result.weights
kernel_names(result::SCMKResult) = result.kernel_names
view_weights(result::SCMKResult) = result.view_weights
view_names(result::SCMKResult) = result.view_names
similarity(result::SCMKResult) = result.similarity
embedding(result::SCMKResult) = result.embedding
certified(result::SCMKResult) = result.certified
trace(result::SCMKResult) = result.trace
outcome(result::SCMKResult) = result.outcome
info(result::SCMKResult) = result.info

# As many lines as a glance takes in; a result has them all.
const SHOWN = 12

function Base.show(io::IO, ::MIME"text/plain", result::SCMKResult)
    info = result.info
    println(io, "SCMKResult: ", counted(length(result.assignments), "sample"), " in ",
            counted(nclusters(result), "cluster"), " by method ", result.options.method)
    println(io, "  counts   ", join(result.counts, ' '))
    if result.chosen
        println(io, "  chosen   ", info.suggested_clusters === nothing ? "stopped before it was known" :
            chances(info.suggested_confidence, info.suggested_next))
    end
    info.silhouette === nothing ||
        println(io, "  quality  silhouette ", round(info.silhouette; digits = 3))
    isempty(info.warning) || println(io, "  warning  ", info.warning)
    order = sortperm(result.weights; rev = true)
    for (i, kernel) in enumerate(order[1:min(end, SHOWN)])
        println(io, i == 1 ? "  weights  " : "           ", result.kernel_names[kernel], " => ",
                round(result.weights[kernel]; sigdigits = 4))
    end
    length(order) > SHOWN && println(io, "           and ", length(order) - SHOWN, " smaller ones")
    # With one kernel a view, the shares would tell the weights again.
    if 1 < length(result.view_weights) < length(result.weights)
        shares = string.(result.view_names, " => ", round.(100result.view_weights; digits = 1), " %")
        println(io, "  views    ", join(shares, ", "))
    end
    print(io, "  fit      ", ending(info))
end

# How sure a number of clusters is, and what else it may be: 0 in an info, nothing in a suggestion if
# there is none.
chances(confidence, next) = string("confidence ", round(confidence; digits = 2),
    next in (0, nothing) ? "" : "; next to look at: $next")

Base.show(io::IO, result::SCMKResult) =
    print(io, "SCMKResult(", counted(length(result.assignments), "sample"), ", ",
          counted(nclusters(result), "cluster"), ')')

"""
    metric(name, truth, labels) -> Float64

Compares labels, or a result or a fitted model, with a known division of the same samples;
[`SCMK.metrics`](@ref) lists the metrics. The labels may be any values: only which samples share one
matters. With a model, its `time_limit`, [`cancel!`](@ref) and Ctrl-C stop it.

# Example
```julia
metric("accuracy", truth, result)
```
"""
function metric(name::Name, truth::AbstractVector, labels::AbstractVector)
    length(truth) == length(labels) || throw(DimensionMismatch(
        "the labellings must have the same length, but have $(length(truth)) and $(length(labels))"))
    value = Ref{Float64}()
    check(ccall(entry(:scmk_metric), Int32, (Cstring, Ptr{Int32}, Ptr{Int32}, Csize_t, Ref{Float64}),
                string(name), numbered(truth), numbered(labels), length(truth), value))
    return value[]
end

metric(name::Name, truth::AbstractVector, result::SCMKResult) =
    metric(name, truth, result.assignments)

function metric(name::Name, truth::AbstractVector, model::Model)
    value, known = Ref{Float64}(), numbered(truth)
    finish(model, watched(model, nothing) do
        ccall(entry(:scmk_model_metric), Int32,
              (Ptr{Cvoid}, Cstring, Ptr{Int32}, Ptr{Int32}, Csize_t, Ref{Float64}),
              model.handle, string(name), known, C_NULL, length(known), value)
    end)
    return value[]
end

# Labels as C takes them: 32-bit numbers, in place of whatever stands for the clusters.
function numbered(labels::AbstractVector)
    numbers = Dict{Any,Int32}()
    return Int32[get!(() -> length(numbers), numbers, label) for label in labels]
end
