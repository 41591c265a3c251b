# How many clusters there may be.

"""
    SCMKSuggestion

What [`suggest_clusters`](@ref) found: `best`, the number of clusters to take, 1 if the samples do not
fall into clusters; `next`, the number to look at next, or `nothing`; `confidence` in `best`, from 0 to 1;
and `scores`, one for each number of `range`, larger ones better.
"""
struct SCMKSuggestion
    best::Int
    next::Union{Nothing,Int}
    confidence::Float64
    range::UnitRange{Int}
    scores::Vector{Float64}
end

"""
    suggest_clusters(X, range; kernels = "auto", options..., progress = nothing) -> SCMKSuggestion
    suggest_clusters(model, range; progress = nothing) -> SCMKSuggestion

Tells into how many clusters the samples fall, of the numbers in `range`. Without a range it tries those
that a fit without a number of clusters chooses from, which the result tells.

Data and keywords are those of [`scmk`](@ref). A [`Model`](@ref) keeps its number of clusters and its
result; the kernels are not built again. What stops a fit stops this call, too: an `SCMKError` with the
status `:SCMK_E_STOPPED`, or the exception of a Ctrl-C.

# Example
```julia
X = hcat(randn(2, 50), randn(2, 50) .+ 8, randn(2, 50) .- 8)
suggestion = suggest_clusters(X, 2:8)
suggestion.best, suggestion.confidence
suggestion.range .=> suggestion.scores
```
"""
function suggest_clusters(data, range = nothing; kernels = "auto", progress = nothing, options...)
    # Before kernels are built for nothing.
    check_range(range)
    return with_model(data, 0, kernels, progress, options) do model
        suggest_clusters(model, range; progress = progress)
    end
end

function suggest_clusters(model::Model, range = nothing; progress = nothing)
    check_range(range)
    # The library has a range of its own, which it is asked for by 0 and which is within the samples.
    from, to = range === nothing ? (0, 0) : (first(range), last(range))
    # No room is made for the scores of a range that the library refuses, which may be of any length.
    room = to == 0 ? model.n_samples : to <= model.n_samples ? to - from + 1 : 0
    scores = Vector{Float64}(undef, room)
    finish(model, watched(model, progress) do
        ccall(entry(:scmk_suggest_clusters), Int32,
              (Ptr{Cvoid}, Csize_t, Csize_t, Ptr{Float64}, Csize_t),
              model.handle, from, to, scores, length(scores))
    end)
    range = info(model, :suggested_from, :int):info(model, :suggested_to, :int)
    next = info(model, :suggested_next, :int)
    return SCMKSuggestion(info(model, :suggested_clusters, :int), next == 0 ? nothing : next,
                          info(model, :suggested_confidence, :real), range, scores[1:length(range)])
end

check_range(::Nothing) = nothing
check_range(range::AbstractUnitRange{<:Integer}) = 1 <= first(range) <= last(range) ||
    throw(ArgumentError("range: $range given, one or more numbers from 1 expected"))
check_range(other) = throw(ArgumentError("range: $other given, a range such as 2:10 expected"))

function Base.show(io::IO, ::MIME"text/plain", suggestion::SCMKSuggestion)
    print(io, "SCMKSuggestion: ", finding(suggestion), ", ",
          chances(suggestion.confidence, suggestion.next))
    # The best ones, in the order of the range.
    order = sortperm(suggestion.scores; rev = true)
    for (i, place) in enumerate(sort(order[1:min(end, SHOWN)]))
        number = suggestion.range[place]
        print(io, i == 1 ? "\n  scores   " : "\n           ", lpad(number, 3), " => ",
              round(suggestion.scores[place]; sigdigits = 4), number == suggestion.best ? "  best" : "")
    end
    length(order) > SHOWN && print(io, "\n           and ", length(order) - SHOWN, " smaller ones")
end

Base.show(io::IO, suggestion::SCMKSuggestion) = print(io, "SCMKSuggestion(", finding(suggestion), ')')

finding(suggestion::SCMKSuggestion) = suggestion.best == 1 ? "the samples do not fall into clusters" :
    counted(suggestion.best, "cluster")
