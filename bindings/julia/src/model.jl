# A model: kernels, options, the fit.

"""
    Model(n_samples, n_clusters = 0; options...)

A model of `n_samples` samples that are to be divided into `n_clusters` clusters; 0 lets each fit choose
their number. It is filled by [`add_kernel!`](@ref), [`borrow_kernel!`](@ref) and
[`add_features!`](@ref), set by [`set!`](@ref), fitted by [`SCMK.fit!`](@ref), and read by
[`SCMKResult`](@ref)`(model)`, or part by part by [`SCMK.assignments`](@ref), [`SCMK.weights`](@ref), ...
Adding a kernel or changing an option discards the result. [`set_clusters!`](@ref) changes the number of
clusters and keeps the kernels, and [`suggest_clusters`](@ref) tells how many there may be.

A model is used by one task at a time; another gets an [`SCMKError`](@ref) with the status
`:SCMK_E_BUSY`. Only [`cancel!`](@ref) may be called while a call is running.

The memory of a model is the library's, which Julia's garbage collector does not see: with large
kernels, `close(model)` gives it back at once. A model that is forgotten is destroyed by its
finalizer, which never waits: were the model in use (only an explicit `finalize` during a fit can do
that), it tries again at a later collection.

# Example
```julia
model = Model(size(X, 2), 10)
add_features!(model, X)
SCMK.fit!(model)
result = SCMKResult(model)
```
"""
mutable struct Model
    # A ticket, not an address. It is never issued twice, so that it may be kept after the end.
    handle::Ptr{Cvoid}
    closed::Bool
    n_samples::Int
    # As asked for: 0 if a fit is to choose it.
    n_clusters::Int
    # Keeps borrowed matrices alive.
    borrowed::Vector{Any}
    # Of the call that is running: whom to tell, and what was thrown there.
    running::Threads.Atomic{Bool}
    progress::Any
    thrown::Any

    function Model(n_samples::Integer, n_clusters::Integer = 0; options...)
        check_count(:n_samples, n_samples, 1)
        check_count(:n_clusters, n_clusters, 0)
        handle = Ref{Ptr{Cvoid}}(C_NULL)
        check(ccall(entry(:scmk_create), Int32, (Csize_t, Csize_t, Ref{Ptr{Cvoid}}),
                    n_samples, n_clusters, handle))
        model = new(handle[], false, n_samples, n_clusters, Any[], Threads.Atomic{Bool}(false),
                    nothing, nothing)
        finalizer(destroy_without_waiting, model)
        check(set_progress(model), model.handle)
        set!(model; OWN_DEFAULTS...)
        set!(model; options...)
        return model
    end
end

# All else about a number is for the library to say; a negative one cannot be handed to it.
check_count(name::Symbol, value::Integer, least::Int) =
    value >= 0 || throw(ArgumentError("$name: $value given, at least $least expected"))

Base.show(io::IO, model::Model) = print(io, "SCMK.Model(", model.n_samples, " samples, ",
    model.n_clusters == 0 ? "clusters to be chosen" : counted(model.n_clusters, "cluster"),
    isopen(model) ? ")" : ", closed)")

counted(number::Integer, thing::String) = string(number, ' ', thing, number == 1 ? "" : "s")

destroy(model::Model) = ccall(entry(:scmk_destroy), Int32, (Ptr{Cvoid},), model.handle)

# Called between any two instructions of any task: may neither wait nor throw nor print. The library
# answers BUSY at once where it cannot; then the next collection is the next chance.
function destroy_without_waiting(model::Model)
    model.closed && return nothing
    if destroy(model) == BUSY
        finalizer(destroy_without_waiting, model)
    else
        model.closed = true
    end
    return nothing
end

"""
    close(model::Model)

Destroys the model and gives its memory back. Borrowed kernels are free again. Closing twice does
nothing; while a call is running on the model it is an error.
"""
function Base.close(model::Model)
    isopen(model) || return nothing
    check(destroy(model), model.handle)
    model.closed = true
    empty!(model.borrowed)
    return nothing
end

Base.isopen(model::Model) = !model.closed

# Runs a call on the model, and keeps the model alive meanwhile.
macro on(model, call)
    return quote
        local model = $(esc(model))
        GC.@preserve model check($(esc(call)), model.handle)
    end
end

# --- kernels

# The matrix as it can be handed over: as it is if it is dense and holds doubles, else as a copy.
function as_floats(matrix::AbstractMatrix)
    Base.require_one_based_indexing(matrix)
    all(>(0), strided(matrix)) && return matrix
    if !(eltype(matrix) <: Real)
        odd = findfirst(value -> !(value isa Real), matrix)
        odd === nothing || throw(ArgumentError("the matrix must hold real numbers, but its entry " *
            "$(Tuple(odd)) is $(repr(matrix[odd])) (a header line that was read as data?)"))
    end
    return Matrix{Float64}(matrix)
end

# The strides of a matrix that C can read in place; zeros for any other.
strided(matrix::StridedMatrix{Float64}) = strides(matrix)
strided(::AbstractMatrix) = (0, 0)

# The same for kernels, of which C reads dense columns at any distance.
function as_columns(matrix::AbstractMatrix)
    values = as_floats(matrix)
    return stride(values, 1) == 1 ? values : Matrix{Float64}(values)
end

function square(kernel::AbstractMatrix)
    rows, columns = size(kernel)
    rows == columns ||
        throw(DimensionMismatch("a kernel must be a square matrix, but this one is $rows×$columns"))
    return rows
end

# Adds a view by a call that may take long; returns what `watched` does. A view that is not added leaves
# no name behind.
function add_view(call, model::Model, name::Union{Name,Nothing}, progress)
    name === nothing && return watched(call, model, progress)
    @on model ccall(entry(:scmk_name_view), Int32, (Ptr{Cvoid}, Cstring), model.handle, string(name))
    added = false
    try
        ended = watched(call, model, progress)
        added = ended.status == OK
        return ended
    finally
        added || GC.@preserve model ccall(entry(:scmk_name_view), Int32, (Ptr{Cvoid}, Ptr{UInt8}),
                                          model.handle, C_NULL)
    end
end

"""
    add_kernel!(model, K; name = nothing, progress = nothing) -> model

Adds a copy of the kernel matrix `K`: symmetric, one row and one column for each sample. Messages and
[`SCMK.kernel_names`](@ref) call it by its `name`. `progress` as for [`SCMK.fit!`](@ref).
"""
function add_kernel!(model::Model, kernel::AbstractMatrix; name = nothing, progress = nothing)
    n = square(kernel)
    values = as_columns(kernel)
    finish(model, add_view(model, name, progress) do
        GC.@preserve values ccall(entry(:scmk_add_kernel), Int32,
            (Ptr{Cvoid}, Ptr{Float64}, Csize_t, Csize_t),
            model.handle, pointer(values), n, stride(values, 2))
    end)
    return model
end

"""
    borrow_kernel!(model, K; name = nothing, progress = nothing) -> model

Adds the kernel matrix `K` without copying it, for kernels that fill the memory. `K` must be a dense
matrix of `Float64` (or a view of one, or memory-mapped, with columns that are dense), and must not be
changed until [`clear_kernels!`](@ref) or `close`. The model keeps it alive. The keywords are those of
[`add_kernel!`](@ref).
"""
function borrow_kernel!(model::Model, kernel::StridedMatrix{Float64}; name = nothing,
                        progress = nothing)
    n = square(kernel)
    (stride(kernel, 1) == 1 && stride(kernel, 2) > 0) || throw(ArgumentError(
        "only a matrix with dense columns can be borrowed; add_kernel! copies any other"))
    # Kept before C has it, and let go only if C refused it: an interrupt may come in between.
    push!(model.borrowed, kernel)
    refused() = deleteat!(model.borrowed, findlast(one -> one === kernel, model.borrowed))
    ended = try
        add_view(model, name, progress) do
            ccall(entry(:scmk_borrow_kernel), Int32, (Ptr{Cvoid}, Ptr{Float64}, Csize_t, Csize_t),
                  model.handle, pointer(kernel), n, stride(kernel, 2))
        end
    catch error
        # The model was busy, or the name is none.
        error isa InterruptException || refused()
        rethrow()
    end
    ended.status == OK || refused()
    finish(model, ended)
    return model
end

borrow_kernel!(::Model, kernel::AbstractMatrix; keywords...) = throw(ArgumentError(
    "only a dense matrix of Float64 can be borrowed, not a $(typeof(kernel)); add_kernel! copies any"))

"""
    add_features!(model, X; kernels = "auto", name = nothing, progress = nothing) -> model

Builds kernels from the features `X` and adds them. **Samples are the columns of `X`**, as in
Clustering.jl: a table with one sample a row is given as `X'`. Call it once for each view.

`kernels` is as for [`scmk`](@ref): `"auto"`, `"paper"` or a list such as `"standardize; linear"`. Messages
and the names of the kernels call the view by its `name`.

`progress` as for [`SCMK.fit!`](@ref). What stops a fit stops this call, too: an `SCMKError` with the
status `:SCMK_E_STOPPED`, or the exception of a Ctrl-C. The model is then as it was.
"""
function add_features!(model::Model, features::AbstractMatrix; kernels::Name = "auto",
                       name = nothing, progress = nothing)
    values = as_floats(features)
    list = string(kernels)
    finish(model, add_view(model, name, progress) do
        GC.@preserve values ccall(entry(:scmk_add_features), Int32,
            (Ptr{Cvoid}, Ptr{Float64}, Csize_t, Csize_t, Csize_t, Csize_t, Cstring),
            model.handle, pointer(values), size(values, 2), size(values, 1), stride(values, 2),
            stride(values, 1), list)
    end)
    return model
end

"""
    clear_kernels!(model) -> model

Removes all kernels. Borrowed ones are free again, options stay.
"""
function clear_kernels!(model::Model)
    @on model ccall(entry(:scmk_clear_kernels), Int32, (Ptr{Cvoid},), model.handle)
    empty!(model.borrowed)
    return model
end

# --- options

"""
    set!(model, name, value) -> model
    set!(model; options...) -> model

Sets an option, or several; [`SCMK.options`](@ref) lists them. The name is a symbol or a string; the
value a number, a string or a symbol. Of several options `preset`, which changes others, comes first
wherever it stands.

# Example
```julia
set!(model; alpha = 0.1, method = "mkkm")
```
"""
function set!(model::Model, name::Name, value::Real)
    @on model ccall(entry(:scmk_set_real), Int32, (Ptr{Cvoid}, Cstring, Float64),
                    model.handle, string(name), value)
    return model
end

function set!(model::Model, name::Name, value::Integer)
    @on model ccall(entry(:scmk_set_int), Int32, (Ptr{Cvoid}, Cstring, Int64),
                    model.handle, string(name), value)
    return model
end

function set!(model::Model, name::Name, value::Name)
    @on model ccall(entry(:scmk_set_text), Int32, (Ptr{Cvoid}, Cstring, Cstring),
                    model.handle, string(name), string(value))
    return model
end

function set!(model::Model; options...)
    for preset in (true, false), (name, value) in options
        (name === :preset) == preset && set!(model, name, value)
    end
    return model
end

"""
    set_clusters!(model, n_clusters) -> model

Changes the number of clusters; 0 lets each fit choose it. Kernels and options stay, so that several
numbers can be tried without building the kernels again.
"""
function set_clusters!(model::Model, n_clusters::Integer)
    check_count(:n_clusters, n_clusters, 0)
    @on model ccall(entry(:scmk_set_clusters), Int32, (Ptr{Cvoid}, Csize_t), model.handle, n_clusters)
    model.n_clusters = n_clusters
    return model
end

# Text that `call` writes into a buffer of the given size, and tells the full size of.
function text(call, model::Model)
    value, status = read_text(call, model)
    check(status, model.handle)
    return value
end

# The same, and what C answered: the text is empty if that is an error.
function read_text(call, model::Model)
    needed = Ref{Csize_t}(0)
    buffer = zeros(UInt8, 256)
    while true
        status = GC.@preserve model call(buffer, length(buffer), needed)
        status == OK || return "", status
        needed[] <= length(buffer) && return GC.@preserve buffer unsafe_string(pointer(buffer)), status
        resize!(buffer, needed[])
    end
end

option_text(model::Model, name::Symbol) = text(model) do buffer, capacity, needed
    ccall(entry(:scmk_get_text), Int32, (Ptr{Cvoid}, Cstring, Ptr{UInt8}, Csize_t, Ref{Csize_t}),
          model.handle, string(name), buffer, capacity, needed)
end

function option_value(model::Model, option)
    if option.type === :real
        real = Ref{Float64}()
        @on model ccall(entry(:scmk_get_real), Int32, (Ptr{Cvoid}, Cstring, Ref{Float64}),
                        model.handle, string(option.name), real)
        return real[]
    elseif option.type === :int
        whole = Ref{Int64}()
        @on model ccall(entry(:scmk_get_int), Int32, (Ptr{Cvoid}, Cstring, Ref{Int64}),
                        model.handle, string(option.name), whole)
        return whole[]
    end
    return option_text(model, option.name)
end

function options(model::Model)
    known = options()
    return NamedTuple{Tuple(option.name for option in known)}(
        Tuple(option_value(model, option) for option in known))
end

# --- calls that take long

"""
    SCMK.Progress

How far a call has come: `step` (`:kernels` while kernels are built or checked; in a fit and in
[`suggest_clusters`](@ref) `:similarity`, `:embedding`, `:weights`, `:labels`, or `:iteration` when an
outer iteration is complete), `iteration` (complete ones; methods that restart, option `restarts`, count
complete restarts), `fraction` of the step that is done, from 0 to 1, and `objective` (`NaN` before the
first complete iteration).
"""
struct Progress
    step::Symbol
    iteration::Int
    fraction::Float64
    objective::Float64
end

# What `progress = true` means: a line that is rewritten on a terminal, and elsewhere one a second.
mutable struct ProgressLine
    io::IO
    terminal::Bool
    told::Float64
    width::Int
end
ProgressLine(io::IO = stderr) = ProgressLine(io, io isa Base.TTY, time(), 0)

function (line::ProgressLine)(progress::Progress)
    time() - line.told < (line.terminal ? 0.1 : 1) && return nothing
    line.told = time()
    parts = String[]
    progress.step === :iteration ||
        push!(parts, string(progress.step, ' ', round(Int, 100progress.fraction), " %"))
    progress.step === :kernels || push!(parts, counted(progress.iteration, "iteration") * " complete")
    isnan(progress.objective) ||
        push!(parts, string("objective ", round(progress.objective; sigdigits = 6)))
    text = "scmk: " * join(parts, ", ")
    print(line.io, line.terminal ? "\r" * rpad(text, line.width) : text * "\n")
    line.width = length(text)
    return nothing
end

erase(::Any) = nothing
erase(line::ProgressLine) =
    line.terminal && line.width > 0 && print(line.io, '\r', ' '^line.width, '\r')

listener(progress) = progress
listener(progress::Bool) = progress ? ProgressLine() : nothing

# What C calls meanwhile, on the thread that made the call. No exception may leave it: what is thrown is
# kept in the model until C has returned. It is called also when nobody listens, so that a Ctrl-C and
# the garbage collection of other threads do not have to wait for the end of the call.
function report(user::Ptr{Cvoid}, step::Cstring, iteration::Int64, fraction::Float64,
                objective::Float64)::Int32
    model = unsafe_pointer_to_objref(user)::Model
    try
        GC.safepoint()
        return reenable_sigint() do
            model.progress === nothing && return Int32(0)
            progress = Progress(Symbol(unsafe_string(step)), iteration, fraction, objective)
            return Int32(model.progress(progress) === true)
        end
    catch error
        model.thrown = error
        return Int32(1)
    end
end

# The model itself is what the callback gets: it lives as long as its calls. Set once and for all, so
# that C never holds on to a function that is gone.
set_progress(model::Model) = ccall(entry(:scmk_set_progress), Int32,
    (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), model.handle,
    @cfunction(report, Int32, (Ptr{Cvoid}, Cstring, Int64, Float64, Float64)),
    pointer_from_objref(model))

# Makes a call that may take long. Returns what C answered, and what was thrown in the callback.
function watched(call, model::Model, progress)
    # Only for a call of its own may a task set `progress`. If there is another, any call on the model
    # is refused with the right error, unless it has ended just now.
    while Threads.atomic_cas!(model.running, false, true)
        @on model set_progress(model)
        GC.safepoint()
    end
    task = current_task()
    sticky = task.sticky
    try
        model.progress, model.thrown = listener(progress), nothing
        # A callback that waits must go on where C expects it: on the thread of the call.
        task.sticky = true
        # An interrupt may be thrown inside of the callback only, never amid the frames of C.
        status = disable_sigint() do
            GC.@preserve model call()
        end
        return (status = status, thrown = model.thrown)
    finally
        task.sticky = sticky
        erase(model.progress)
        model.progress = model.thrown = nothing
        model.running[] = false
    end
end

function finish(model::Model, ended)
    ended.thrown === nothing || throw(ended.thrown)
    check(ended.status, model.handle)
end

"""
    SCMK.fit!(model; progress = nothing) -> model
    SCMK.fit!(progress, model) -> model

Fits the model. `progress` is called with an [`SCMK.Progress`](@ref) after each iteration and about
ten times a second in between, by the same task; when it returns `true`, the fit stops. So a `do`
block can watch a fit:

```julia
SCMK.fit!(model) do p
    println(p.step, " of iteration ", p.iteration + 1)
    p.iteration == 5                            # enough
end
```

`progress = true` prints a line to `stderr` instead.

A fit that is stopped, by `progress`, by [`cancel!`](@ref) or by a limit, leaves its last complete
iterate: [`SCMK.outcome`](@ref)`(model)` tells. An exception in `progress` stops the fit, too, and is
thrown from `fit!` afterwards; so is the `InterruptException` of a Ctrl-C, with or without a
`progress`. The model can be used again in each case.

An answer that should not be trusted as it is, such as clusters of single samples, is warned of, by `@warn`
in the words of `SCMK.info(model, :warning)`.

The fit keeps its thread busy; other tasks of that thread run only when `progress` lets them, for
instance by printing or by `yield()`.

It is not exported, since StatsBase.jl has a function of that name.
"""
function fit!(model::Model; progress = nothing)
    finish(model, watched(model, progress) do
        ccall(entry(:scmk_fit), Int32, (Ptr{Cvoid},), model.handle)
    end)
    progress === true && println(stderr, "scmk: ", ending(info(model)))
    warning = info(model, :warning, :text)
    isempty(warning) || @warn(warning)
    return model
end

fit!(progress, model::Model) = fit!(model; progress = progress)

# How a fit ended, in words. One that was stopped at once has no objective.
function ending(info::NamedTuple)
    objective = info.objective === nothing ? "" : ", objective $(round(info.objective; sigdigits = 6))"
    return string(outcome_name(info.outcome), " after ", counted(info.iterations, "iteration"), objective)
end

"""
    cancel!(model)

Asks the call that is running on the model, on another thread or in whose `progress` this is called, to
stop soon: a fit then leaves what it has, and any other call that takes long throws an
[`SCMKError`](@ref) with the status `:SCMK_E_STOPPED`. If no call is running, the next fit stops at once.
"""
function cancel!(model::Model)
    @on model ccall(entry(:scmk_cancel), Int32, (Ptr{Cvoid},), model.handle)
    return nothing
end
