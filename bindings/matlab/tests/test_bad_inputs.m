function tests = test_bad_inputs()
% What is refused, in the words that all languages share, and what only this language can say.
lines = strsplit(strtrim(fileread(golden('bad_inputs.csv'))), sprintf('\n'));
tests = cell(numel(lines) - 1, 2);
for i = 2:numel(lines)
    comma = find(lines{i} == ',', 5);
    ends = [comma, numel(lines{i}) + 1];
    starts = [1, comma + 1];
    cells = arrayfun(@(a, b) strtrim(lines{i}(a:b - 1)), starts, ends, 'UniformOutput', false);
    % Two messages in quotes, counting from 0 and from 1: ours is the second.
    messages = strsplit(cells{6}(2:end - 1), '","');
    cells{6} = messages{2};
    tests(i - 1, :) = {cells{1}, @() refused(cells{:})};
end
tests = [tests; {
    'identifiers', @identifiers
    'host_types', @host_types
    'views_are_named', @views_are_named
    'looks_like_a_kernel', @looks_like_a_kernel
    'old_features_option', @old_features_option
    'case_of_unknown_names', @case_of_unknown_names
    'told_before_kernels_are_built', @told_before_kernels_are_built
    'number_of_clusters', @number_of_clusters
    'range_of_a_suggestion', @range_of_a_suggestion
    'sizes', @sizes
    'option_values', @option_values
    'metric_arguments', @metric_arguments
    }];
end

function refused(name, status, kind, argument, value, message) %#ok<INUSL>
words = strsplit(lower(strrep(status, 'SCMK_E_', '')), '_');
words = cellfun(@(word) [upper(word(1)) word(2:end)], words, 'UniformOutput', false);
identifier = ['scmk:' words{:}];
number = str2double(value);
kernel = golden_tables('one_kernel', 'kernel');
features = golden_tables('features', 'features');
switch kind
    case 'entry'
        at = sscanf(argument, '%d') + 1;
        bad = kernel{1};
        bad(at(1), at(2)) = number;
        action = @() scmk(bad, 3, 'kernels', 'precomputed');
    case 'feature'
        at = sscanf(argument, '%d') + 1;
        bad = features{1};
        bad(at(1), at(2)) = number;
        action = @() scmk(bad, 3, 'kernels', 'linear');
    case 'clusters'
        action = @() scmk(kernel, number, 'kernels', 'precomputed');
    case 'option'
        if ~isnan(number)
            value = number;
        end
        action = @() scmk(kernel, 3, 'kernels', 'precomputed', argument, value);
    case 'kernels'
        action = @() scmk(features{1}, 3, 'kernels', value);
    case 'metric'
        action = @() scmk_metric(value, [1 2 2], [1 2 2]);
    otherwise
        error('unknown kind %s', kind);
end
raises(identifier, message, action);
works();
end

% Nothing is lost by an error: the next call solves.
function works()
[X, truth] = three_groups(12);
assert(isequal(scmk(X, 3), truth), 'the next fit is wrong');
assert(~mislocked('scmk_mex'), 'the MEX file is still locked');
end

function identifiers()
[~, ~, K] = three_groups(12);
ready = {'kernels', 'precomputed'};
raises('scmk:Degenerate', [], @() scmk(zeros(12), 3, ready{:}));
raises('scmk:NotPsd', [], @() scmk(diag((-1) .^ (1:12)), 3, ready{:}));
raises('scmk:OutOfMemory', [], @() scmk(K, 3, ready{:}, 'memory_limit', 1));
raises('scmk:Dimension', [], @() scmk({K, K(1:11, 1:11)}, 3, ready{:}));
works();
end

function host_types()
[X, ~, K] = three_groups(12);
invalid = 'scmk:InvalidArgument';
raises(invalid, 'data: a sparse matrix is given, a full one is expected: use full()', ...
    @() scmk(sparse(X), 3));
raises(invalid, 'view ''graph'': a sparse matrix is given, a full one is expected: use full()', ...
    @() scmk(struct('points', X, 'graph', sparse(K)), 3, 'kernels', {'linear', 'precomputed'}));
raises(invalid, 'data: a complex matrix is given, a real one is expected: use real() or abs()', ...
    @() scmk(X + 1i, 3));
for class = {'single', 'int8', 'int32', 'uint64', 'logical'}
    message = sprintf('class %s is given, double is expected: use double()', class{1});
    other = feval(class{1}, X > 1);
    raises(invalid, ['data: ' message], @() scmk(other, 3));
    raises(invalid, ['view 2: ' message], @() scmk({X, other}, 3));
    raises(invalid, ['view ''b'': ' message], @() scmk(struct('a', X, 'b', other), 3));
    raises(invalid, ['data: ' message], ...
        @() scmk(feval(class{1}, eye(12)), 3, 'kernels', 'precomputed'));
end
raises(invalid, 'data: class char is given, a matrix of double is expected', @() scmk('points', 3));
% As a table of MATLAB, an object of a class that is no matrix.
[~, model] = scmk(X, 3);
raises(invalid, 'data: class scmk_result is given, a matrix of double is expected', ...
    @() scmk(model, 3));
raises(invalid, [], @() scmk(struct('a', 'text'), 3));
raises(invalid, [], @() scmk(struct('a', {X, X}), 3));
raises(invalid, [], @() scmk({X, 'points'}, 3));
raises(invalid, [], @() scmk({X, {X}}, 3));
raises(invalid, [], @() scmk(ones(3, 3, 2, 2), 3));
raises(invalid, [], @() scmk(X, 3, 'kernels', 7));
raises(invalid, [], @() scmk_suggest(sparse(X)));
raises(invalid, [], @() scmk(X, 3, 'kernels', []));
raises(invalid, [], @() scmk());
raises(invalid, [], @() scmk_suggest());
works();
end

function views_are_named()
X = three_groups(12);
bad = X;
bad(4, 2) = NaN;
raises('scmk:NotFinite', 'features of view 2 entry (4, 2) is NaN', @() scmk({X, bad}, 3));
raises('scmk:NotFinite', 'features of view ''colour'' entry (4, 2) is NaN', ...
    @() scmk(struct('shape', X, 'colour', bad), 3));
end

function looks_like_a_kernel()
[X, truth, K] = three_groups(60); %#ok<ASGLU>
lastwarn('', '');
evalc('idx = scmk(K, 3);');
assert(isequal(idx, truth));
[words, identifier] = lastwarn();
assert(strcmp(identifier, 'scmk:LooksLikeKernel'), '%s', words);
assert(strcmp(words, ['data: a square symmetric matrix, like a kernel matrix, is taken as ' ...
    'features; for a kernel matrix add ''kernels'', ''precomputed''']), '%s', words);
% Not where kernels are expected, nor for features that only happen to be square.
lastwarn('', '');
scmk({X, K}, 3, 'kernels', {'linear', 'precomputed'});
scmk([1 2; 3 5], 2);
assert(isempty(lastwarn()), '%s', lastwarn());
evalc('scmk(struct(''points'', X, ''graph'', K), 3);');
assert(strncmp(lastwarn(), 'view ''graph'': ', 14), '%s', lastwarn());
end

function old_features_option()
raises('scmk:UnknownOption', ['unknown option ''features'': the first argument is features, ' ...
    'without it; kernel matrices are given with ''kernels'', ''precomputed'''], ...
    @() scmk(three_groups(12), 3, 'Features', true));
end

function case_of_unknown_names()
X = three_groups(12);
raises('scmk:UnknownOption', 'unknown option ''alhpa'': the nearest known one is ''alpha''', ...
    @() scmk(X, 3, 'Alhpa', 1));
raises('scmk:UnknownOption', [], @() scmk(X, 3, 'Kernels', 'Gausian(t=1)'));
raises('scmk:UnknownOption', [], @() scmk_path(X, 3, 'Alhpa', [1 2]));
end

% Building can take long; a wrong word at its end would be annoying.
function told_before_kernels_are_built()
bad = NaN(12, 2);
raises('scmk:UnknownOption', [], @() scmk(bad, 3, 'aplha', 1));
raises('scmk:Dimension', [], @() scmk(bad, [2 3 13]));
raises('scmk:InvalidArgument', [], @() scmk_path(bad, 3, 'alpha', [1 2 -1]));
end

function number_of_clusters()
X = three_groups(12);
for k = {-1, 2.5, NaN, Inf, [2 2.5], '3', '', 2i, sparse(1, 2), {3}, {}}
    raises('scmk:InvalidArgument', [], @() scmk(X, k{1}));
end
raises('scmk:InvalidArgument', ...
    'k = 2.5 is not allowed: a whole number of clusters, or 0 to choose', @() scmk(X, 2.5));
raises('scmk:InvalidArgument', [], @() scmk_path(X, [2 3], 'alpha', [1 2]));
works();
end

function range_of_a_suggestion()
X = three_groups(12);
for range = {-1, 2.5, NaN, [2 Inf], '3', 2i, sparse(1, 2), {2, 3}}
    raises('scmk:InvalidArgument', [], @() scmk_suggest(X, range{1}));
end
raises('scmk:InvalidArgument', ...
    'range = 2.5 is not allowed: a whole number of clusters, or 0 to choose', ...
    @() scmk_suggest(X, [2.5 4]));
raises('scmk:Dimension', 'to: 13 given, at most n_samples = 12 expected', @() scmk_suggest(X, 2:13));
raises('scmk:Dimension', 'from: 0 given, from 1 to ''to'' = 4 expected', @() scmk_suggest(X, 0:4));
raises('scmk:Dimension', [], @() scmk_suggest([]));
raises('scmk:UnknownOption', [], @() scmk_suggest(X, 2:4, 'aplha', 1));
works();
end

function sizes()
[X, ~, K] = three_groups(12);
raises('scmk:Dimension', 'data: 12 rows and 11 columns are given, a kernel matrix is square', ...
    @() scmk(K(:, 1:11), 3, 'kernels', 'precomputed'));
raises('scmk:Dimension', [], @() scmk([], 3));
raises('scmk:Dimension', [], @() scmk({}, 3));
raises('scmk:Dimension', [], @() scmk(struct(), 3));
raises('scmk:Dimension', 'n_samples of view 2: 11 given, the model has 12', ...
    @() scmk({X, X(1:11, :)}, 3));
raises('scmk:Dimension', [], @() scmk(zeros(12, 0), 3));
raises('scmk:Dimension', [], @() scmk({X, X}, 3, 'kernels', {'linear'}));
works();
end

function option_values()
X = three_groups(12);
for value = {[], [1 2], 1i, struct(), {1}, @sin, sparse(1)}
    raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'alpha', value{1}));
end
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'alpha'));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 7, 1));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'alpha', NaN));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'seed', intmax('uint64')));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'progress', 'disp'));
raises('scmk:InvalidArgument', [], @() scmk_path(X, 3, 'alpha', []));
raises('scmk:InvalidArgument', [], @() scmk_path(X, 3, 'alpha', [1 -1]));
works();
end

function metric_arguments()
raises('scmk:Dimension', [], @() scmk_metric('nmi', [1 2], [1 2 3]));
raises('scmk:Dimension', [], @() scmk_metric('nmi', [], []));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi', [1 2.5], [1 2]));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi', [1 NaN], [1 2]));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi'));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi', {1, 2}, [1 2]));
raises('scmk:InvalidArgument', [], @() scmk_metric(7, [1 2], [1 2]));
assert(scmk_metric('Accuracy', [1 2], [2 1]) == 1);
end
