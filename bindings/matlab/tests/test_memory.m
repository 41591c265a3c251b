function tests = test_memory()
% A thousand fits and as many failures leave the process as large as it was.
tests = {
    'fits', @() grows_little(@fit)
    'suggestions', @() grows_little(@suggest)
    'refused_input', @() grows_little(@refuse)
    'errors_in_the_handle', @() grows_little(@fail)
    };
end

% Features, since the model then holds twelve kernels: a model left behind shows.
function fit()
[~, model] = scmk(three_groups(12), 3, 'kernels', 'paper', 'progress', @(event) false);
assert(strcmp(model.outcome, 'converged'));
end

function suggest()
found = scmk_suggest(three_groups(12), 2:4, 'kernels', 'paper');
assert(numel(found.scores) == 3);
end

function refuse()
raises('scmk:UnknownOption', [], @() scmk(three_groups(12), 3, 'aplha', 1));
end

function fail()
raises('my:error', [], @() scmk(three_groups(12), 3, ...
    'progress', @(event) error('my:error', 'no')));
end

function grows_little(action)
for i = 1:200
    action();
end
before = resident();
for i = 1:1000
    action();
end
grown = resident() - before;
assert(grown < 4, 'grown by %.1f MB', grown);
end

function megabytes = resident()
file = fopen('/proc/self/statm');
assert(file >= 0, 'this test needs Linux');
pages = fscanf(file, '%d');
fclose(file);
megabytes = pages(2) * 4096 / 2 ^ 20;
end
