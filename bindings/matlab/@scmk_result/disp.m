function disp(result)
% A few lines, whatever the number of samples.
r = struct(result);
if numel(r) ~= 1
    show_many(r);
    return
end
chosen = '';
if isfield(r.info, 'suggested_clusters')
    chosen = sprintf(' (chosen, confidence %.2f)', r.info.suggested_confidence);
end
fprintf('  scmk: %d samples, %d clusters%s, method %s, %s after %d iterations\n', ...
    numel(r.labels), r.clusters, chosen, r.method, r.outcome, numel(r.trace));
if isfield(r.info, 'warning') && ~isempty(r.info.warning)
    fprintf('  warning  %s\n', r.info.warning);
end
if ~isempty(r.labels)
    sizes = arrayfun(@(size) sprintf('%d', size), accumarray(r.labels, 1), ...
        'UniformOutput', false);
    fprintf('  sizes    %s\n', shortened(sizes, ' ', 20));
end
if isfield(r.info, 'silhouette')
    fprintf('  quality  silhouette %.3f\n', r.info.silhouette);
end
% With one kernel a view the views say it all.
if numel(r.views) <= 1 || numel(r.kernels) > numel(r.views)
    fprintf('  weights  %s\n', shortened(shares(r.weights, r.kernels), ', ', 4));
end
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
    fprintf('  %10s  %-10s %-16s %10s  %-12s %s\n', 'clusters', 'method', 'outcome', 'iterations', ...
        'objective', 'silhouette');
end
for i = 1:min(numel(r), most)
    quality = '-';
    if isfield(r(i).info, 'silhouette')
        quality = sprintf('%.3f', r(i).info.silhouette);
    end
    fprintf('  %10d  %-10s %-16s %10d  %-12.6g %s\n', r(i).clusters, r(i).method, r(i).outcome, ...
        numel(r(i).trace), r(i).objective, quality);
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
