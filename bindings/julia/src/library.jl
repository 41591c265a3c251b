# The shared library: where it is, how it is called, how its errors become exceptions.

using Libdl

# The number of the binary interface that the calls below are written for.
const ABI_VERSION = 1

const LIBRARY = Ref{Ptr{Cvoid}}(C_NULL)
const LIBRARY_PATH = Ref("")

# Where the library may be, in the order of preference. A place that somebody named explicitly is
# the only one: falling back to another library would hide the mistake.
function library_places()
    named = get(ENV, "SCMK_LIBRARY", "")
    isempty(named) || return [named]
    note = joinpath(@__DIR__, "..", "deps", "library")
    isfile(note) && return [strip(read(note, String))]
    name = Libdl.dlext == "so" ? "libscmk.so.$ABI_VERSION" : "libscmk.$(Libdl.dlext)"
    return [normpath(@__DIR__, "..", "..", "..", "build", "lib", name), name]
end

function __init__()
    reasons = String[]
    for place in library_places()
        try
            LIBRARY[] = dlopen(place)
            LIBRARY_PATH[] = dlpath(LIBRARY[])
            break
        catch error
            push!(reasons, "\n  " * sprint(showerror, error))
        end
    end
    LIBRARY[] == C_NULL && error("the library scmk was not found. Build it with `make build` and " *
        "install it, or set the environment variable SCMK_LIBRARY to its path. Tried:", reasons...)
    abi = ccall(entry(:scmk_abi_version), UInt32, ())
    abi == ABI_VERSION || error("$(LIBRARY_PATH[]) has the binary interface $abi, and this " *
        "package needs $ABI_VERSION")
    return nothing
end

entry(name::Symbol) = dlsym(LIBRARY[], name)

"""
    SCMK.library() -> (path, version)

The path of the shared library that is in use, and its release.
"""
library() = (path = LIBRARY_PATH[],
             version = VersionNumber(unsafe_string(ccall(entry(:scmk_version), Cstring, ()))))

"""
    SCMKError

An error of the library. `status` is its name, such as `:SCMK_E_NOT_FINITE`, `code` its number, and
`message` the library's own text, in which samples, features, kernels and views are counted from 1.
A call that fails leaves the model as it was.
"""
struct SCMKError <: Exception
    status::Symbol
    code::Int32
    message::String
end

Base.showerror(io::IO, error::SCMKError) = print(io, "SCMKError: ", error.message, " (", error.status, ")")

const OK = Int32(0)
const INVALID_HANDLE = Int32(-2)
const STATE = Int32(-11)
const BUSY = Int32(-12)

function error_message(handle::Ptr{Cvoid})
    needed = Ref{Csize_t}(0)
    buffer = Vector{UInt8}(undef, 512)
    while true
        # A model that is gone has no message: the string stays empty.
        buffer[1] = 0
        ccall(entry(:scmk_error_message), Int32, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ref{Csize_t}),
              handle, buffer, length(buffer), needed)
        needed[] <= length(buffer) && return GC.@preserve buffer unsafe_string(pointer(buffer))
        resize!(buffer, needed[])
    end
end

# Throws what the library answered, unless all is well. The text of a call that had no model, or did
# not get it, is kept with the thread.
function check(status::Int32, handle::Ptr{Cvoid} = C_NULL)
    status == OK && return nothing
    message = error_message(status in (INVALID_HANDLE, BUSY) ? C_NULL : handle)
    name = unsafe_string(ccall(entry(:scmk_status_name), Cstring, (Int32,), status))
    throw(SCMKError(Symbol(name), status, message))
end
