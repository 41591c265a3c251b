# All tests of the package: julia --project=bindings/julia bindings/julia/test/runtests.jl
# One line for each test. With JULIA_NUM_THREADS=2 also those that need a second thread.

using DelimitedFiles, LinearAlgebra, SparseArrays, Test
using SCMK

const GOLDEN = normpath(@__DIR__, "..", "..", "..", "tests", "golden")

# A test set that tells on a line of its own how it ended.
function check(test, name)
    set = @testset "$name" begin
        test()
    end
    failed = any(result -> result isa Union{Test.Fail,Test.Error}, set.results)
    println(failed ? "FAILED  " : "ok      ", name)
end

# The error that `work` throws.
function thrown(work)
    try
        work()
    catch error
        return error
    end
    return nothing
end

refused(work, status, words = "") = (error = thrown(work); error isa SCMKError &&
    error.status === status && occursin(words, error.message))

table(folder, name) = readdlm(joinpath(GOLDEN, folder, name * ".csv"), ',', Float64)
tables(folder, name) = [table(folder, "$name$i") for i in 1:99
                        if isfile(joinpath(GOLDEN, folder, "$name$i.csv"))]
number(text) = something(tryparse(Int, text), tryparse(Float64, text), String(text))
close_to(a, b) = size(a) == size(b) && all(abs.(a .- b) .<= 1e-10 .* max.(1, abs.(b)))

# Three groups of points, far apart: features, truth, a Gaussian kernel.
function blobs(n)
    centres = [0 10 0; 0 0 10]
    truth = [(i - 1) % 3 + 1 for i in 1:n]
    x = [centres[j, truth[i]] + sin(7.3i + 2.9j * i) for j in 1:2, i in 1:n]
    return x, truth, [exp(-sum(abs2, x[:, i] - x[:, j]) / 20) for i in 1:n, j in 1:n]
end

# A model whose fit takes several iterations.
function gradual(n = 150)
    x, truth, kernel = blobs(n)
    model = Model(n, 3; tolerance = 0)
    add_kernel!(model, kernel)
    return add_features!(model, x; kernels = "gaussian(t=1); linear")
end

# A model whose fit goes on until something stops it: the limit is for when that fails.
endless() = set!(gradual(); method = "kkm", restarts = 1_000_000, time_limit = 60)

# Whether the model still does its work after whatever has happened to it.
function usable(model)
    fit!(set!(model; method = "scmk", tolerance = 1e-5, restarts = 20))
    return metric("accuracy", blobs(model.n_samples)[2], model) == 1 && outcome(model) == "converged"
end

function golden(folder)
    problem = readdlm(joinpath(GOLDEN, folder, "problem.csv"), ',', String)
    settings = [strip(problem[i, 1]) => strip(problem[i, 2]) for i in 1:size(problem, 1)]
    clusters = parse(Int, Dict(settings)["clusters"])
    lists = get(Dict(settings), "kernels", nothing)
    options = [Symbol(name) => number(value) for (name, value) in settings
               if !(name in ("clusters", "kernels"))]
    kernels, features = tables(folder, "kernel"), tables(folder, "features")
    expected = Int.(vec(table(folder, "labels"))) .+ 1

    model = Model(length(expected), clusters)
    foreach(kernel -> add_kernel!(model, kernel), kernels)
    foreach(view -> add_features!(model, view'; kernels = lists), features)
    foreach(((name, value),) -> set!(model, name, value), options)
    result = SCMKResult(fit!(model))
    @test assignments(result) == expected
    @test close_to(weights(result), vec(table(folder, "weights")))
    @test close_to([info(result).objective], vec(table(folder, "objective")))
    if isfile(joinpath(GOLDEN, folder, "similarity.csv"))
        @test close_to(similarity(result), table(folder, "similarity"))
    else
        @test similarity(result) === nothing
    end
    close(model)

    # The same in one call, where kernels are not copied.
    again = isempty(features) ? scmk(kernels, clusters; options...) :
        scmk([collect(view') for view in features], clusters; kernels = String(lists), options...)
    @test assignments(again) == expected
    @test weights(again) == weights(result) && similarity(again) == similarity(result)
end

function bad_input(kind, argument, value)
    kernel, features = table("one_kernel", "kernel1"), table("features", "features1")
    if kind in ("entry", "feature")
        (kind == "entry" ? kernel : features)[(parse.(Int, split(argument)) .+ 1)...] = number(value)
    end
    model = Model(size(kind in ("feature", "kernels") ? features : kernel, 1), 3)
    kind == "entry" && return model, () -> add_kernel!(model, kernel)
    kind == "feature" && return model, () -> add_features!(model, features'; kernels = "linear")
    kind == "clusters" && return model, () -> scmk(kernel, number(value))
    kind == "option" && return model, () -> set!(model, argument, number(value))
    kind == "kernels" && return model, () -> add_features!(model, features'; kernels = value)
    kind == "metric" && return model, () -> metric(value, [1, 2], [1, 2])
    error("bad_inputs.csv has a kind that this test does not know: $kind")
end

function resident_bytes()
    pages = parse(Int, split(read("/proc/self/statm", String))[2])
    return pages * ccall(:getpagesize, Cint, ())
end

# Another Julia, with the environment changed; what it printed and whether it succeeded.
function julia(code; project = dirname(@__DIR__), environment...)
    command = `$(Base.julia_cmd()) --startup-file=no --project=$project -e $code`
    changed = copy(ENV)
    for (name, value) in environment
        value === nothing ? delete!(changed, String(name)) : (changed[String(name)] = value)
    end
    output = IOBuffer()
    process = run(pipeline(ignorestatus(setenv(command, changed)); stdout = output, stderr = output))
    return String(take!(output)), success(process)
end

@testset "SCMK" begin
    folders = filter(name -> isdir(joinpath(GOLDEN, name)), readdir(GOLDEN))
    check(() -> (@test length(folders) >= 10), "golden problems are found")
    foreach(folder -> check(() -> golden(folder), "golden $folder"), folders)

    bad = readdlm(joinpath(GOLDEN, "bad_inputs.csv"), ',', String)[2:end, :]
    for i in 1:size(bad, 1)
        name, status, kind, argument, value, message = String.(strip.(bad[i, :]))
        check("bad input $name") do
            model, work = bad_input(kind, argument, value)
            error = thrown(work)
            @test error isa SCMKError
            @test (error.status, error.message) == (Symbol(status), message)
            @test occursin(message, sprint(showerror, error))
            # Nothing is lost: the model solves what it would have solved before.
            if model.n_samples == size(table("one_kernel", "kernel1"), 1)
                add_kernel!(model, table("one_kernel", "kernel1"))
                fit!(set!(model; alpha = 0.1, beta = 0.001))
                @test assignments(model) == Int.(vec(table("one_kernel", "labels"))) .+ 1
            end
        end
    end

    check("every method, and what it does not have") do
        x, truth, kernel = blobs(60)
        methods = SCMK.methods_available()
        @test length(methods) >= 7 && "scmk" in methods
        for method in methods
            result = scmk([kernel, x' * x], 3; method = method)
            @test metric(:accuracy, truth, result) == 1
            @test nclusters(result) == 3 && counts(result) == [20, 20, 20]
            @test length(weights(result)) == 2 && all(>=(0), weights(result))
            @test all(diff(trace(result)) .<= 1e-12 * abs(first(trace(result))))
            @test (similarity(result) === nothing) == (method != "scmk")
            @test (embedding(result) === nothing) == !(method in ("scmk", "sc", "aasc"))
            @test (info(result).kkt_residual === nothing) == (method != "scmk")
            @test info(result).outcome == 0 && outcome(result) == "converged"
            @test collect(keys(info(result))) == [one.name for one in SCMK.infos()]
            @test result.options.method == method
        end
    end

    check("results of a model and of scmk agree, and are displayed") do
        x, truth, kernel = blobs(60)
        model = fit!(add_kernel!(Model(60, 3; alpha = 0.5), kernel))
        result = scmk(kernel, 3; alpha = 0.5)
        for part in (assignments, counts, nclusters, weights, similarity, embedding, trace, outcome)
            @test part(model) == part(result)
        end
        @test info(model).objective == info(result).objective == info(model, "objective")
        graph = similarity(result)
        @test graph isa SparseMatrixCSC{Float64,Int} && all(isapprox.(sum(graph; dims = 1), 1))
        @test nnz(graph) == info(result).similarity_nnz && size(embedding(result)) == (60, 3)
        text = sprint(show, MIME("text/plain"), result)
        @test occursin("60 samples in 3 clusters by method scmk", text) && occursin("converged", text)
        @test occursin("60 samples", string(result)) && occursin("60 samples", string(model))
    end

    check("a result needs a fit") do
        model = Model(12, 3)
        for part in (assignments, counts, weights, similarity, embedding, trace, info, outcome,
                     SCMKResult, fit!)
            @test refused(() -> part(model), :SCMK_E_STATE)
        end
        @test info(model, :memory_required) > 0
        @test refused(() -> info(model, :objectiv), :SCMK_E_UNKNOWN_OPTION, "'objective'")
        fit!(add_kernel!(model, blobs(12)[3]))
        @test length(assignments(model)) == 12
        set!(model; alpha = 7)
        @test refused(() -> assignments(model), :SCMK_E_STATE)
    end

    check("many kernels have as many weights") do
        model = Model(12, 3; normalize = "none", max_iterations = 2)
        foreach(i -> add_kernel!(model, blobs(12)[3] .* i), 1:300)
        @test length(weights(fit!(model))) == 300
    end

    check("matrices of every kind") do
        x, truth, kernel = blobs(30)
        expected = similarity(scmk(kernel, 3))
        padded = fill(NaN, 40, 70)
        padded[3:32, 1:2:59] = kernel
        hollow = fill(NaN, 60, 30)
        hollow[1:2:60, :] = kernel
        for same in (Symmetric(kernel), kernel', sparse(kernel), view(padded, 3:32, 1:2:59),
                     view(hollow, 1:2:60, :), view(kernel, 30:-1:1, 30:-1:1)[30:-1:1, 30:-1:1],
                     Any[value for value in kernel], reshape(vec(kernel), 30, 30))
            @test similarity(scmk(same, 3)) == expected
            @test similarity(fit!(add_kernel!(Model(30, 3), same))) == expected
        end
        reversed = view(kernel, 30:-1:1, 30:-1:1)
        @test assignments(scmk(reversed, 3)) == assignments(scmk(collect(reversed), 3))
        @test metric("accuracy", truth, scmk(Float32.(kernel), 3)) == 1
        @test metric("accuracy", truth, scmk(round.(Int, 1000kernel + 50I), 3)) == 1

        expected = similarity(scmk(x, 3; kernels = "linear"))
        rows = collect(x')
        wide = fill(NaN, 4, 30)
        wide[1:2:4, :] = x
        for same in (rows', view(wide, 1:2:4, :), view(hcat(x, x), :, 31:60), sparse(x),
                     transpose(rows), permutedims(rows))
            @test similarity(scmk(same, 3; kernels = "linear")) == expected
        end
    end

    check("kernels and features are told apart by the keyword") do
        x, truth, kernel = blobs(30)
        error = thrown(() -> scmk(x, 3))
        @test error isa DimensionMismatch && occursin("2×30", error.msg) &&
            occursin("kernels = ", error.msg)
        @test refused(() -> scmk([1 0.5; 0.2 1], 2), :SCMK_E_ASYMMETRIC, "(1, 0) = 0.2")
        # With the keyword even a square symmetric matrix is features.
        @test metric("accuracy", truth, scmk(kernel, 3; kernels = "linear")) == 1
        @test length(weights(scmk(x, 3; kernels = "paper"))) == 12
        @test length(weights(scmk([x, x .^ 2], 3; kernels = "linear; gaussian(t=1)"))) == 4
        both = scmk([x, x .^ 2], 3; kernels = ["linear", "gaussian(t=1); linear"])
        @test length(weights(both)) == 3
        @test weights(scmk((x, x .^ 2), 3; kernels = ("linear", "gaussian(t=1); linear"))) ==
            weights(both)
        @test thrown(() -> scmk(x, 3; kernels = ["linear", "linear"])) isa DimensionMismatch
        @test thrown(() -> scmk(x, 3; kernels = 3)) isa ArgumentError
        @test thrown(() -> scmk([1.0, 2.0], 3)) isa ArgumentError
        @test thrown(() -> scmk(Matrix{Float64}[], 3)) isa ArgumentError
        @test thrown(() -> scmk("paper", 3)) isa ArgumentError
        @test refused(() -> scmk(kernel, 3; aplha = 1), :SCMK_E_UNKNOWN_OPTION, "'alpha'")
        @test refused(() -> scmk([x, x[:, 1:7]], 3; kernels = "linear"), :SCMK_E_DIMENSION, "30")
        @test refused(() -> scmk([kernel, kernel[1:7, 1:7]], 3), :SCMK_E_DIMENSION, "30")
    end

    check("what is wrong is said") do
        @test thrown(() -> Model(-1, 2)) isa ArgumentError
        @test thrown(() -> Model(12, -1)) isa ArgumentError
        model = Model(12, 3)
        @test thrown(() -> add_kernel!(model, zeros(12, 11))) isa DimensionMismatch
        @test refused(() -> add_kernel!(model, zeros(12, 12)), :SCMK_E_DEGENERATE, "kernel 0")
        error = thrown(() -> add_features!(model, Any["height" 1; "width" 2]; kernels = "linear"))
        @test error isa ArgumentError && occursin("\"height\"", error.msg) &&
            occursin("(1, 1)", error.msg)
        @test thrown(() -> add_features!(model, [1 missing; 2 3])) isa ArgumentError
        @test thrown(() -> borrow_kernel!(model, ones(Float32, 12, 12))) isa ArgumentError
        @test thrown(() -> borrow_kernel!(model, view(ones(24, 12), 1:2:24, :))) isa ArgumentError
        @test thrown(() -> set!(model, "alpha", "1\0")) isa ArgumentError
        @test thrown(() -> metric("nmi", [1, 2], [1])) isa DimensionMismatch
        @test refused(() -> metric("nmi", Int[], Int[]), :SCMK_E_DIMENSION)
        @test usable(add_kernel!(model, blobs(12)[3]))
    end

    check("options are listed, set and read") do
        model = Model(12, 3)
        known = SCMK.options()
        @test length(known) >= 19
        @test SCMK.options(model) == NamedTuple{Tuple(o.name for o in known)}(
            Tuple(o.default for o in known))
        for option in known
            @test !isempty(option.doc) && isempty(option.choices) == (option.type !== :text)
            values = option.type === :text ? option.choices : [option.minimum, option.maximum]
            # The largest whole numbers are no doubles.
            for value in filter(value -> !(value isa Real && value > 1e18), values)
                set!(model, option.name, value)
                @test SCMK.options(model)[option.name] == value
                @test typeof(SCMK.options(model)[option.name]) == typeof(option.default)
            end
        end
        set!(model; preset = :paper, alpha = 1 // 4, seed = UInt8(3), warm_start = true,
             beta = "0.5")
        now = SCMK.options(model)
        @test (now.alpha, now.beta, now.seed, now.warm_start) == (0.25, 0.5, 3, 1)
        @test SCMK.options(Model(12, 3; alpha = 9, seed = typemax(Int64))).seed == typemax(Int64)
    end

    check("metrics are listed, and take labels of any kind") do
        truth, labels = [1, 1, 1, 2, 2, 3], [1, 1, 2, 2, 2, 3]
        @test metric("accuracy", truth, labels) ≈ 5 / 6
        @test metric(:purity, truth, labels) ≈ 5 / 6
        for one in SCMK.metrics()
            value = metric(one.name, truth, labels)
            @test 0 < value < 1 && !isempty(one.doc)
            @test metric(one.name, truth, [-10, -10, 7, 7, 7, 2^40]) == value
            @test metric(one.name, ["a", "a", "a", "b", "b", "c"], Int8.(labels)) == value
            @test metric(one.name, truth, truth .+ 5) ≈ 1
        end
    end

    check("progress is told, on the thread of the fit") do
        for method in SCMK.methods_available()
            seen = SCMK.Progress[]
            threads = Set{Int}()
            model = Model(60, 3; method = method)
            add_kernel!(model, blobs(60)[3])
            fit!(model) do progress
                push!(seen, progress)
                push!(threads, Threads.threadid())
                nothing
            end
            @test !isempty(seen) && threads == Set(Threads.threadid())
            @test all(p -> 0 <= p.fraction <= 1 && p.iteration >= 0, seen)
            @test issorted([p.iteration for p in seen])
            @test last(filter(p -> p.step === :iteration, seen)).objective == info(model).objective
        end
    end

    check("progress that returns true stops the fit") do
        model = gradual()
        fit!(progress -> progress.iteration >= 2, model)
        @test outcome(model) == "cancelled" && info(model).iterations == 2
        @test length(assignments(model)) == 150 && length(trace(model)) == 2
        @test usable(model)
        # Only `true` does; what a callback happens to return else does not.
        calls = Ref(0)
        set!(model; tolerance = 0, max_iterations = 2)
        fit!(_ -> calls[] += 1, model)
        @test calls[] > 1 && outcome(model) == "iteration limit"
        result = scmk(blobs(60)[3], 3; progress = _ -> true)
        @test outcome(result) == "cancelled" && length(assignments(result)) == 60
    end

    check("an exception in progress arrives, and the model lives on") do
        model = endless()
        for error in (ErrorException("mine"), KeyError(:other), InterruptException())
            calls = Ref(0)
            caught = thrown(() -> fit!(_ -> (calls[] += 1; throw(error)), model))
            @test caught === error && calls[] == 1
            @test outcome(model) == "cancelled"
        end
        @test usable(model)
        @test thrown(() -> scmk(blobs(60)[3], 3; progress = _ -> error("mine"))) ==
            ErrorException("mine")
    end

    check("a model that is being fitted is busy") do
        model = endless()
        answers = Any[]
        fit!(model) do _
            for call in (fit!, assignments, weights, info, SCMK.options, clear_kernels!, close,
                         model -> set!(model; alpha = 3))
                push!(answers, thrown(() -> call(model)))
            end
            true
        end
        @test length(answers) == 8
        @test all(error -> error isa SCMKError && error.status === :SCMK_E_BUSY &&
                      occursin("busy", error.message), answers)
        @test SCMK.options(model).alpha != 3 && isopen(model)
        @test usable(model)
    end

    check("a callback may wait, and other fits run meanwhile") do
        model, other = gradual(), gradual()
        task = @async fit!(progress -> (yield(); progress.iteration >= 2), other)
        fit!(progress -> (sleep(0.001); progress.iteration >= 2), model)
        @test info(model).iterations == 2 && info(fetch(task)).iterations == 2
        @test trace(model) == trace(other)
    end

    check("cancel! stops the fit, from its progress and from another task") do
        model = endless()
        fit!(_ -> cancel!(model), model)
        @test outcome(model) == "cancelled"
        timer = Timer(_ -> cancel!(model), 0.2)
        fit!(_ -> yield(), model)
        @test outcome(model) == "cancelled" && info(model).seconds < 30
        cancel!(model)
        @test usable(model)
    end

    if Threads.nthreads() > 1
        check("cancel! stops the fit of another thread") do
            model = endless()
            running = Threads.Atomic{Bool}(false)
            task = Threads.@spawn fit!(_ -> (running[] = true; nothing), model)
            # Without letting go of this thread, lest the fit be run here.
            while !running[] && !istaskdone(task)
                GC.safepoint()
            end
            busy = thrown(() -> assignments(model))
            # Others can collect garbage during a fit.
            pause = @elapsed GC.gc()
            cancel!(model)
            wait(task)
            @test busy isa SCMKError && busy.status === :SCMK_E_BUSY
            @test outcome(model) == "cancelled" && pause < 5
            @test usable(model)
        end
    end

    check("an interrupt stops a fit, with progress and without") do
        ccall(:jl_exit_on_sigint, Cvoid, (Cint,), 0)
        model = endless()
        for progress in (nothing, _ -> nothing)
            run(`sh -c "sleep 0.5; kill -INT $(getpid())"`; wait = false)
            seconds = @elapsed error = thrown(() -> fit!(model; progress = progress))
            @test error isa InterruptException && seconds < 30
            @test outcome(model) == "cancelled"
        end
        @test usable(model)
        ccall(:jl_exit_on_sigint, Cvoid, (Cint,), 1)
    end

    check("stopping a large fit takes less than a second") do
        x = [sin(1.7i + 0.9i * j + j^2) + i % 5 for j in 1:10, i in 1:2000]
        model = add_features!(Model(2000, 5; tolerance = 0, alpha = 30), x;
                              kernels = "gaussian(t=0.1)")
        slowest = 0.0
        # At the first call, and in the midst of what takes long.
        for after in (0.0, 0.6, 1.3)
            began, stopped = time(), Ref(0.0)
            fit!(_ -> time() - began >= after && (stopped[] = time(); true), model)
            slowest = max(slowest, time() - stopped[])
            @test outcome(model) == "cancelled"
        end
        println("        control came back within ", round(slowest; digits = 3), " s")
        @test slowest < 1
    end

    check("borrowed kernels live and are let go") do
        expected = similarity(scmk(blobs(60)[3], 3))
        model = borrow_kernel!(Model(60, 3), blobs(60)[3])
        for _ in 1:3
            GC.gc()
            [randn(60, 60) for _ in 1:100]
        end
        @test similarity(fit!(model)) == expected
        @test length(model.borrowed) == 1
        # One that was refused is not kept.
        @test refused(() -> borrow_kernel!(model, zeros(60, 60)), :SCMK_E_DEGENERATE)
        @test length(model.borrowed) == 1
        clear_kernels!(model)
        @test isempty(model.borrowed) && refused(() -> fit!(model), :SCMK_E_STATE)
        wide = fill(NaN, 70, 60)
        wide[1:60, :] = blobs(60)[3]
        @test similarity(fit!(borrow_kernel!(model, view(wide, 1:60, :)))) == expected
    end

    check("close, finalize, and both at the wrong time") do
        model = add_kernel!(Model(60, 3), blobs(60)[3])
        fit!(model)
        close(model)
        @test !isopen(model) && close(model) === nothing && occursin("closed", string(model))
        for call in (fit!, assignments, weights, similarity, info, cancel!, clear_kernels!,
                     SCMK.options, model -> set!(model; alpha = 1))
            @test refused(() -> call(model), :SCMK_E_INVALID_HANDLE, "destroyed")
        end
        finalize(model)

        # A finalizer that finds the model in use does not wait, and comes again.
        model = endless()
        fit!(_ -> (finalize(model); true), model)
        @test isopen(model) && outcome(model) == "cancelled" && usable(model)
        finalize(model)
        @test !isopen(model)
    end

    check("models come and go without leaving memory behind") do
        kernel = blobs(36)[3]
        function cycles(n, forget)
            for i in 1:n
                model = add_kernel!(Model(36, 3; threads = 1), kernel)
                SCMKResult(fit!(model))
                forget || close(model)
                i % 100 == 0 && GC.gc()
            end
        end
        for forget in (false, true)
            cycles(200, forget)
            before = resident_bytes()
            cycles(1000, forget)
            grown = (resident_bytes() - before) / 2^20
            println("        ", forget ? "forgotten" : "closed", ": ", round(grown; digits = 2), " MB")
            @test grown < 4
        end
    end

    check("the library is found where it is said to be") do
        code = "using SCMK; print(SCMK.library().path)"
        path = SCMK.library().path
        output, worked = julia(code; SCMK_LIBRARY = path)
        @test worked && output == path
        output, worked = julia(code; SCMK_LIBRARY = "/no/such/library.so")
        @test !worked && occursin("/no/such/library.so", output) && occursin("SCMK_LIBRARY", output)
        # A copy that is in no checkout: remembered by its build, or looked for by the loader.
        mktempdir() do folder
            for part in ("Project.toml", "src", "deps")
                cp(joinpath(dirname(@__DIR__), part), joinpath(folder, part))
            end
            rm(joinpath(folder, "deps", "library"); force = true)
            search = dirname(path) * ":" * get(ENV, "LD_LIBRARY_PATH", "")
            output, worked = julia(code; project = folder, SCMK_LIBRARY = nothing,
                                   LD_LIBRARY_PATH = search)
            @test worked && basename(output) == "libscmk.so.1"
            build = joinpath(folder, "deps", "build.jl")
            @test julia("include(\"$build\")"; SCMK_LIBRARY = path)[2]
            output, worked = julia(code; project = folder, SCMK_LIBRARY = nothing)
            @test worked && output == path
        end
    end

    check("everything that is exported has a docstring") do
        documented = keys(Base.Docs.meta(SCMK))
        for name in [names(SCMK); [:options, :infos, :metrics, :methods_available, :library, :Progress]]
            @test any(binding -> binding.var === name, documented)
        end
    end
end
