# What the library knows, asked at run time: a newer library brings its options with it.

const TYPES = (:real, :int, :text)

const Name = Union{AbstractString,Symbol}

# What every model is set to first. Messages count as Julia does.
const OWN_DEFAULTS = (index_base = 1,)

indices(count::Symbol) = 0:Int(ccall(entry(count), Csize_t, ())) - 1

function parsed(type::Symbol, text::AbstractString)
    type === :real && return parse(Float64, text)
    type === :int && return parse(Int64, text)
    return String(text)
end

"""
    SCMK.options() -> Vector{NamedTuple}

All options, which are keywords of [`scmk`](@ref), [`Model`](@ref) and [`set!`](@ref): `name`,
`type` (`:real`, `:int` or `:text`), `default`, `minimum` and `maximum` (`NaN` for text), `choices`
(empty for numbers) and `doc`.

    SCMK.options(model) -> NamedTuple

The value that each option of `model` has now.

# Example
```julia
foreach(o -> println(rpad(o.name, 16), rpad(o.default, 10), o.doc), SCMK.options())
```
"""
function options()
    return map(indices(:scmk_option_count)) do index
        name, default, choices, doc = Ref{Cstring}(), Ref{Cstring}(), Ref{Cstring}(), Ref{Cstring}()
        type, minimum, maximum = Ref{Int32}(), Ref{Float64}(), Ref{Float64}()
        check(ccall(entry(:scmk_option_info), Int32,
                    (Csize_t, Ref{Cstring}, Ref{Int32}, Ref{Cstring}, Ref{Float64}, Ref{Float64},
                     Ref{Cstring}, Ref{Cstring}),
                    index, name, type, default, minimum, maximum, choices, doc))
        kind, symbol = TYPES[type[] + 1], Symbol(unsafe_string(name[]))
        return (name = symbol, type = kind,
                default = get(OWN_DEFAULTS, symbol, parsed(kind, unsafe_string(default[]))),
                minimum = minimum[], maximum = maximum[],
                choices = String.(strip.(split(unsafe_string(choices[]), ','; keepempty = false))),
                doc = unsafe_string(doc[]))
    end
end

"""
    SCMK.infos() -> Vector{NamedTuple}

What a fit leaves in `result.info` ([`SCMK.info`](@ref)): `name`, `type` (`:real`, `:int` or `:text`)
and `doc`.
"""
function infos()
    return map(indices(:scmk_info_count)) do index
        name, type, doc = Ref{Cstring}(), Ref{Int32}(), Ref{Cstring}()
        check(ccall(entry(:scmk_info_name), Int32,
                    (Csize_t, Ref{Cstring}, Ref{Int32}, Ref{Cstring}), index, name, type, doc))
        return (name = Symbol(unsafe_string(name[])), type = TYPES[type[] + 1],
                doc = unsafe_string(doc[]))
    end
end

"""
    SCMK.metrics() -> Vector{NamedTuple}

The metrics that [`metric`](@ref) knows: `name` and `doc`.
"""
function metrics()
    return map(indices(:scmk_metric_count)) do index
        name, doc = Ref{Cstring}(), Ref{Cstring}()
        check(ccall(entry(:scmk_metric_name), Int32, (Csize_t, Ref{Cstring}, Ref{Cstring}),
                    index, name, doc))
        return (name = Symbol(unsafe_string(name[])), doc = unsafe_string(doc[]))
    end
end

"""
    SCMK.clustering_methods() -> Vector{NamedTuple}

The clustering methods, which the option `method` takes: `name` and `doc`. The first is the default.

# Example
```julia
foreach(m -> println(rpad(m.name, 8), m.doc), SCMK.clustering_methods())
```
"""
function clustering_methods()
    return map(indices(:scmk_method_count)) do index
        name, doc = Ref{Cstring}(), Ref{Cstring}()
        check(ccall(entry(:scmk_method_name), Int32, (Csize_t, Ref{Cstring}, Ref{Cstring}),
                    index, name, doc))
        return (name = Symbol(unsafe_string(name[])), doc = unsafe_string(doc[]))
    end
end

"""
    SCMK.methods_available() -> Vector{String}

The names of [`SCMK.clustering_methods`](@ref).
"""
methods_available() = [string(method.name) for method in clustering_methods()]

"""
    SCMK.kernel_functions() -> Vector{NamedTuple}

The kernel functions, which the keyword `kernels` of [`scmk`](@ref) and [`add_features!`](@ref) names:
`name`, `parameters` with their defaults, such as `"a=1,b=2"` (empty if it has none), and `doc`, its
formula.
"""
function kernel_functions()
    return map(indices(:scmk_kernel_function_count)) do index
        name, parameters, doc = Ref{Cstring}(), Ref{Cstring}(), Ref{Cstring}()
        check(ccall(entry(:scmk_kernel_function_name), Int32,
                    (Csize_t, Ref{Cstring}, Ref{Cstring}, Ref{Cstring}), index, name, parameters, doc))
        return (name = Symbol(unsafe_string(name[])), parameters = unsafe_string(parameters[]),
                doc = unsafe_string(doc[]))
    end
end

"""
    SCMK.preparations() -> Vector{NamedTuple}

The steps in which features are prepared, which the keyword `kernels` of [`scmk`](@ref) and
[`add_features!`](@ref) names before the first kernel: `name` and `doc`.

# Example
```julia
scmk(X, 3; kernels = "standardize; gaussian(t=0.1); linear")
```
"""
function preparations()
    return map(indices(:scmk_preparation_count)) do index
        name, doc = Ref{Cstring}(), Ref{Cstring}()
        check(ccall(entry(:scmk_preparation_name), Int32, (Csize_t, Ref{Cstring}, Ref{Cstring}),
                    index, name, doc))
        return (name = Symbol(unsafe_string(name[])), doc = unsafe_string(doc[]))
    end
end
