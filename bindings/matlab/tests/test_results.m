function tests = test_results()
% What a fit returns, for every way to give the data, every option and every method.
tests = {
    'fields', @fields
    'data_forms', @data_forms
    'number_classes', @number_classes
    'features', @features
    'defaults', @defaults
    'arguments_stay', @arguments_stay
    'option_classes', @option_classes
    'preset_comes_first', @preset_comes_first
    'any_case', @any_case
    'names_of_views', @names_of_views
    'several_numbers_of_clusters', @several_numbers_of_clusters
    'short_display', @short_display
    'used_like_a_struct', @used_like_a_struct
    'nothing_found', @nothing_found
    'units_do_not_matter', @units_do_not_matter
    'certified', @certified
    'every_option', @every_option
    'paths', @paths
    'metrics', @metrics
    'tables', @tables
    'methods_are_listed', @methods_are_listed
    'kernel_functions_are_listed', @kernel_functions_are_listed
    'preparations_are_listed', @preparations_are_listed
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
[idx, model] = with_kernels({K, X * X'}, 3, 'preset', 'joint');
assert(iscolumn(idx) && isequal(idx, truth) && isequal(model.labels, idx));
assert(isequal(size(model.weights), [2 1]) && abs(sum(sqrt(model.weights)) - 1) < 1e-12);
assert(issparse(model.similarity) && isequal(size(model.similarity), [30 30]));
assert(all(abs(full(sum(model.similarity)) - 1) < 1e-9));
assert(nnz(model.similarity) == model.info.similarity_nnz);
assert(isequal(size(model.embedding), [30 3]));
assert(iscolumn(model.trace) && numel(model.trace) == model.info.iterations);
assert(all(diff(model.trace) <= 0) && model.trace(end) == model.objective);
assert(model.objective == model.info.objective);
assert(model.info.smallest_cluster == 10 && model.info.largest_cluster == 10);
assert(model.info.silhouette > 0.5 && isempty(model.info.warning));
assert(~isfield(model.info, 'suggested_clusters') && ~isfield(model.info, 'stability'));
assert(strcmp(model.outcome, 'converged') && model.info.outcome == 0);
assert(strcmp(model.method, 'scmk') && model.options.alpha == 1);
end

function one_method(name)
[~, truth, K] = three_groups(60);
[idx, model] = with_kernels({K, sqrt(K)}, 3, 'method', name);
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
[X, ~, K] = three_groups(60);
L = X * X';
[~, expected] = with_kernels({K, L}, 3);
[~, pages] = with_kernels(cat(3, K, L), 3);
[~, column] = with_kernels({K; L}, 3);
assert(isequal(pages.similarity, expected.similarity) && isequal(pages.weights, expected.weights));
assert(isequal(column.similarity, expected.similarity));
% Matrices that the host does not store in full.
I = eye(60);
[~, lazy] = with_kernels({K, I}, 3, 'preset', 'joint');
I(1, 1) = 1;
[~, stored] = with_kernels({K, I}, 3, 'preset', 'joint');
assert(isequal(lazy.similarity, stored.similarity));
% Ninety kernels: more than the first guess of the MEX file.
[~, many] = with_kernels(repmat(K, [1 1 90]), 3, 'method', 'kkm');
assert(numel(many.weights) == 90 && all(abs(many.weights - 1 / 90) < 1e-12));
end

function number_classes()
X = three_groups(30);
L = round(4 * X) * round(4 * X)';
expected = with_kernels(L, 3);
assert(isequal(with_kernels(L, uint8(3)), expected) && isequal(with_kernels(L, single(3)), expected));
end

function features()
[X, truth, K] = three_groups(60);
[idx, model] = scmk(X, 3, 'kernels', 'paper');
assert(isequal(idx, truth) && numel(model.weights) == 12);
[idx, model] = scmk({X, 2 * X}, 3, 'kernels', 'gaussian(t=0.1); linear');
assert(isequal(idx, truth) && numel(model.weights) == 4);
[~, model] = scmk({X, X}, 3, 'kernels', {'linear', 'linear; gaussian(t=1)'});
assert(numel(model.weights) == 3);
[~, both] = scmk({K, X}, 3, 'kernels', {'precomputed', 'linear'}, 'preset', 'joint');
[~, product] = with_kernels({K, X * X'}, 3, 'preset', 'joint');
assert(max(abs(both.weights - product.weights)) < 1e-9);
end

% Nothing but the data: the preset auto, and what the kernels are called says how they were built.
function defaults()
[X, truth] = three_groups(60);
[idx, model] = scmk(X, 3);
assert(isequal(idx, truth) && model.weights == 1);
assert(isequal(model.kernels, {'standardize; gaussian(t=25,neighbors=7)'}), '%s', model.kernels{1});
[~, preset] = scmk(X, 3, 'preset', 'auto', 'kernels', 'auto');
assert(isequal(preset.similarity, model.similarity) && isequal(preset.options, model.options));
[~, named] = scmk(X, 3, 'kernels', 'auto; linear');
assert(isequal(named.kernels, {'standardize; linear'}), '%s', named.kernels{1});
% Views that confirm one another share the weights, and noise has none.
views = struct('points', X, 'turned', X * [1 2; -1 1] + cos((1:60)' * [7 11]), ...
    'noise', noise(60, 5, 0));
[idx, model] = scmk(views, 3);
assert(isequal(idx, truth) && abs(sum(model.weights) - 1) < 1e-12);
assert(model.weights(3) == 0 && all(model.weights(1:2) > 0), '%s', mat2str(model.weights, 3));
end

% Kernels are lent, not copied: they must come back as they were.
function arguments_stay()
[X, ~, K] = three_groups(60);
K(1, 2) = K(1, 2) * (1 + 1e-12);
before = K + 0;
with_kernels(K, 3);
with_kernels({K, X * X'}, 3, 'method', 'rmkkm');
assert(isequal(K, before), 'the kernel has changed');
end

function option_classes()
[~, ~, K] = three_groups(12);
[~, m] = with_kernels(K, 3, 'alpha', single(0.5), 'restarts', int8(7), 'learn_weights', false, ...
    'seed', intmax('int64'), 'beta', '0.25', 'embedding', 'normalized', 'threads', true);
o = m.options;
assert(o.alpha == 0.5 && o.restarts == 7 && o.learn_weights == 0 && o.beta == 0.25);
assert(strcmp(o.embedding, 'normalized') && o.threads == 1);
assert(isa(o.seed, 'int64') && o.seed == intmax('int64'));
[~, m] = with_kernels(K, 3, 'seed', uint64(2) ^ 40);
assert(m.options.seed == 2 ^ 40);
end

function preset_comes_first()
[~, ~, K] = three_groups(12);
for pairs = {{'preset', 'paper', 'alpha', 2}, {'alpha', 2, 'preset', 'paper'}}
    [~, m] = with_kernels(K, 3, pairs{1}{:});
    assert(m.options.alpha == 2 && m.options.beta == 1e-5 && strcmp(m.options.normalize, 'max'));
end
% Along a path, too, on either side.
[~, m] = scmk_path(K, 3, 'preset', {'joint', 'paper'}, 'kernels', 'precomputed', 'alpha', 2);
assert(m(1).options.alpha == 2 && m(2).options.alpha == 2);
assert(m(1).options.beta == 1e-3 && m(2).options.beta == 1e-5);
[~, m] = scmk_path(K, 3, 'beta', [1 2], 'kernels', 'precomputed', 'preset', 'paper');
assert(m(1).options.beta == 1 && m(2).options.beta == 2 && m(1).options.alpha == 0.01);
end

function any_case()
[X, truth, K] = three_groups(12);
[idx, m] = scmk(X, 3, 'ALPHA', 2, 'Preset', 'Paper', 'Method', 'SCMK', ...
    'Kernels', 'Gaussian(T=1); LINEAR', 'Progress', @(event) false);
assert(isequal(idx, truth) && m.options.alpha == 2 && numel(m.weights) == 2);
assert(isequal(m.kernels, {'gaussian(t=1)'; 'linear'}));
[idx, m] = scmk(K, 3, 'Kernels', 'Precomputed');
assert(isequal(idx, truth) && numel(m.weights) == 1);
[~, m] = scmk_path(X, 3, 'Method', {'KKM', 'Sc'});
assert(strcmp(m(1).method, 'kkm') && strcmp(m(2).method, 'sc'));
assert(scmk_metric('NMI', [1 2], [2 1]) == 1);
end

function names_of_views()
[X, ~, K] = three_groups(60);
views = struct('place', X, 'size', X(:, 1), 'graph', K);
[~, m] = scmk(views, 3, 'kernels', {'linear; gaussian(t=1)', 'linear', 'precomputed'});
assert(isequal(m.views, {'place'; 'size'; 'graph'}));
assert(isequal(m.kernels, {'place: linear'; 'place: gaussian(t=1)'; 'size: linear'; 'graph'}));
shares = [sum(m.weights(1:2)); m.weights(3); m.weights(4)] / sum(m.weights);
assert(max(abs(m.view_weights - shares)) < 1e-12 && abs(sum(m.view_weights) - 1) < 1e-12);
% Without names they are counted, from 1.
[~, m] = scmk({X, K}, 3, 'kernels', {'linear', 'precomputed'});
assert(isequal(m.views, {'view 1'; 'kernel 2'}) && isequal(m.kernels, {'view 1: linear'; 'kernel 2'}));
[~, m] = scmk(X, 3, 'kernels', 'linear');
assert(isequal(m.kernels, {'linear'}) && m.view_weights == 1);
[~, m] = with_kernels(struct('page', cat(3, K, K)), 3);
assert(isequal(m.views, {'page(1)'; 'page(2)'}));
end

function several_numbers_of_clusters()
X = three_groups(30);
[idx, models] = scmk(X, 2:4);
assert(isequal(size(idx), [30 3]) && isequal(size(models), [1 3]));
assert(isequal([models.clusters], 2:4));
for k = 2:4
    [alone, model] = scmk(X, k);
    assert(isequal(idx(:, k - 1), alone) && isequal(models(k - 1).similarity, model.similarity));
    assert(isequal(size(models(k - 1).embedding), [30 k]));
end
assert(isequal(scmk(X, uint8([2 3 4])), idx) && isequal(scmk(X, (2:4)'), idx));
end

% Forgetting the semicolon is no disaster: Octave would print every entry of a struct.
function short_display()
[~, model] = scmk(three_groups(300), 3);
text = evalc('model');
assert(sum(text == sprintf('\n')) <= 10 && numel(text) < 1000, '%s', text);
assert(~isempty(strfind(text, 'model =')) && ~isempty(strfind(text, '300 samples, 3 clusters')));
assert(sum(evalc('disp(model)') == sprintf('\n')) <= 8);
[~, models] = scmk(three_groups(30), 1:30, 'kernels', 'linear');
text = evalc('models');
assert(sum(text == sprintf('\n')) <= 27 && ~isempty(strfind(text, '10 more')), '%s', text);
text = evalc('models([])');
assert(sum(text == sprintf('\n')) <= 5, '%s', text);
end

% A result is read like a struct, and stays what it is.
function used_like_a_struct()
X = three_groups(30);
[idx, models] = scmk(X, 2:4);
model = models(2);
assert(isequal(models(end).labels, idx(:, 3)) && isequal([models.labels], idx));
assert(isequal(model.labels(3:5), idx(3:5, 2)) && model.info.outcome == 0);
assert(isequal({models.outcome}, repmat({'converged'}, 1, 3)));
assert(numel(models) == 3 && isequal(size([models, model]), [1 4]));
assert(isfield(model, 'weights') && ~isfield(model, 'wieghts'));
assert(any(strcmp('weights', fieldnames(model))));
plain = struct(model);
plain.note = 'mine';
assert(isstruct(plain) && isequal(plain.labels, model.labels));
raises('scmk:UnknownField', [], @() model.wieghts);
try
    model.labels(1) = 7;
    error('my:quiet', 'no error');
catch problem
    assert(strcmp(problem.identifier, 'scmk:ReadOnly'));
end
models(1) = model;
assert(models(1).clusters == 3 && isequal(model.labels, idx(:, 2)));
file = [tempname() '.mat'];
save(file, 'model');
read = load(file);
delete(file);
assert(isequal(read.model.labels, model.labels) && isequal(read.model.similarity, model.similarity));
end

% A fit that was stopped before anything was found.
function nothing_found()
X = three_groups(30);
for name = scmk_methods()
    [idx, m] = scmk(X, 3, 'method', name{1}, 'time_limit', 1e-9, 'kernels', 'linear');
    assert(strcmp(m.outcome, 'time limit') && m.info.iterations == 0 && isequal(idx, ones(30, 1)));
    assert(isempty(m.trace) && isnan(m.objective) && ~isfield(m.info, 'objective'));
    assert(isempty(m.similarity) == ~m.info.has_similarity);
    assert(isempty(m.embedding) == ~m.info.has_embedding);
end
end

% Nothing has to be scaled by hand, and a column that never changes is no harm.
function units_do_not_matter()
[X, truth] = three_groups(30);
assert(isequal(scmk([X .* [1 1000], 0.1 * ones(30, 1), zeros(30, 1)], 3), truth));
end

% The graph is as good as kkt_residual says, for what it was given: one kernel without the pull of
% clusters, then two with it.
function certified()
[X, ~, K] = three_groups(30);
data = {K, exp(-abs(X(:, 1) - X(:, 1)'))};
alpha = 0.5;
for count = 1:2
    beta = 0.1 * (count - 1);
    [~, m] = with_kernels(data(1:count), 3, 'preset', 'joint', 'alpha', alpha, 'beta', beta, ...
        'normalize', 'none');
    w = m.certified.weights;
    P = m.certified.embedding;
    assert(isequal(size(w), [count 1]) && isequal(size(P), [30 3]));
    mixed = zeros(30);
    for i = 1:count
        mixed = mixed + w(i) * data{i};
    end
    centred = mixed - mean(mixed) - mean(mixed, 2) + mean(mixed(:));
    Z = full(m.similarity);
    squares = sum(P .^ 2, 2);
    g = 2 * (centred * (Z - eye(30)) + alpha * Z) + beta / 2 * (squares + squares' - 2 * P * P');
    gap = max(sum(g .* Z) - min(g)) / (max(abs(mixed(:))) + alpha);
    assert(gap <= 2 * m.info.kkt_residual + 1e-9, 'the gap is %g, told is %g', gap, ...
        m.info.kkt_residual);
    assert(abs(sum(squares) - 3 * (beta > 0)) < 1e-8);
end
[~, m] = with_kernels(K, 3, 'method', 'kkm');
assert(isequal(m.certified, []));
[~, m] = with_kernels(K, 3, 'time_limit', 1e-9);
assert(isequal(m.certified, []));
end

% Each option by the name the library tells, with its default and with each choice.
function every_option()
[~, ~, K] = three_groups(12);
options = scmk_options();
[~, m] = with_kernels(K, 3);
assert(isequal(sort(fieldnames(m.options)), sort({options.name}')));
for o = options'
    [~, m] = with_kernels(K, 3, o.name, o.default);
    assert(isequal(m.options.(o.name), o.default), '%s', o.name);
    for choice = o.choices
        [~, m] = with_kernels(K, 3, o.name, choice{1});
        assert(strcmp(m.options.(o.name), choice{1}), '%s', choice{1});
    end
end
end

function paths()
[X, ~, K] = three_groups(60);
data = {K, X * X'};
[idx, models] = scmk_path(data, 3, 'alpha', [0.1 1 10], 'kernels', 'precomputed', 'beta', 0.01);
assert(isequal(size(idx), [60 3]) && isequal(size(models), [1 3]));
for i = 1:3
    alone = [0.1 1 10];
    [labels, model] = with_kernels(data, 3, 'beta', 0.01, 'alpha', alone(i));
    assert(isequal(idx(:, i), labels) && isequal(models(i).similarity, model.similarity));
    assert(models(i).options.alpha == alone(i));
end
idx = scmk_path(K, 3, 'method', {'kkm', 'sc'}, 'kernels', 'precomputed');
assert(isequal(size(idx), [60 2]));
% A warm start begins where the fit before has ended.
joint = {'kernels', 'precomputed', 'preset', 'joint'};
[~, cold] = scmk_path(data, 3, 'alpha', [1 1.001], joint{:});
[~, warm] = scmk_path(data, 3, 'alpha', [1 1.001], joint{:}, 'warm_start', true);
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
assert(isnan(options(strcmp({options.name}, 'method')).min));
infos = scmk_infos();
assert(any(strcmp({infos.name}, 'kkt_residual')));
assert(strcmp(infos(strcmp({infos.name}, 'warning')).type, 'text'));
% Printed when nobody takes them.
printed = evalc('scmk_options; scmk_infos; scmk_metric;');
assert(~isempty(strfind(printed, 'kkt_tolerance')) && ~isempty(strfind(printed, 'purity')));
end

function methods_are_listed()
names = scmk_methods();
assert(iscellstr(names) && isrow(names) && strcmp(names{1}, 'scmk'));
options = scmk_options();
method = options(strcmp({options.name}, 'method'));
assert(isequal(method.choices, names) && strcmp(method.default, names{1}));
lines = strsplit(strtrim(evalc('scmk_methods')), sprintf('\n'));
assert(numel(lines) == numel(names));
for i = 1:numel(names)
    words = regexp(lines{i}, '^(\S+)\s+(\S.*)$', 'tokens', 'once');
    assert(strcmp(words{1}, names{i}), '%s', lines{i});
end
% A name that is none of them; the MEX file knows no list of another name.
raises('scmk:InvalidArgument', [], @() scmk(three_groups(12), 3, 'method', 'scmkk'));
[none, problem] = scmk_mex('method');
assert(isempty(none) && strcmp(problem.identifier, 'scmk:InvalidArgument'));
end

function kernel_functions_are_listed()
X = three_groups(12);
kernels = scmk_kernels();
assert(~isempty(kernels) && isequal(fieldnames(kernels), {'name'; 'parameters'; 'doc'}));
printed = evalc('scmk_kernels');
for i = 1:numel(kernels)
    written = kernels(i).name;
    if ~isempty(kernels(i).parameters)
        written = [written '(' kernels(i).parameters ')']; %#ok<AGROW>
    end
    [~, model] = scmk(X, 3, 'kernels', [written '; ' kernels(i).name]);
    assert(isequal(model.kernels, {written; written}), '%s', written);
    assert(~isempty(kernels(i).doc) && ~isempty(strfind(printed, kernels(i).doc)));
    assert(~isempty(strfind(printed, written)));
end
raises('scmk:UnknownOption', [], @() scmk(X, 3, 'kernels', [kernels(1).name 'x']));
end

function preparations_are_listed()
X = three_groups(12);
counts = round(abs(X));   % which no step refuses
steps = scmk_preparations();
assert(~isempty(steps) && isequal(fieldnames(steps), {'name'; 'doc'}));
lines = strsplit(strtrim(evalc('scmk_preparations')), sprintf('\n'));
assert(numel(lines) == numel(steps));
for i = 1:numel(steps)
    name = steps(i).name;
    words = regexp(lines{i}, '^(\S+)\s+(\S.*)$', 'tokens', 'once');
    assert(strcmp(words{1}, name) && strcmp(words{2}, steps(i).doc), '%s', lines{i});
    [~, model] = scmk(counts, 3, 'kernels', [name '; linear']);
    done = strrep(name, 'auto', 'standardize');   % which tells what it has chosen
    assert(isequal(model.kernels, {[done '; linear']}), '%s', name);
    raises('scmk:InvalidArgument', ['kernels = ''' name ''' is not allowed: features are ' ...
        'prepared before the first kernel of the list'], ...
        @() scmk(counts, 3, 'kernels', ['linear; ' name]));
end
% A column that never changes becomes 0.
[~, model] = scmk(X, 3, 'kernels', 'standardize; gaussian');
[~, other] = scmk([X, 0.1 * ones(12, 1)], 3, 'kernels', 'standardize; gaussian');
assert(isequal(size(model.trace), size(other.trace)));
assert(max(abs(model.trace - other.trace)) < 1e-9 * max(abs(model.trace)));
end

function version_text()
assert(~isempty(regexp(scmk_version(), '^\d+\.\d+\.\d+', 'once')));
end

function help_texts()
files = dir(fullfile(fileparts(which('scmk')), 'scmk*.m'));
assert(numel(files) >= 9);
for i = 1:numel(files)
    assert(numel(help(files(i).name(1:end - 2))) > 60, '%s', files(i).name);
end
end
