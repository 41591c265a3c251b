# Run by Pkg.build("SCMK"): remembers where the library is, if SCMK_LIBRARY says so now.
# Without it there is nothing to remember, and what an earlier build noted down is forgotten.
note = joinpath(@__DIR__, "library")
path = get(ENV, "SCMK_LIBRARY", "")
if isempty(path)
    rm(note; force = true)
elseif isabspath(path) && isfile(path)
    write(note, path)
else
    error("SCMK_LIBRARY must be the absolute path of the library, but is $path")
end
