# All tests of the package: julia --project=bindings/julia bindings/julia/test/runtests.jl
# One line for each test. With JULIA_NUM_THREADS=2 also those that need a second thread.

using DelimitedFiles, LinearAlgebra, SparseArrays, Test
using SCMK
using SCMK: assignments, counts, nclusters, weights, similarity, embedding, trace, info, outcome, fit!,
    kernel_names, view_names, view_weights, certified, chosen

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

# Points without any clusters: sums of numbers that are as good as random.
noise(n, seed) = [sum(mod(43758.5453 * sin(12.9898i + 78.233j + 37.719k + seed), 1) - 0.5 for k in 1:12)
                  for j in 1:2, i in 1:n]

# A model whose fit takes several iterations.
function gradual(n = 150)
    x, truth, kernel = blobs(n)
    model = Model(n, 3; preset = "joint", tolerance = 0)
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
    again = isempty(features) ? scmk(kernels, clusters; kernels = "precomputed", options...) :
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
    kind == "clusters" && return model, () -> scmk(kernel, number(value); kernels = "precomputed")
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
        name, status, kind, argument, value, _, message = String.(strip.(bad[i, :]))
        check("bad input $name") do
            model, work = bad_input(kind, argument, value)
            error = thrown(work)
            @test error isa SCMKError
            @test (error.status, error.message) == (Symbol(status), message)
            @test occursin(message, sprint(showerror, error))
            # Nothing is lost: the model solves what it would have solved before.
            if model.n_samples == size(table("one_kernel", "kernel1"), 1)
                add_kernel!(model, table("one_kernel", "kernel1"))
                fit!(set!(model; preset = "joint", alpha = 0.1, beta = 0.001))
                @test assignments(model) == Int.(vec(table("one_kernel", "labels"))) .+ 1
            end
        end
    end

    check("every method, and what it does not have") do
        x, truth, kernel = blobs(60)
        methods = SCMK.methods_available()
        @test length(methods) >= 7
        for method in methods
            result = scmk([kernel, x' * x], 3; kernels = "precomputed", method = method)
            @test metric(:accuracy, truth, result) == 1
            @test nclusters(result) == 3 && counts(result) == [20, 20, 20]
            @test length(weights(result)) == 2 && all(>=(0), weights(result))
            @test all(diff(trace(result)) .<= 1e-12 * abs(first(trace(result))))
            @test (similarity(result) === nothing) == (method != "scmk")
            @test (embedding(result) === nothing) == !(method in ("scmk", "sc", "aasc"))
            @test (info(result).kkt_residual === nothing) == (method != "scmk")
            @test info(result).has_similarity == (method == "scmk")
            @test info(result).has_embedding == (embedding(result) !== nothing)
            @test info(result).outcome == 0 && outcome(result) == "converged"
            @test collect(keys(info(result))) == [one.name for one in SCMK.infos()]
            @test result.options.method == method
        end
    end

    check("methods are listed by the library") do
        methods = SCMK.clustering_methods()
        @test first(methods).name === :scmk
        @test all(method -> !isempty(method.doc), methods)
        @test SCMK.methods_available() == [string(method.name) for method in methods]
        option = only(filter(option -> option.name === :method, SCMK.options()))
        @test option.choices == SCMK.methods_available()
        @test option.default == first(option.choices)
        name = Ref{Cstring}()
        listed(index) = ccall(SCMK.entry(:scmk_method_name), Int32,
                              (Csize_t, Ref{Cstring}, Ptr{Cvoid}), index, name, C_NULL)
        @test listed(length(methods) - 1) == SCMK.OK
        @test refused(() -> SCMK.check(listed(length(methods))), :SCMK_E_INVALID_ARGUMENT)
    end

    check("kernel functions are listed by the library") do
        x, _, _ = blobs(12)
        functions = SCMK.kernel_functions()
        @test !isempty(functions)
        for one in functions
            @test !isempty(one.doc)
            full = isempty(one.parameters) ? string(one.name) : "$(one.name)($(one.parameters))"
            @test scmk(x, 3; kernels = "$full; $(one.name)").kernel_names == [full, full]
            @test scmk(x, 3; kernels = one.name).kernel_names == [full]
        end
        name = Ref{Cstring}()
        listed(index) = ccall(SCMK.entry(:scmk_kernel_function_name), Int32,
                              (Csize_t, Ref{Cstring}, Ptr{Cvoid}, Ptr{Cvoid}), index, name, C_NULL, C_NULL)
        @test refused(() -> SCMK.check(listed(length(functions))), :SCMK_E_INVALID_ARGUMENT)
    end

    check("steps that prepare features are listed by the library") do
        x, _, _ = blobs(12)
        counts = round.(abs.(x))    # which no step refuses
        steps = SCMK.preparations()
        @test !isempty(steps)
        for one in steps
            @test !isempty(one.doc)
            # What auto does is told in its place.
            done = one.name === :auto ? :standardize : one.name
            @test scmk(counts, 3; kernels = "$(one.name); linear").kernel_names == ["$done; linear"]
            @test refused(() -> scmk(counts, 3; kernels = "linear; $(one.name)"), :SCMK_E_INVALID_ARGUMENT,
                          "kernels = '$(one.name)' is not allowed: features are prepared before the first " *
                          "kernel of the list")
        end
        constant = [x; fill(0.1, 1, 12)]    # a feature that never changes becomes 0
        fitted(x) = scmk(x, 3; kernels = "standardize; gaussian").trace
        @test fitted(constant) ≈ fitted(x)
        name = Ref{Cstring}()
        listed(index) = ccall(SCMK.entry(:scmk_preparation_name), Int32,
                              (Csize_t, Ref{Cstring}, Ptr{Cvoid}), index, name, C_NULL)
        @test listed(length(steps) - 1) == SCMK.OK
        @test refused(() -> SCMK.check(listed(length(steps))), :SCMK_E_INVALID_ARGUMENT)
    end

    check("results of a model and of scmk agree, and are displayed") do
        x, truth, kernel = blobs(60)
        model = fit!(add_kernel!(Model(60, 3; alpha = 0.5), kernel))
        result = scmk(kernel, 3; kernels = "precomputed", alpha = 0.5)
        for part in (assignments, counts, nclusters, chosen, weights, similarity, embedding, certified, trace,
                     outcome, kernel_names, view_names, view_weights)
            @test part(model) == part(result)
            part === nclusters || @test getfield(result, nameof(part)) == part(result)
        end
        @test result.info === info(result) && result.options.alpha == 0.5
        @test info(model).objective == info(result).objective == info(model, "objective")
        graph = similarity(result)
        @test graph isa SparseMatrixCSC{Float64,Int} && all(isapprox.(sum(graph; dims = 1), 1))
        @test nnz(graph) == info(result).similarity_nnz && size(embedding(result)) == (60, 3)
        text = sprint(show, MIME("text/plain"), result)
        @test occursin("60 samples in 3 clusters by method scmk", text) && occursin("converged", text)
        @test occursin("quality  silhouette 0.", text) && !occursin(r"chosen|warning", text)
        @test occursin("60 samples", string(result)) && occursin("60 samples", string(model))
    end

    check("the graph is as good as kkt_residual says, for what it was given") do
        kernels = [blobs(30)[3], blobs(30)[3] .^ 4]
        # The largest relative duality gap of a column, by the formula.
        function gap(result, kernels, alpha, beta)
            seen, z = certified(result), Matrix(similarity(result))
            mixed = sum(kernels .* seen.weights)
            centring = I - fill(1 / 30, 30, 30)
            apart = [sum(abs2, seen.embedding[i, :] - seen.embedding[j, :]) for i in 1:30, j in 1:30]
            gradient = 2 * (centring * mixed * centring * (z - I) + alpha * z) + beta / 2 * apart
            return maximum(sum(gradient .* z; dims = 1) - minimum(gradient; dims = 1)) /
                (maximum(abs, mixed) + alpha)
        end
        solve(kernels, beta) = scmk(kernels, 3; kernels = :precomputed, normalize = "none",
                                    alpha = 0.5, beta = beta)
        for (count, beta) in (1 => 0, 2 => 0.1)
            result = solve(kernels[1:count], beta)
            @test gap(result, kernels[1:count], 0.5, beta) <= 2 * result.info.kkt_residual + 1e-9
        end
        seen = certified(solve(kernels[1:1], 0))
        @test seen == (weights = [1.0], embedding = zeros(30, 3))
        @test norm(certified(solve(kernels, 0.1)).embedding) ≈ sqrt(3)
        @test certified(scmk(kernels, 3; kernels = :precomputed, method = :kkm)) === nothing
        model = add_kernel!(Model(30, 3), kernels[1])
        @test refused(() -> certified(model), :SCMK_E_STATE)
        cancel!(model)
        @test certified(fit!(model)) === nothing
    end

    check("a result needs a fit") do
        model = Model(12, 3)
        for part in (assignments, counts, weights, similarity, embedding, trace, info, outcome,
                     SCMKResult, fit!)
            @test refused(() -> part(model), :SCMK_E_STATE)
        end
        @test info(model, :memory_required) > 0
        @test (info(model, :samples), info(model, :clusters)) == (12, 3)
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
        ready(kernel) = scmk(kernel, 3; kernels = "precomputed")
        expected = similarity(ready(kernel))
        padded = fill(NaN, 40, 70)
        padded[3:32, 1:2:59] = kernel
        hollow = fill(NaN, 60, 30)
        hollow[1:2:60, :] = kernel
        for same in (Symmetric(kernel), kernel', sparse(kernel), view(padded, 3:32, 1:2:59),
                     view(hollow, 1:2:60, :), view(kernel, 30:-1:1, 30:-1:1)[30:-1:1, 30:-1:1],
                     Any[value for value in kernel], reshape(vec(kernel), 30, 30))
            @test similarity(ready(same)) == expected
            @test similarity(fit!(add_kernel!(Model(30, 3), same))) == expected
        end
        reversed = view(kernel, 30:-1:1, 30:-1:1)
        @test assignments(ready(reversed)) == assignments(ready(collect(reversed)))
        @test metric("accuracy", truth, ready(Float32.(kernel))) == 1
        @test metric("accuracy", truth, ready(round.(Int, 1000kernel + 50I))) == 1

        expected = similarity(scmk(x, 3; kernels = "linear"))
        rows = collect(x')
        wide = fill(NaN, 4, 30)
        wide[1:2:4, :] = x
        for same in (rows', view(wide, 1:2:4, :), view(hcat(x, x), :, 31:60), sparse(x),
                     transpose(rows), permutedims(rows))
            @test similarity(scmk(same, 3; kernels = "linear")) == expected
        end
    end

    check("the first argument is features, unless kernels says precomputed") do
        x, truth, kernel = blobs(30)
        plain = scmk(x, 3)
        @test length(plain.weights) == 1 && metric("accuracy", truth, plain) == 1
        for kernels in ("auto", :auto, nothing, "", [:auto], ("auto",))
            @test scmk(x, 3; kernels = kernels).trace == plain.trace
        end
        pool = scmk(x, 3; kernels = "paper")
        @test length(pool.weights) == 12 && metric("accuracy", truth, pool) == 1
        @test scmk(collect(x[1:1, :]), 3; kernels = :linear).weights ==
            scmk(x[1, :]', 3; kernels = "linear").weights
        @test length(scmk([x, x .^ 2], 3; kernels = "linear; gaussian(t=1)").weights) == 4
        both = scmk([x, x .^ 2], 3; kernels = ["linear", "gaussian(t=1); linear"])
        @test length(both.weights) == 3
        @test scmk((x, x .^ 2), 3; kernels = (:linear, "gaussian(t=1); linear")).weights ==
            both.weights

        error = thrown(() -> scmk(x, 3; kernels = "precomputed"))
        @test error isa DimensionMismatch && occursin("2×30", error.msg) &&
            occursin("precomputed", error.msg)
        @test refused(() -> scmk([1 0.5; 0.2 1], 2; kernels = "precomputed"), :SCMK_E_ASYMMETRIC,
                      "(2, 1) = 0.2")
        for wrong in (kernel, [kernel])
            error = thrown(() -> scmk(x, 3; kernels = wrong))
            @test error isa ArgumentError && occursin("kernels = \"precomputed\"", error.msg)
        end
        @test refused(() -> scmk(kernel, 3; kernels = "precomputed; linear"), :SCMK_E_UNKNOWN_OPTION)
        both = scmk((own = kernel, raw = x), 3; kernels = ["precomputed", "linear"])
        @test both.kernel_names == ["own", "raw: linear"] && metric("accuracy", truth, both) == 1
        for kernels in ((:precomputed, :linear), (raw = "linear", own = "precomputed"))
            @test scmk((own = kernel, raw = x), 3; kernels = kernels).weights == both.weights
        end
        @test thrown(() -> scmk(x, 3; kernels = ["linear", "linear"])) isa DimensionMismatch
        @test thrown(() -> scmk(x, 3; kernels = 3)) isa ArgumentError
        error = thrown(() -> scmk([1.0, 2.0], 3))
        @test error isa ArgumentError && occursin("x'", error.msg)
        @test thrown(() -> scmk(Matrix{Float64}[], 3)) isa ArgumentError
        @test thrown(() -> scmk("paper", 3)) isa ArgumentError
        @test thrown(() -> scmk([x, "paper"], 3)) isa ArgumentError
        @test refused(() -> scmk(x, 3; aplha = 1), :SCMK_E_UNKNOWN_OPTION, "'alpha'")
        @test refused(() -> scmk([x, x[:, 1:7]], 3; kernels = "linear"), :SCMK_E_DIMENSION,
                      "n_samples of view 2: 7 given, the model has 30")
        @test refused(() -> scmk([kernel, kernel[1:7, 1:7]], 3; kernels = "precomputed"),
                      :SCMK_E_DIMENSION, "30")
    end

    check("features that look like a kernel are warned of") do
        x, truth, kernel = blobs(60)
        for data in (kernel, [x, kernel], (a = x, b = kernel .* (1 .+ 1e-12 .* (1:60))))
            @test_logs (:warn, r"square symmetric.*kernels = \"precomputed\"") scmk(data, 3;
                kernels = "linear")
        end
        @test_logs (:warn, r"of view 'b'") scmk((a = x, b = kernel), 3)
        # Who says what it is, or gives anything else, is left alone.
        for precomputed in ("precomputed", :precomputed, ["precomputed"])
            @test_logs scmk(kernel, 3; kernels = precomputed)
        end
        @test_logs scmk([x, kernel], 3; kernels = ["linear", "precomputed"])
        square = x[:, 1:2]
        @test_logs scmk(x, 3)
        @test_logs scmk(square, 2; kernels = "linear")
        @test_logs scmk(kernel .* (1:60), 3; kernels = "linear")
    end

    check("views have names, and so have kernels and shares") do
        x, truth, kernel = blobs(30)
        plain = scmk(x, 3; kernels = "gaussian(t=1); linear")
        @test plain.kernel_names == ["gaussian(t=1)", "linear"]
        @test plain.view_names == ["view 1"] && plain.view_weights ≈ [1]
        @test scmk([x, x .^ 2], 3; kernels = :linear).kernel_names ==
            ["view 1: linear", "view 2: linear"]
        named = scmk((b = x, a = x .^ 2), 3; kernels = "gaussian(t=1); linear")
        @test named.view_names == ["b", "a"]
        @test named.kernel_names ==
            ["b: gaussian(t=1)", "b: linear", "a: gaussian(t=1)", "a: linear"]
        total = sum(named.weights)
        @test named.view_weights ≈ [sum(named.weights[1:2]), sum(named.weights[3:4])] ./ total
        for same in (["b" => x, "a" => x .^ 2], [:b => x, :a => x .^ 2], (:b => x, "a" => x .^ 2))
            again = scmk(same, 3; kernels = "gaussian(t=1); linear")
            @test again.kernel_names == named.kernel_names && again.weights == named.weights
        end
        # A dictionary is taken in the order of its names.
        sorted = scmk(Dict("b" => x, "a" => x .^ 2), 3; kernels = Dict(:a => "linear", :b => :paper))
        @test sorted.view_names == ["a", "b"] && length(sorted.weights) == 13
        @test sorted.kernel_names[1:2] == ["a: linear", "b: gaussian(t=0.01)"]
        @test scmk((b = x, a = x .^ 2), 3; kernels = (a = "linear", b = "linear")).kernel_names ==
            ["b: linear", "a: linear"]
        for (kernels, words) in ((a = "linear",) => "\"b\"", (a = "linear", c = "linear") => "\"c\"")
            error = thrown(() -> scmk((a = x, b = x), 3; kernels = kernels))
            @test error isa ArgumentError && occursin(words, error.msg)
        end
        @test scmk((mine = kernel,), 3; kernels = "precomputed").kernel_names == ["mine"]
        @test scmk([kernel, kernel .^ 2], 3; kernels = "precomputed").kernel_names ==
            ["kernel 1", "kernel 2"]

        bad = copy(x)
        bad[2, 4] = NaN
        @test refused(() -> scmk((height = x, width = bad), 3), :SCMK_E_NOT_FINITE,
                      "'width' entry (4, 2) is NaN")
        @test refused(() -> scmk(("" => x,), 3), :SCMK_E_INVALID_ARGUMENT, "255")
        @test thrown(() -> scmk(("a\0" => x,), 3)) isa ArgumentError
        long = "ä"^127
        @test scmk((long => x,), 3; kernels = "linear").kernel_names == [long * ": linear"]

        model = Model(30, 3)
        add_features!(model, x; kernels = :linear, name = :features)
        add_kernel!(model, kernel; name = "copied")
        borrow_kernel!(model, kernel; name = "borrowed")
        add_kernel!(model, kernel)
        # One that is refused leaves no name behind.
        for add! in (add_kernel!, borrow_kernel!)
            @test refused(() -> add!(model, zeros(30, 30); name = "empty"), :SCMK_E_DEGENERATE, "'empty'")
            @test thrown(() -> add!(model, kernel; name = "a\0")) isa ArgumentError
        end
        @test length(model.borrowed) == 1
        @test refused(() -> add_features!(model, bad; name = "worse"), :SCMK_E_NOT_FINITE, "'worse'")
        @test refused(() -> add_features!(model, x; kernels = "gausian", name = "worse"),
                      :SCMK_E_UNKNOWN_OPTION)
        add_kernel!(model, kernel)
        @test kernel_names(model) == ["features: linear", "copied", "borrowed", "kernel 4", "kernel 5"]
        @test view_names(model) == ["features", "copied", "borrowed", "kernel 4", "kernel 5"]
        @test refused(() -> view_weights(model), :SCMK_E_STATE)
        @test sum(view_weights(fit!(model))) ≈ 1
    end

    check("results are displayed with their names") do
        x, truth, kernel = blobs(30)
        display(result) = sprint(show, MIME("text/plain"), result)
        text = display(scmk((flat = x, steep = x .^ 2), 3; kernels = "paper"))
        @test occursin(r"weights  \w+: .* => 0\.\d+\n", text)
        @test occursin("and 12 smaller ones", text) && occursin(r"views    flat => .* %, steep => ", text)
        text = display(scmk(x, 3; kernels = "linear"))
        @test occursin("weights  linear => 1.0\n", text) && !occursin("views", text)
        @test occursin(r"fit      converged after \d+ iterations?, objective \d", text)
        # Stopped before anything was there.
        model = add_kernel!(Model(30, 3), kernel)
        local result
        for method in SCMK.methods_available()
            set!(model; method = method)
            cancel!(model)
            result = SCMKResult(fit!(model))
            @test result.trace == [] && endswith(first(split(display(result), ", obj")),
                                                 "cancelled after 0 iterations")
        end
        @test result.info.objective === nothing && result.embedding === nothing
    end

    check("names do not clash with Clustering.jl and StatsBase.jl") do
        theirs = [:ClusteringResult, :nclusters, :counts, :wcounts, :assignments, :kmeans, :kmeans!,
                  :kmedoids, :dbscan, :fuzzy_cmeans, :silhouettes, :varinfo, :randindex, :vmeasure,
                  :mutualinfo, :hclust, :cutree, :mcl, :affinityprop, :sample, :fit, :fit!, :weights,
                  :predict, :predict!, :trim, :scattermat, :mode, :nobs, :summarystats]
        @test isempty(intersect(theirs, names(SCMK)))
    end

    check("the number of clusters changes, and the kernels stay") do
        x, truth, kernel = blobs(30)
        model = add_features!(Model(30, 2; alpha = 0.5), x; kernels = "gaussian(t=1); linear")
        for k in 2:5
            fit!(set_clusters!(model, k))
            again = scmk(x, k; kernels = "gaussian(t=1); linear", alpha = 0.5)
            @test assignments(model) == again.assignments && weights(model) == again.weights
            @test nclusters(model) == k && length(counts(model)) == k
            @test size(embedding(model)) == (30, k)
        end
        @test refused(() -> set_clusters!(model, 31), :SCMK_E_DIMENSION, "31")
        @test thrown(() -> set_clusters!(model, -1)) isa ArgumentError
        @test nclusters(model) == 5 && length(assignments(model)) == 30
        set_clusters!(model, 3)
        @test refused(() -> assignments(model), :SCMK_E_STATE)
        @test usable(model)
    end

    check("plain defaults prepare the features and choose the kernel") do
        x, truth, kernel = blobs(60)
        result = @test_logs scmk(x, 3)
        @test result.options.preset == "auto"
        @test result.kernel_names == ["standardize; gaussian(t=25,neighbors=7)"]
        @test metric("accuracy", truth, result) == 1
        @test isempty(result.info.warning) && result.info.silhouette > 0.5
        @test (result.info.smallest_cluster, result.info.largest_cluster) == (20, 20)
        @test scmk(x, 3; kernels = "auto; linear").kernel_names == ["standardize; linear"]
        @test trace(fit!(add_features!(Model(60, 3), x))) == result.trace
        # The unit of a feature means nothing.
        @test scmk(x .* [1024, 1], 3).assignments == result.assignments
        # The model as it was before there was a choice is a preset.
        joint = scmk([x, x .^ 2], 3; preset = :joint, kernels = "gaussian(t=1); linear")
        @test sum(sqrt, joint.weights) ≈ 1 && joint.options.weighting == "model"
    end

    check("a view of noise has no weight") do
        x, truth, _ = blobs(90)
        result = @test_logs scmk((plain = x, turned = [1 -1; 1 1] * x, noise = noise(90, 3)), 3)
        @test result.weights[3] == 0 && sum(result.weights) ≈ 1 && metric("accuracy", truth, result) == 1
    end

    check("the number of clusters is suggested") do
        x, truth, kernel = blobs(90)
        model = fit!(add_features!(Model(90, 2), x))
        labels = assignments(model)
        @test refused(() -> info(model, :suggested_clusters), :SCMK_E_STATE)
        found = suggest_clusters(model, 2:8)
        @test found.best == 3 && found.next != 3 && 0.5 < found.confidence <= 1
        @test found.range == 2:8 && length(found.scores) == 7 && argmax(found.scores) == 2
        # The model is as it was, and so is its result.
        @test nclusters(model) == 2 && assignments(model) == labels
        @test info(model, :suggested_clusters) == 3
        @test length(suggest_clusters(model, Base.OneTo(3)).scores) == 3
        @test suggest_clusters(x, 2:8).scores == found.scores
        @test suggest_clusters(kernel, 2:8; kernels = "precomputed").best == 3
        @test suggest_clusters((a = x, b = x .^ 2), 2:8; kernels = (a = "linear", b = "auto")).best == 3

        # Without a range it is that of a fit, which the library tells.
        found = suggest_clusters(x)
        @test found.range == 2:div(size(x, 2), 4) && length(found.scores) == length(found.range)
        @test found.best == suggest_clusters(model, nothing).best == nclusters(scmk(x)) == 3
        @test suggest_clusters(x[:, 1:1]).best == 1

        for range in (2:91, 2:typemax(Int))
            @test refused(() -> suggest_clusters(model, range), :SCMK_E_DIMENSION, "n_samples = 90")
        end
        for range in (0:0, 0:5, 5:4, -1:3, 5, 2:2:8, 2.0:3.0)
            error = thrown(() -> suggest_clusters(x, range))
            @test error isa ArgumentError && occursin("range: $range given", error.msg)
        end
        @test refused(() -> suggest_clusters(Model(90)), :SCMK_E_STATE, "no kernel")
        @test refused(() -> suggest_clusters(x; aplha = 1), :SCMK_E_UNKNOWN_OPTION, "'alpha'")
    end

    check("a suggestion is told in words") do
        display(suggestion) = sprint(show, MIME("text/plain"), suggestion)
        found = SCMKSuggestion(3, 4, 0.876, 2:5, [0.5, 0.9, 0.75, 0.123456])
        @test string(found) == "SCMKSuggestion(3 clusters)"
        @test display(found) == """
            SCMKSuggestion: 3 clusters, confidence 0.88; next to look at: 4
              scores     2 => 0.5
                         3 => 0.9  best
                         4 => 0.75
                         5 => 0.1235"""
        none = display(SCMKSuggestion(1, nothing, 0.5, 2:101, collect(100:-1.0:1)))
        @test startswith(none, "SCMKSuggestion: the samples do not fall into clusters, confidence 0.5\n")
        @test occursin("13 => 89.0\n", none) && endswith(none, "and 88 smaller ones")
    end

    check("samples that do not fall into clusters are said not to") do
        x = noise(120, 1)
        found = suggest_clusters(x, 1:8)
        @test found.best == 1 && occursin("do not fall into clusters", string(found))
        result = @test_logs (:warn, r"no number of clusters") scmk(x)
        @test result.assignments == ones(Int, 120) && result.counts == [120]
        @test result.info.silhouette === nothing
        @test occursin("120 samples in 1 cluster by", sprint(show, MIME("text/plain"), result))
    end

    check("the number of clusters is chosen by the fit") do
        x, truth, _ = blobs(90)
        model = Model(90)
        @test nclusters(model) == 0 && occursin("clusters to be chosen", string(model))
        add_features!(model, x)
        @test refused(() -> embedding(model), :SCMK_E_STATE)
        result = SCMKResult(fit!(model))
        @test nclusters(model) == nclusters(result) == 3 && chosen(model) && result.chosen
        @test metric("accuracy", truth, result) == 1 && result.counts == [30, 30, 30]
        @test result.info.clusters == result.info.suggested_clusters == 3
        @test result.info.suggested_confidence > 0.5
        @test size(result.embedding) == size(result.certified.embedding) == (90, 3)
        @test occursin(r"chosen   confidence \d", sprint(show, MIME("text/plain"), result))
        for again in (scmk(x), scmk(x, 0))
            @test again.chosen && again.assignments == result.assignments
        end
        # The same as if it had been asked for, and back again.
        asked = SCMKResult(fit!(set_clusters!(model, 3)))
        @test asked.assignments == result.assignments && !asked.chosen
        @test asked.info.suggested_clusters === nothing
        @test refused(() -> assignments(set_clusters!(model, 0)), :SCMK_E_STATE)
        for method in SCMK.methods_available()
            fit!(set!(model; method = method))
            @test counts(model) == [30, 30, 30] && metric("accuracy", truth, model) == 1
        end
        # Stopped before it could choose.
        cancel!(model)
        result = SCMKResult(fit!(model))
        @test result.outcome == "cancelled" && result.counts == [90] && result.chosen
        @test occursin("chosen   stopped before", sprint(show, MIME("text/plain"), result))
    end

    check("a suggestion is watched and can be stopped") do
        # So many samples that it takes longer than the tenth of a second between two calls.
        x, _, _ = blobs(1500)
        model = add_features!(Model(1500, 3; threads = 1), x)
        seen = SCMK.Progress[]
        @test suggest_clusters(model, 2:5; progress = p -> (push!(seen, p); nothing)).best == 3
        @test !isempty(seen) && all(p -> 0 <= p.fraction <= 1, seen)
        stopped(progress) = refused(() -> suggest_clusters(model, 2:5; progress = progress), :SCMK_E_STOPPED)
        @test stopped(_ -> true) && stopped(_ -> cancel!(model))
        for error in (ErrorException("mine"), InterruptException())
            @test thrown(() -> suggest_clusters(model; progress = _ -> throw(error))) === error
        end
        busy = Ref{Any}(nothing)
        @test stopped(_ -> (busy[] = thrown(() -> suggest_clusters(model)); true))
        @test busy[] isa SCMKError && busy[].status === :SCMK_E_BUSY
        set!(model; time_limit = 1e-9)
        @test stopped(nothing)
        # None of that is left over for a fit.
        @test outcome(fit!(set!(model; time_limit = 0))) == "converged"
        close(model)
        @test refused(() -> suggest_clusters(model), :SCMK_E_INVALID_HANDLE, "destroyed")
    end

    check("clusters of single samples are warned of") do
        x = [noise(40, 5) [300 0 -700 0; 0 500 0 -900]]
        model = add_features!(Model(44, 5; preset = :joint), x; kernels = "linear")
        @test_logs (:warn, "4 of 5 clusters are single samples") fit!(model)
        result = @test_logs (:warn, "4 of 5 clusters are single samples") scmk(x, 5; kernels = "linear",
                                                                             preset = :joint)
        @test result.info.warning == info(model, :warning) == "4 of 5 clusters are single samples"
        @test (result.info.smallest_cluster, result.info.largest_cluster) == (1, 40)
        @test occursin("\n  warning  4 of 5 clusters", sprint(show, MIME("text/plain"), result))
        # What was stopped at once is no answer yet.
        cancel!(model)
        @test_logs fit!(model)
        @test only(filter(one -> one.name === :warning, SCMK.infos())).type === :text
    end

    check("views that do not agree are warned of") do
        result = @test_logs (:warn, r"^no view or kernel confirms another") scmk([noise(80, 1), noise(80, 2)], 2)
        @test result.weights == [0.5, 0.5]
    end

    check("beta adapts until the graph falls into the clusters") do
        x, truth, _ = blobs(60)
        result = scmk(x, 3; adapt_beta = true)
        @test metric("accuracy", truth, result) == 1 && result.info.components == 3
        @test result.info.beta_used isa Float64
    end

    check("stability is told if it is asked for") do
        x, _, _ = blobs(60)
        @test scmk(x, 3).info.stability === nothing
        @test scmk(x, 3; subsamples = 5).info.stability ≈ 1
    end

    check("what is wrong is said") do
        @test thrown(() -> Model(-1, 2)) isa ArgumentError
        error = thrown(() -> Model(12, -1))
        @test error isa ArgumentError && occursin("-1 given, at least 0 expected", error.msg)
        model = Model(12, 3)
        @test thrown(() -> add_kernel!(model, zeros(12, 11))) isa DimensionMismatch
        @test refused(() -> add_kernel!(model, zeros(12, 12)), :SCMK_E_DEGENERATE, "kernel 1")
        @test refused(() -> add_features!(model, ones(2, 12); kernels = "gaussian(t=1); linear", name = "x"),
                      :SCMK_E_DEGENERATE, "kernel 2 (linear) of view 'x' is degenerate")
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
        # Messages count from 1, unless somebody wants it otherwise.
        @test SCMK.options(Model(12, 3)).index_base == 1
        @test refused(() -> add_kernel!(Model(12, 3; index_base = 0), zeros(12, 12)),
                      :SCMK_E_DEGENERATE, "kernel 0")
        @test SCMK.options(Model(12, 3; alpha = 9, seed = typemax(Int64))).seed == typemax(Int64)
    end

    check("a preset comes first, wherever it stands") do
        for model in (Model(12, 3; preset = "paper", alpha = 7), Model(12, 3; alpha = 7, preset = :paper),
                      set!(Model(12, 3); alpha = 7, seed = 3, preset = "paper"))
            now = SCMK.options(model)
            @test (now.alpha, now.beta, now.normalize, now.preset) == (7, 1e-5, "max", "custom")
        end
        result = scmk(blobs(30)[1], 3; beta = 0.5, preset = "paper")
        @test (result.options.alpha, result.options.beta) == (0.01, 0.5)
        # One by one, the order is the caller's.
        model = set!(set!(Model(12, 3), :alpha, 7), :preset, "paper")
        @test SCMK.options(model).alpha == 0.01
    end

    check("what the options say about limits holds for kernels, too") do
        doc(name) = only(filter(option -> option.name === name, SCMK.options())).doc
        @test occursin("any other call", doc(:time_limit)) && occursin("kernels", doc(:memory_limit))
        x = blobs(60)[1]
        @test refused(() -> scmk(x, 3; memory_limit = 1000), :SCMK_E_OUT_OF_MEMORY, "memory_limit")
        model = add_features!(Model(60, 3), x; kernels = "linear")
        @test info(model, :memory_kernels) >= 60 * 60 * 8 && info(model, :memory_required) > 0
        @test (info(model, :views), info(model, :kernels), info(model, :rescaled_kernels)) == (1, 1, 0)
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
        # Of a model, by the library's own labels.
        model = add_kernel!(Model(60, 3), blobs(60)[3])
        @test refused(() -> metric("ari", blobs(60)[2], model), :SCMK_E_STATE)
        fit!(model)
        other = [i % 4 for i in 1:60]
        for one in SCMK.metrics()
            @test metric(one.name, other, model) == metric(one.name, other, assignments(model))
        end
        @test refused(() -> metric("ari", other[1:59], model), :SCMK_E_DIMENSION, "59")
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
        result = scmk(blobs(60)[3], 3; kernels = "precomputed", progress = p -> p.step !== :kernels)
        @test outcome(result) == "cancelled" && length(assignments(result)) == 60
    end

    check("progress = true prints a plain line, and a function is told of kernels") do
        code = """
            using SCMK
            x = [sin(1.7i + 0.9i * j + j^2) + i % 5 for j in 1:10, i in 1:60]
            scmk(x, 3; progress = true)
            scmk(x, 3; progress = false)
            model = add_features!(Model(60, 3), x; kernels = "linear", progress = true)
            SCMK.fit!(model; progress = true)
            """
        output, worked = julia(code)
        lines = split(chomp(output), '\n')
        @test worked && length(lines) == 2
        @test all(line -> occursin(r"^scmk: \w+ after \d+ iterations?, objective \d", line), lines)

        # A line that is rewritten on a terminal; elsewhere one a second.
        at(step, fraction, objective) = SCMK.Progress(step, 4, fraction, objective)
        for terminal in (true, false)
            output = IOBuffer()
            line = SCMK.ProgressLine(output, terminal, time(), 0)
            line(at(:weights, 0.5, 1.0))
            @test isempty(take!(output))
            for progress in (at(:kernels, 0.251, NaN), at(:similarity, 1.0, 2 / 3), at(:iteration, 1.0, 3.5))
                line.told -= 2
                @test line(progress) === nothing
            end
            SCMK.erase(line)
            text = String(take!(output))
            @test occursin("scmk: kernels 25 %", text)
            @test occursin("scmk: similarity 100 %, 4 iterations complete, objective 0.666667", text)
            @test occursin("scmk: 4 iterations complete, objective 3.5", text)
            @test count(==('\n'), text) == (terminal ? 0 : 3) && endswith(text, terminal ? '\r' : '\n')
        end
    end

    check("adding kernels is told, and stopped by progress, cancel! and exceptions") do
        # So many features that it takes longer than the tenth of a second between two calls.
        x = [sin(1.7i + 0.9i * j + j^2) + i % 5 for j in 1:6000, i in 1:1500]
        model = Model(1500, 3; threads = 1)
        add!(progress) = add_features!(model, x; kernels = "linear", progress = progress)
        seen = SCMK.Progress[]
        add!(p -> (push!(seen, p); nothing))
        @test !isempty(seen) && all(p -> p.step === :kernels && 0 <= p.fraction <= 1, seen)
        clear_kernels!(model)
        @test refused(() -> add!(_ -> true), :SCMK_E_STOPPED)
        @test refused(() -> add!(_ -> cancel!(model)), :SCMK_E_STOPPED)
        for error in (ErrorException("mine"), InterruptException())
            @test thrown(() -> add!(_ -> throw(error))) === error
        end
        busy = Ref{Any}(nothing)
        @test refused(() -> add!(_ -> (busy[] = thrown(() -> fit!(model)); true)), :SCMK_E_STOPPED)
        @test busy[] isa SCMKError && busy[].status === :SCMK_E_BUSY
        @test info(model, :kernels) == 0 && info(model, :views) == 0
        set!(model; time_limit = 1e-9)
        error = thrown(() -> add!(nothing))
        @test error isa SCMKError && error.status === :SCMK_E_STOPPED &&
            error.message == "the call was stopped before it was complete: time limit"
        # One that was stopped is not kept.
        stopped = thrown(() -> borrow_kernel!(model, x' * x; progress = _ -> true))
        @test length(model.borrowed) == (stopped === nothing ? 1 : 0) == info(model, :views)
        close(model)
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
        @test thrown(() -> scmk(blobs(60)[1], 3; progress = _ -> error("mine"))) ==
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
        # Without a call it stops the next fit, and only that.
        cancel!(model)
        fit!(model)
        @test outcome(model) == "cancelled" && info(model).iterations == 0
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

        # Also while kernels are built, again and again lest it be done before.
        x = [sin(1.7i + 0.9i * j + j^2) + i % 5 for j in 1:10, i in 1:1500]
        model = Model(1500, 3; time_limit = 60)
        run(`sh -c "sleep 0.3; kill -INT $(getpid())"`; wait = false)
        rounds = 0
        error = thrown(() -> while true
            add_features!(model, x; kernels = join(("gaussian(t=$t)" for t in 1:20), ';'))
            clear_kernels!(model)
            rounds += 1
        end)
        @test error isa InterruptException && info(model, :kernels) % 20 == 0
        println("        interrupted in round ", rounds + 1)
        ccall(:jl_exit_on_sigint, Cvoid, (Cint,), 1)
    end

    check("stopping a large fit takes less than a second") do
        x = [sin(1.7i + 0.9i * j + j^2) + i % 5 for j in 1:10, i in 1:2000]
        model = add_features!(Model(2000, 5; preset = "joint", tolerance = 0, alpha = 30), x;
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
        expected = similarity(scmk(blobs(60)[3], 3; kernels = "precomputed"))
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

    check("the README's clustering of a CSV file runs, with a constant column, too") do
        readme = read(joinpath(dirname(@__DIR__), "README.md"), String)
        shown = match(r"```\n(SCMKResult: .*?)\n```"s, readme).captures[1]
        section = match(r"## Cluster a CSV file\n(.*?)\n## "s, readme).captures[1]
        write_file, cluster = [block.captures[1] for block in eachmatch(r"```julia\n(.*?)```"s, section)]
        constant = replace(replace(write_file, "width" => "width,same"), r"(\d\.\d)\n" => s"\1,7\n")
        @test constant != write_file
        for file in (write_file, constant)
            mktempdir() do folder
                code = file * cluster * "show(stdout, MIME(\"text/plain\"), result)"
                output, worked = cd(() -> julia(code; JULIA_LOAD_PATH = "@:@stdlib"), folder)
                @test worked && occursin("[3, 3, 3]", output) && endswith(output, shown)
                @test readdlm(joinpath(folder, "clusters.csv"), Int)[:] == repeat(1:3; inner = 3)
            end
        end
    end

    check("everything that is exported has a docstring") do
        documented = keys(Base.Docs.meta(SCMK))
        for name in [names(SCMK); [:options, :infos, :metrics, :clustering_methods, :methods_available,
                     :kernel_functions, :preparations, :library, :Progress, :assignments, :counts,
                     :nclusters, :weights, :kernel_names, :view_weights, :view_names, :similarity,
                     :embedding, :certified, :chosen, :trace, :info, :outcome, :fit!]]
            @test any(binding -> binding.var === name, documented)
        end
    end
end
