function tests = test_choice()
% How many clusters there are, and what to know before an answer is trusted.
tests = {
    'suggests_the_number_of_clusters', @suggests_the_number_of_clusters
    'range', @range
    'views_and_kernels', @views_and_kernels
    'no_structure', @no_structure
    'printed_or_plotted', @printed_or_plotted
    'chooses_the_number_of_clusters', @chooses_the_number_of_clusters
    'chosen_along_a_path', @chosen_along_a_path
    'warns_of_single_samples', @warns_of_single_samples
    'warns_of_views_without_agreement', @warns_of_views_without_agreement
    'no_warning_of_a_good_answer', @no_warning_of_a_good_answer
    };
end

% Four groups far apart; always the same.
function [X, truth] = four_groups(n)
centre = [0 0; 10 0; 0 10; 10 10];
truth = mod((0:n - 1)', 4) + 1;
X = centre(truth, :) + [sin(1:n)', cos(3 * (1:n)')];
end

% One group, and four samples far from it and from one another.
function X = outliers()
t = (1:40)';
X = [0.1 * sin(7 * t), 0.1 * cos(5 * t); 50 0; 0 50; -50 0; 0 -50];
end

function suggests_the_number_of_clusters()
X = four_groups(80);
found = scmk_suggest(X);
assert(isequal(fieldnames(found), ...
    {'clusters'; 'next'; 'confidence'; 'numbers'; 'scores'; 'summary'}));
assert(found.clusters == 4, '%s', found.summary);
assert(iscolumn(found.numbers) && isequal(size(found.scores), size(found.numbers)));
[~, at] = max(found.scores);
assert(found.numbers(at) == 4);
assert(isempty(found.next) || (found.next ~= 4 && any(found.numbers == found.next)));
assert(found.confidence > 0 && found.confidence <= 1);
assert(strncmp(found.summary, '4 clusters (confidence ', 23), '%s', found.summary);
end

function range()
X = four_groups(80);
found = scmk_suggest(X, 2:6);
assert(isequal(found.numbers, (2:6)') && numel(found.scores) == 5);
assert(all(isfinite(found.scores)));
% Only its ends matter, in any class.
for same = {[2 6], [6; 3; 2], uint8([2 6]), single([2 6])}
    assert(isequal(scmk_suggest(X, same{1}), found));
end
found = scmk_suggest(X, 7);
assert(found.numbers == 7 && isscalar(found.scores));
assert(isequal(scmk_suggest(X, []), scmk_suggest(X)) && isequal(scmk_suggest(X, 0), scmk_suggest(X)));
end

% All that scmk takes.
function views_and_kernels()
X = four_groups(80);
D = (X(:, 1) - X(:, 1)') .^ 2 + (X(:, 2) - X(:, 2)') .^ 2;
found = scmk_suggest(exp(-D / 20), 2:8, 'kernels', 'precomputed', 'Seed', 3);
assert(found.clusters == 4, '%s', found.summary);
found = scmk_suggest(struct('a', X, 'b', X * [1 2; -1 1]), 2:8);
assert(found.clusters == 4, '%s', found.summary);
end

function no_structure()
found = scmk_suggest(noise(120, 5, 0));
assert(found.clusters == 1, '%s', found.summary);
assert(strncmp(found.summary, 'the samples do not fall into clusters', 37), '%s', found.summary);
end

% Without an output a line in words, and a plot where there is a way to plot.
function printed_or_plotted()
X = four_groups(80);
found = scmk_suggest(X, 2:6);
plotted = ~exist('OCTAVE_VERSION', 'builtin') || ~isempty(available_graphics_toolkits());
if plotted
    drawn = figure('Visible', 'off');
end
text = evalc('scmk_suggest(X, 2:6);');
lines = strsplit(strtrim(text), sprintf('\n'));
assert(strcmp(lines{1}, found.summary), '%s', text);
if plotted
    assert(numel(lines) == 1 && ~isempty(findobj(drawn, 'Type', 'line')));
    close(drawn);
else
    assert(numel(lines) == 7 && strncmp(strtrim(lines{7}), '6 ', 2), '%s', text);
end
end

function chooses_the_number_of_clusters()
[X, truth] = four_groups(80);
[idx, model] = scmk(X);
assert(isequal(idx, truth) && model.clusters == 4);
assert(isequal(size(model.embedding), [80 4]));
assert(model.info.clusters == 4 && model.info.suggested_clusters == 4);
text = evalc('disp(model)');
assert(~isempty(strfind(text, '4 clusters (chosen, confidence ')), '%s', text);
for none = {[], 0, zeros(1, 0), uint8(0)}
    assert(isequal(scmk(X, none{1}), idx));
end
assert(isequal(scmk(X, [], 'kernels', 'auto', 'preset', 'auto'), idx));
found = scmk_suggest(X);
assert(found.clusters == model.clusters && found.confidence == model.info.suggested_confidence);
[~, given] = scmk(X, 4);
assert(isequal(given.labels, idx) && ~isfield(given.info, 'suggested_clusters'));
end

% A number that was chosen does not stay for the next fit.
function chosen_along_a_path()
[X, truth] = four_groups(80);
[idx, models] = scmk(X, [2 0 5]);
assert(isequal([models.clusters], [2 4 5]) && isequal(idx(:, 2), truth));
assert(isequal(arrayfun(@(i) isfield(models(i).info, 'suggested_clusters'), 1:3), [false true false]));
[idx, models] = scmk_path(X, [], 'alpha', [1 2]);
assert(isequal(idx, [truth, truth]) && isequal([models.clusters], [4 4]));
end

function warns_of_single_samples()
X = outliers();
words = '4 of 5 clusters are single samples';
[model, told] = warned(@() scmk(X, 5, 'preset', 'joint'));
assert(strcmp(told, words) && strcmp(model.info.warning, words), '%s', told);
assert(model.info.smallest_cluster == 1 && model.info.largest_cluster == 40);
text = evalc('disp(model)');
assert(~isempty(strfind(text, ['warning  ' words])), '%s', text);
% Of several fits it says which.
[~, told] = warned(@() scmk(X, [1 5], 'preset', 'joint'));
assert(strcmp(told, ['fit 2 of 2: ' words]), '%s', told);
% As any warning it can be turned off.
before = warning('off', 'scmk:degenerate');
restore = onCleanup(@() warning(before));
[~, told] = warned(@() scmk(X, 5, 'preset', 'joint'));
assert(isempty(told), '%s', told);
end

function warns_of_views_without_agreement()
[model, told] = warned(@() scmk({noise(120, 5, 0), noise(120, 5, 1000)}, 3));
assert(~isempty(strfind(told, 'no view or kernel confirms another')), '%s', told);
assert(strcmp(told, model.info.warning) && isequal(model.weights, [0.5; 0.5]));
end

function no_warning_of_a_good_answer()
[model, told] = warned(@() scmk(four_groups(80), 4));
assert(isempty(told) && isempty(model.info.warning), '%s', told);
end

% The model of a fit, and the words of its warning.
function [model, words] = warned(fit) %#ok<INUSD>
lastwarn('', '');
evalc('[~, model] = fit();');
[words, identifier] = lastwarn();
assert(isempty(words) || strcmp(identifier, 'scmk:degenerate'), '%s', words);
end
