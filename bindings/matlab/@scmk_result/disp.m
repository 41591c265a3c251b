function disp(result)
% A few lines, whatever the number of samples.
r = struct(result);
if numel(r) ~= 1
    show_many(r);
    return
end
fprintf('  scmk: %d samples, %d clusters, method %s, %s after %d iterations\n', ...
    numel(r.labels), r.clusters, r.method, r.outcome, numel(r.trace));
if ~isempty(r.labels)
    sizes = arrayfun(@(size) sprintf('%d', size), accumarray(r.labels, 1), ...
        'UniformOutput', false);
    fprintf('  sizes    %s\n', shortened(sizes, ' ', 20));
end
fprintf('  weights  %s\n', shortened(shares(r.weights, r.kernels), ', ', 4));
if numel(r.views) > 1
    fprintf('  views    %s\n', shortened(shares(r.view_weights, r.views), ', ', 6));
end
names = fieldnames(r)';
half = ceil(numel(names) / 2);
fprintf('  fields   %s,\n           %s\n', strjoin(names(1:half), ', '), ...
    strjoin(names(half + 1:end), ', '));
end

function show_many(r)
most = 20;
fprintf('  %d results of scmk\n', numel(r));
if ~isempty(r)
    fprintf('  %10s  %-10s %-16s %10s  %s\n', 'clusters', 'method', 'outcome', 'iterations', ...
        'objective');
end
for i = 1:min(numel(r), most)
    fprintf('  %10d  %-10s %-16s %10d  %.6g\n', r(i).clusters, r(i).method, r(i).outcome, ...
        numel(r(i).trace), r(i).objective);
end
if numel(r) > most
    fprintf('  ... and %d more\n', numel(r) - most);
end
end

% Largest first.
function words = shares(values, names)
[values, order] = sort(values, 'descend');
words = cell(1, numel(values));
for i = 1:numel(values)
    words{i} = sprintf('%s %.3g', names{order(i)}, values(i));
end
end

function line = shortened(words, between, most)
line = strjoin(reshape(words(1:min(end, most)), 1, []), between);
if numel(words) > most
    line = sprintf('%s%s... (%d)', line, between, numel(words));
end
end
