# What a fit leaves behind.

using SparseArrays

# A result that the method does not have is `nothing`; a missing fit is an error.
function present(model::Model, status::Int32)
    if status == STATE
        assignments(model)
        return false
    end
    check(status, model.handle)
    return true
end

"""
    assignments(result) -> Vector{Int}

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
    counts(result) -> Vector{Int}

The number of samples in each cluster.
"""
counts(model::Model) = cluster_sizes(assignments(model), model.n_clusters)

function cluster_sizes(assignments::Vector{Int}, n_clusters::Int)
    sizes = zeros(Int, n_clusters)
    foreach(cluster -> sizes[cluster] += 1, assignments)
    return sizes
end

"""
    nclusters(result) -> Int

The number of clusters that was asked for.
"""
nclusters(model::Model) = model.n_clusters

"""
    weights(result) -> Vector{Float64}

The weight of each kernel, in the order in which they were added.
"""
function weights(model::Model)
    values = Vector{Float64}(undef, info(model, :kernels, :int))
    GC.@preserve model check(ccall(entry(:scmk_weights), Int32,
        (Ptr{Cvoid}, Ptr{Float64}, Csize_t), model.handle, values, length(values)), model.handle)
    return values
end

"""
    embedding(result) -> Matrix{Float64} or nothing

The embedding from which the labels were read: a row for each sample, a column for each cluster, as
the paper has it. `nothing` for a method without one.
"""
function embedding(model::Model)
    values = Matrix{Float64}(undef, model.n_samples, model.n_clusters)
    status = GC.@preserve model ccall(entry(:scmk_embedding), Int32,
        (Ptr{Cvoid}, Ptr{Float64}, Csize_t), model.handle, values, length(values))
    return present(model, status) ? values : nothing
end

"""
    similarity(result) -> SparseMatrixCSC{Float64,Int} or nothing

The similarity graph Z; its columns sum to 1. `nothing` for a method without one.
"""
function similarity(model::Model)
    stored = info(model, :similarity_nnz)
    stored === nothing && return nothing
    columns = Vector{Int}(undef, model.n_samples + 1)
    rows = Vector{Int}(undef, stored)
    values = Vector{Float64}(undef, stored)
    status = GC.@preserve model ccall(entry(:scmk_similarity_csc), Int32,
        (Ptr{Cvoid}, Ptr{Int}, Csize_t, Ptr{Int}, Ptr{Float64}, Csize_t),
        model.handle, columns, length(columns), rows, values, stored)
    present(model, status) || return nothing
    return SparseMatrixCSC(model.n_samples, model.n_samples, columns .+ 1, rows .+ 1, values)
end

"""
    trace(result) -> Vector{Float64} or nothing

The objective after each iteration; it never rises.
"""
function trace(model::Model)
    len = Ref{Csize_t}(0)
    values = Float64[]
    while true
        status = GC.@preserve model ccall(entry(:scmk_trace), Int32,
            (Ptr{Cvoid}, Ptr{Float64}, Csize_t, Ref{Csize_t}),
            model.handle, values, length(values), len)
        present(model, status) || return nothing
        len[] == length(values) && return values
        resize!(values, len[])
    end
end

"""
    info(result) -> NamedTuple

Numbers about the fit, such as `info(result).objective`; [`SCMK.infos`](@ref) lists them. Those that
the method does not have are `nothing`.

    info(model, name)

One of them. `info(model, :memory_required)`, the bytes that a fit needs at most, is known before it.
"""
function info(model::Model)
    assignments(model)
    known = infos()
    return NamedTuple{Tuple(one.name for one in known)}(
        Tuple(info(model, one.name, one.type) for one in known))
end

function info(model::Model, name::Name)
    known = filter(one -> one.name === Symbol(name), infos())
    # An unknown name is left to the library, which has the words for it.
    return info(model, name, isempty(known) ? :real : only(known).type)
end

function info(model::Model, name::Name, type::Symbol)
    value = type === :int ? Ref{Int64}() : Ref{Float64}()
    status = GC.@preserve model if type === :int
        ccall(entry(:scmk_info_int), Int32, (Ptr{Cvoid}, Cstring, Ref{Int64}),
              model.handle, string(name), value)
    else
        ccall(entry(:scmk_info_real), Int32, (Ptr{Cvoid}, Cstring, Ref{Float64}),
              model.handle, string(name), value)
    end
    return present(model, status) ? value[] : nothing
end

outcome_name(number) =
    unsafe_string(ccall(entry(:scmk_outcome_name), Cstring, (Int64,), number))

"""
    outcome(result) -> String

How the fit ended: `"converged"`, `"iteration limit"`, `"time limit"` or `"cancelled"`.
"""
outcome(model::Model) = outcome_name(info(model, :outcome))

"""
    SCMKResult

All results of a fit, which [`scmk`](@ref) returns and `SCMKResult(model)` copies from a model. Each
has a function of its own: [`assignments`](@ref), [`counts`](@ref), [`nclusters`](@ref),
[`weights`](@ref), [`similarity`](@ref), [`embedding`](@ref), [`trace`](@ref), [`info`](@ref),
[`outcome`](@ref). The field `options` has the options of the fit.
"""
struct SCMKResult
    assignments::Vector{Int}
    counts::Vector{Int}
    weights::Vector{Float64}
    similarity::Union{Nothing,SparseMatrixCSC{Float64,Int}}
    embedding::Union{Nothing,Matrix{Float64}}
    trace::Union{Nothing,Vector{Float64}}
    info::NamedTuple
    options::NamedTuple
end

function SCMKResult(model::Model)
    labels = assignments(model)
    return SCMKResult(labels, cluster_sizes(labels, model.n_clusters), weights(model), similarity(model),
                      embedding(model), trace(model), info(model), options(model))
end

assignments(result::SCMKResult) = result.assignments
counts(result::SCMKResult) = result.counts
nclusters(result::SCMKResult) = length(result.counts)
weights(result::SCMKResult) = result.weights
similarity(result::SCMKResult) = result.similarity
embedding(result::SCMKResult) = result.embedding
trace(result::SCMKResult) = result.trace
info(result::SCMKResult) = result.info
outcome(result::SCMKResult) = outcome_name(result.info.outcome)

function Base.show(io::IO, ::MIME"text/plain", result::SCMKResult)
    info = result.info
    println(io, "SCMKResult: ", length(result.assignments), " samples in ", nclusters(result),
            " clusters by method ", result.options.method)
    println(io, "  counts     ", join(result.counts, ' '))
    println(io, "  weights    ", join(string.(round.(result.weights; sigdigits = 4)), ' '))
    print(io, "  objective  ", info.objective, " after ", info.iterations, " iterations: ",
          outcome(result))
end

Base.show(io::IO, result::SCMKResult) =
    print(io, "SCMKResult(", length(result.assignments), " samples, ", nclusters(result), " clusters)")

"""
    metric(name, truth, labels) -> Float64

Compares labels (or a result) with a known division of the same samples; [`SCMK.metrics`](@ref) lists
the metrics. The labels may be any values: only which samples share one matters.

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

metric(name::Name, truth::AbstractVector, result::Union{SCMKResult,Model}) =
    metric(name, truth, assignments(result))

# Labels as C takes them: 32-bit numbers, in place of whatever stands for the clusters.
function numbered(labels::AbstractVector)
    numbers = Dict{Any,Int32}()
    return Int32[get!(() -> length(numbers), numbers, label) for label in labels]
end
