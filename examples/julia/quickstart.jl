# Clusters 400 handwritten digits that are described in six ways (views), with nothing tuned.
# Run: julia --project=bindings/julia examples/julia/quickstart.jl [DATA_FOLDER]
using DelimitedFiles, Printf, SCMK

const VIEWS = ["fou", "fac", "kar", "pix", "zer", "mor"]

function main(folder = joinpath(@__DIR__, "..", "data", "digits"))
    read(name) = readdlm(joinpath(folder, name * ".csv"), ',', Float64)
    truth = vec(Int.(read("labels")))
    # The files have a sample in each row, scmk takes samples as columns: hence the '.
    views = [view => read(view)' for view in VIEWS]
    result = scmk(views, 10)

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
