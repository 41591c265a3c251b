# Clusters 400 handwritten digits that are described in six ways (views), one kernel a view.
# Run: julia --project=bindings/julia examples/julia/quickstart.jl [DATA_FOLDER]
using DelimitedFiles, Printf, SCMK

const VIEWS = ["fou", "fac", "kar", "pix", "zer", "mor"]

# Shifts and scales each column to mean 0 and variance 1: the columns have units of their own.
function standardized(table)
    mean = sum(table; dims = 1) ./ size(table, 1)
    deviation = sqrt.(sum(abs2, table .- mean; dims = 1) ./ size(table, 1))
    return (table .- mean) ./ ifelse.(deviation .> 0, deviation, 1)
end

function main(folder = joinpath(@__DIR__, "..", "data", "digits"))
    read(name) = readdlm(joinpath(folder, name * ".csv"), ',', Float64)
    truth = vec(Int.(read("labels")))
    # The files have a sample in each row, scmk takes samples as columns: hence the '.
    views = [view => standardized(read(view))' for view in VIEWS]
    # A large alpha: no view takes all the weight.
    result = scmk(views, 10; kernels = "gaussian(t=0.2)", alpha = 30, embedding = "normalized")

    println("labels    ", join(result.assignments[1:25], ' '), " ...")
    println("clusters  ", join(("$c:$size" for (c, size) in pairs(result.counts)), ' '))
    println("weights   ", join((@sprintf("%s:%.4f", view, weight)
                                for (view, weight) in zip(result.view_names, result.weights)), ' '))
    @printf("quality   accuracy %.1f %%, NMI %.1f %%\n", 100 * metric("accuracy", truth, result),
            100 * metric("nmi", truth, result))
    @printf("solved    in %.2f s, relative duality gap at most %.1e\n", result.info.seconds,
            result.info.kkt_residual)
end

main(ARGS...)
