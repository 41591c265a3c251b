function tests = test_results()
% What a fit returns, for every way to give the data, every option and every method.
tests = {
    'fields', @fields
    'data_forms', @data_forms
    'number_classes', @number_classes
    'features', @features
    'arguments_stay', @arguments_stay
    'option_classes', @option_classes
    'every_option', @every_option
    'paths', @paths
    'metrics', @metrics
    'tables', @tables
    'version', @version_text
    'help', @help_texts
    };
names = scmk_methods();
assert(numel(names) > 1, 'no methods');
for i = 1:numel(names)
    tests(end + 1, :) = {['method_' names{i}], @() one_method(names{i})}; %#ok<AGROW>
end
end

function fields()
[X, truth, K] = three_groups(30);
[idx, model] = scmk({K, X * X'}, 3);
assert(iscolumn(idx) && isequal(idx, truth) && isequal(model.labels, idx));
assert(isequal(size(model.weights), [2 1]) && abs(sum(sqrt(model.weights)) - 1) < 1e-12);
assert(issparse(model.similarity) && isequal(size(model.similarity), [30 30]));
assert(all(abs(full(sum(model.similarity)) - 1) < 1e-9));
assert(nnz(model.similarity) == model.info.similarity_nnz);
assert(isequal(size(model.embedding), [30 3]));
assert(iscolumn(model.trace) && numel(model.trace) == model.info.iterations);
assert(all(diff(model.trace) <= 0) && model.trace(end) == model.objective);
assert(model.objective == model.info.objective);
assert(strcmp(model.outcome, 'converged') && model.info.outcome == 0);
assert(strcmp(model.method, 'scmk') && model.options.alpha == 1);
end

function one_method(name)
[X, truth, K] = three_groups(30);
[idx, model] = scmk({K, exp(-abs(X(:, 1) - X(:, 1)'))}, 3, 'method', name);
assert(isequal(idx, truth), 'wrong labels');
assert(strcmp(model.method, name));
assert(numel(model.weights) == 2 && all(model.weights > 0));
assert(all(diff(model.trace) <= 0));
% What a method does not have is absent.
assert(isempty(model.similarity) == ~strcmp(name, 'scmk'));
assert(isfield(model.info, 'kkt_residual') == strcmp(name, 'scmk'));
embeds = any(strcmp(name, {'scmk', 'sc', 'aasc'}));
assert(isempty(model.embedding) == ~embeds);
assert(isfield(model.info, 'components') == embeds);
assert(isfield(model.info, 'seconds') && isfield(model.info, 'memory_required'));
end

function data_forms()
[X, ~, K] = three_groups(30);
L = X * X';
[~, expected] = scmk({K, L}, 3);
[~, pages] = scmk(cat(3, K, L), 3);
[~, column] = scmk({K; L}, 3);
assert(isequal(pages.similarity, expected.similarity) && isequal(pages.weights, expected.weights));
assert(isequal(column.similarity, expected.similarity));
% Matrices that the host does not store in full.
I = eye(30);
[~, lazy] = scmk({K, I}, 3);
I(1, 1) = 1;
[~, stored] = scmk({K, I}, 3);
assert(isequal(lazy.similarity, stored.similarity));
% Ninety kernels: more than the first guess of the MEX file.
[~, many] = scmk(repmat(K, [1 1 90]), 3, 'method', 'kkm');
assert(numel(many.weights) == 90 && all(abs(many.weights - 1 / 90) < 1e-12));
end

function number_classes()
[X, truth] = three_groups(30);
L = round(4 * X) * round(4 * X)';
expected = scmk(L, 3);
assert(isequal(scmk(L, uint8(3)), expected) && isequal(scmk(L, single(3)), expected));
assert(isequal(scmk(truth == truth', 3), truth));
end

function features()
[X, truth, K] = three_groups(30);
[idx, model] = scmk(X, 3, 'features', true);
assert(isequal(idx, truth) && numel(model.weights) == 12);
[idx, model] = scmk({X, 2 * X}, 3, 'features', true, 'kernels', 'gaussian(t=0.1); linear');
assert(isequal(idx, truth) && numel(model.weights) == 4);
[~, model] = scmk({X, X}, 3, 'features', true, 'kernels', {'linear', 'linear; gaussian(t=1)'});
assert(numel(model.weights) == 3);
[~, both] = scmk(K, 3, 'features', X, 'kernels', 'linear');
[~, product] = scmk({K, X * X'}, 3);
assert(max(abs(both.weights - product.weights)) < 1e-9);
assert(isequal(scmk(K, 3, 'features', false), scmk(K, 3)));
end

% Kernels are lent, not copied: they must come back as they were.
function arguments_stay()
[X, ~, K] = three_groups(30);
K(1, 2) = K(1, 2) * (1 + 1e-12);
before = K + 0;
scmk(K, 3);
scmk({K, X * X'}, 3, 'method', 'rmkkm');
assert(isequal(K, before), 'the kernel has changed');
end

function option_classes()
[~, ~, K] = three_groups(12);
[~, m] = scmk(K, 3, 'alpha', single(0.5), 'restarts', int8(7), 'learn_weights', false, ...
    'seed', intmax('int64'), 'beta', '0.25', 'embedding', 'normalized', 'threads', true);
o = m.options;
assert(o.alpha == 0.5 && o.restarts == 7 && o.learn_weights == 0 && o.beta == 0.25);
assert(strcmp(o.embedding, 'normalized') && o.threads == 1);
assert(isa(o.seed, 'int64') && o.seed == intmax('int64'));
[~, m] = scmk(K, 3, 'seed', uint64(2) ^ 40);
assert(m.options.seed == 2 ^ 40);
% In order: the preset sets alpha, and is then overruled.
[~, m] = scmk(K, 3, 'preset', 'paper', 'alpha', 2);
assert(m.options.alpha == 2 && m.options.beta == 1e-5 && strcmp(m.options.normalize, 'max'));
end

% Each option by the name the library tells, with its default and with each choice.
function every_option()
[~, ~, K] = three_groups(12);
options = scmk_options();
[~, m] = scmk(K, 3);
assert(isequal(sort(fieldnames(m.options)), sort({options.name}')));
for o = options'
    [~, m] = scmk(K, 3, o.name, o.default);
    assert(isequal(m.options.(o.name), o.default), '%s', o.name);
    for choice = o.choices
        [~, m] = scmk(K, 3, o.name, choice{1});
        assert(strcmp(m.options.(o.name), choice{1}), '%s', choice{1});
    end
end
end

function paths()
[X, ~, K] = three_groups(30);
data = {K, X * X'};
[idx, models] = scmk_path(data, 3, 'alpha', [0.1 1 10], 'beta', 0.01);
assert(isequal(size(idx), [30 3]) && isequal(size(models), [1 3]));
for i = 1:3
    alone = [0.1 1 10];
    [labels, model] = scmk(data, 3, 'beta', 0.01, 'alpha', alone(i));
    assert(isequal(idx(:, i), labels) && isequal(models(i).similarity, model.similarity));
    assert(models(i).options.alpha == alone(i));
end
idx = scmk_path(K, 3, 'method', {'kkm', 'sc'});
assert(isequal(size(idx), [30 2]));
% A warm start begins where the fit before has ended.
[~, cold] = scmk_path(data, 3, 'alpha', [1 1.001]);
[~, warm] = scmk_path(data, 3, 'alpha', [1 1.001], 'warm_start', true);
assert(warm(1).options.warm_start == 1 && isequal(cold(1).trace, warm(1).trace));
assert(~isequal(cold(2).trace, warm(2).trace), 'the second fit was not warm');
end

function metrics()
list = scmk_metric();
assert(any(strcmp({list.name}, 'accuracy')) && numel(list) > 1);
for i = 1:numel(list)
    assert(abs(scmk_metric(list(i).name, [1 1 2 2], [7 7 3 3]) - 1) < 1e-12, '%s', list(i).name);
end
assert(scmk_metric('accuracy', [1 1 2 2], [2; 2; 1; 2]) == 0.75);
assert(scmk_metric('accuracy', uint8([1 1 2 2]), [false false true false]) == 0.75);
end

function tables()
options = scmk_options();
alpha = options(strcmp({options.name}, 'alpha'));
assert(strcmp(alpha.type, 'real') && alpha.default == 1 && alpha.min == 1e-12);
assert(~isempty(alpha.doc) && isempty(alpha.choices));
method = options(strcmp({options.name}, 'method'));
assert(isequal(method.choices, scmk_methods()) && isnan(method.min));
infos = scmk_infos();
assert(any(strcmp({infos.name}, 'kkt_residual')));
% Printed when nobody takes them.
printed = evalc('scmk_options; scmk_infos; scmk_metric;');
assert(~isempty(strfind(printed, 'kkt_tolerance')) && ~isempty(strfind(printed, 'purity')));
end

function version_text()
assert(~isempty(regexp(scmk_version(), '^\d+\.\d+\.\d+', 'once')));
end

function help_texts()
files = dir(fullfile(fileparts(which('scmk')), 'scmk*.m'));
assert(numel(files) >= 8);
for i = 1:numel(files)
    assert(numel(help(files(i).name(1:end - 2))) > 60, '%s', files(i).name);
end
end
