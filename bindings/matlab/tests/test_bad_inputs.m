function tests = test_bad_inputs()
% What is refused, in the words that all languages share, and what only this language can say.
lines = strsplit(strtrim(fileread(golden('bad_inputs.csv'))), sprintf('\n'));
tests = cell(numel(lines) - 1, 2);
for i = 2:numel(lines)
    comma = find(lines{i} == ',', 5);
    ends = [comma, numel(lines{i}) + 1];
    starts = [1, comma + 1];
    cells = arrayfun(@(a, b) strtrim(lines{i}(a:b - 1)), starts, ends, 'UniformOutput', false);
    cells{6} = cells{6}(2:end - 1);
    tests(i - 1, :) = {cells{1}, @() refused(cells{:})};
end
tests = [tests; {
    'identifiers', @identifiers
    'host_types', @host_types
    'number_of_clusters', @number_of_clusters
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
        action = @() scmk(bad, 3);
    case 'feature'
        at = sscanf(argument, '%d') + 1;
        bad = features{1};
        bad(at(1), at(2)) = number;
        action = @() scmk(bad, 3, 'features', true, 'kernels', 'linear');
    case 'clusters'
        action = @() scmk(kernel, number);
    case 'option'
        if ~isnan(number)
            value = number;
        end
        action = @() scmk(kernel, 3, argument, value);
    case 'kernels'
        action = @() scmk(features{1}, 3, 'features', true, 'kernels', value);
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
[~, truth, K] = three_groups(12);
assert(isequal(scmk(K, 3), truth), 'the next fit is wrong');
assert(~mislocked('scmk_mex'), 'the MEX file is still locked');
end

function identifiers()
[~, ~, K] = three_groups(12);
raises('scmk:Degenerate', [], @() scmk(zeros(12), 3));
raises('scmk:NotPsd', [], @() scmk(diag((-1) .^ (1:12)), 3));
raises('scmk:OutOfMemory', [], @() scmk(K, 3, 'memory_limit', 1));
raises('scmk:Dimension', [], @() scmk({K, K(1:11, 1:11)}, 3));
works();
end

function host_types()
[X, ~, K] = three_groups(12);
raises('scmk:InvalidArgument', [], @() scmk(sparse(K), 3));
raises('scmk:InvalidArgument', [], @() scmk(K + 1i, 3));
for class = {'single', 'int8', 'int32', 'uint64'}
    message = sprintf('a matrix of class %s is given, double is expected: use double()', class{1});
    raises('scmk:InvalidArgument', message, @() scmk(cast(eye(12), class{1}), 3));
    raises('scmk:InvalidArgument', message, @() scmk({K, cast(eye(12), class{1})}, 3));
    raises('scmk:InvalidArgument', message, @() scmk(K, 3, 'features', cast(X, class{1})));
end
raises('scmk:InvalidArgument', [], @() scmk('kernel', 3));
raises('scmk:InvalidArgument', [], @() scmk(struct('a', 1), 3));
raises('scmk:InvalidArgument', [], @() scmk({K, 'kernel'}, 3));
raises('scmk:InvalidArgument', [], @() scmk({K, {K}}, 3));
raises('scmk:InvalidArgument', [], @() scmk(ones(3, 3, 2, 2), 3));
raises('scmk:InvalidArgument', [], @() scmk(sparse(X), 3, 'features', true));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'features', true, 'kernels', 7));
raises('scmk:InvalidArgument', [], @() scmk(X, 3, 'features', true, 'kernels', ''));
raises('scmk:InvalidArgument', [], @() scmk(K));
works();
end

function number_of_clusters()
[~, ~, K] = three_groups(12);
for k = {-1, 2.5, NaN, Inf, [], [2 3], '3', 2i, sparse(1, 2), {3}}
    raises('scmk:InvalidArgument', [], @() scmk(K, k{1}));
end
works();
end

function sizes()
[X, ~, K] = three_groups(12);
raises('scmk:Dimension', [], @() scmk(K(:, 1:11), 3));
raises('scmk:Dimension', [], @() scmk([], 3));
raises('scmk:Dimension', [], @() scmk({}, 3));
raises('scmk:Dimension', [], @() scmk({X, X(1:11, :)}, 3, 'features', true));
raises('scmk:Dimension', [], @() scmk(zeros(12, 0), 3, 'features', true));
raises('scmk:Dimension', [], @() scmk({X, X}, 3, 'features', true, 'kernels', {'linear'}));
works();
end

function option_values()
[~, ~, K] = three_groups(12);
for value = {[], [1 2], 1i, struct(), {1}, @sin, sparse(1)}
    raises('scmk:InvalidArgument', [], @() scmk(K, 3, 'alpha', value{1}));
end
raises('scmk:InvalidArgument', [], @() scmk(K, 3, 'alpha'));
raises('scmk:InvalidArgument', [], @() scmk(K, 3, 7, 1));
raises('scmk:InvalidArgument', [], @() scmk(K, 3, 'alpha', NaN));
raises('scmk:InvalidArgument', [], @() scmk(K, 3, 'seed', intmax('uint64')));
raises('scmk:InvalidArgument', [], @() scmk(K, 3, 'progress', 'disp'));
raises('scmk:InvalidArgument', [], @() scmk_path(K, 3, 'alpha', []));
raises('scmk:InvalidArgument', [], @() scmk_path(K, 3, 'alpha', [1 -1]));
works();
end

function metric_arguments()
raises('scmk:Dimension', [], @() scmk_metric('nmi', [1 2], [1 2 3]));
raises('scmk:Dimension', [], @() scmk_metric('nmi', [], []));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi', [1 2.5], [1 2]));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi', [1 NaN], [1 2]));
raises('scmk:InvalidArgument', [], @() scmk_metric('nmi'));
end
