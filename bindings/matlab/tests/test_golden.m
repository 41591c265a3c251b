function tests = test_golden()
% The problems that all languages solve, and agree on.
found = dir(golden());
found = found([found.isdir] & ~strncmp({found.name}, '.', 1));
assert(~isempty(found), 'no golden problems');
tests = cell(numel(found), 2);
for i = 1:numel(found)
    tests(i, :) = {found(i).name, @() solve(found(i).name)};
end
end

function solve(name)
lines = strsplit(strtrim(fileread(golden(name, 'problem.csv'))), sprintf('\n'));
pairs = {};
for i = 1:numel(lines)
    % Only the kernel list is quoted, and it has commas.
    comma = find(lines{i} == ',', 1);
    value = strtrim(strrep(lines{i}(comma + 1:end), '"', ''));
    number = str2double(value);
    if ~isnan(number)
        value = number;
    end
    if i == 1
        clusters = value;
    else
        pairs = [pairs, {lines{i}(1:comma - 1), value}]; %#ok<AGROW>
    end
end
data = golden_tables(name, 'kernel');
if isempty(data)
    data = golden_tables(name, 'features');
else
    pairs = [pairs, {'kernels', 'precomputed'}];
end
[idx, model] = scmk(data, clusters, pairs{:});
assert(isequal(idx, csvread(golden(name, 'labels.csv')) + 1), 'labels differ');
agree('weights', model.weights, csvread(golden(name, 'weights.csv')));
agree('objective', model.objective, csvread(golden(name, 'objective.csv')));
if exist(golden(name, 'similarity.csv'), 'file')
    agree('similarity', full(model.similarity), csvread(golden(name, 'similarity.csv')));
else
    assert(isempty(model.similarity), 'a similarity that is not expected');
end
end

function agree(what, found, expected)
if isvector(expected)
    expected = expected(:);
end
assert(isequal(size(found), size(expected)), '%s has the wrong size', what);
worst = max(abs(found(:) - expected(:)) ./ max(1, abs(expected(:))));
assert(worst <= 1e-10, '%s is off by %g', what, worst);
end
