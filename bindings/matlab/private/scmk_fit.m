function models = scmk_fit(data, k, pairs, steps)
% What scmk and scmk_path share: fits, one for each element of k and of steps, and what to know of them.
models = scmk_run('fit', data, k, pairs, steps);
% A fit that was stopped is the last one.
models = models(~cellfun('isempty', models));
for i = 1:numel(models)
    words = models{i}.info.warning;
    if ~isempty(words) && numel(steps) > 1
        words = sprintf('fit %d of %d: %s', i, numel(steps), words);
    end
    if ~isempty(words)
        warning('scmk:degenerate', '%s', words);
    end
end
models = scmk_result([models{:}]);
end
