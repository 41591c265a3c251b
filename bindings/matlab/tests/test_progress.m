function tests = test_progress()
% Progress, stopping, and errors of the progress handle.
tests = {
    'events', @events
    'stop', @stop
    'answers', @answers
    'error_in_the_handle', @error_in_the_handle
    'fit_in_the_handle', @fit_in_the_handle
    'clear_in_the_handle', @clear_in_the_handle
    'stop_ends_a_path', @stop_ends_a_path
    'time_limit', @time_limit
    'stop_within_a_second', @stop_within_a_second
    'while_kernels_are_built', @while_kernels_are_built
    'stopped_suggestion', @stopped_suggestion
    };
end

function stopped = record(event, limit)
global scmk_test_events
scmk_test_events = [scmk_test_events, event];
stopped = numel(scmk_test_events) >= limit;
end

function list = recorded()
global scmk_test_events
list = scmk_test_events;
scmk_test_events = [];
end

function events()
[X, truth, K] = three_groups(60);
recorded();
[idx, model] = with_kernels({K, X * X'}, 3, 'preset', 'joint', 'tolerance', 0, 'max_iterations', 5, ...
    'progress', @(event) record(event, Inf));
list = recorded();
assert(isequal(idx, truth) && strcmp(model.outcome, 'iteration limit'));
assert(isequal(fieldnames(list), {'step'; 'iteration'; 'fraction'; 'objective'}));
ends = list(strcmp({list.step}, 'iteration'));
assert(isequal([ends.iteration], 1:5) && isequal([ends.objective]', model.trace));
assert(all([list.fraction] >= 0 & [list.fraction] <= 1));
end

function stop()
[X, truth, K] = three_groups(60);
recorded();
[idx, model] = with_kernels({K, X * X'}, 3, 'preset', 'joint', 'tolerance', 0, ...
    'progress', @(event) record(event, 2));
count = numel(recorded());
assert(strcmp(model.outcome, 'cancelled') && model.info.outcome == 3);
assert(count == 2 && model.info.iterations >= 1 && isequal(idx, truth));
% The next fit is not cancelled, and tells nobody.
[~, model] = with_kernels(K, 3);
assert(strcmp(model.outcome, 'converged') && isempty(recorded()));
end

% Only a logical true stops: neither a handle without an answer nor a count of printed characters.
function answers()
[~, ~, K] = three_groups(30);
for handle = {@(event) 1, @(event) 'yes', @(event) [], @(event) [true true], @(event) false, []}
    [~, model] = with_kernels(K, 3, 'progress', handle{1});
    assert(strcmp(model.outcome, 'converged'), 'stopped by its answer');
end
printed = evalc('with_kernels(K, 3, ''progress'', @(event) disp(event.step));');
assert(~isempty(strfind(printed, 'iteration')), 'a handle without an answer did not print');
printed = evalc('[~, model] = with_kernels(K, 3, ''progress'', @(event) fprintf(''<%s>'', event.step));');
assert(~isempty(strfind(printed, '<iteration>')) && strcmp(model.outcome, 'converged'));
[~, model] = with_kernels(K, 3, 'preset', 'joint', 'tolerance', 0, ...
    'progress', @(event) event.iteration == 1);
assert(strcmp(model.outcome, 'cancelled'));
end

function error_in_the_handle()
[~, truth, K] = three_groups(30);
for i = 1:3
    raises('my:error', 'no more', ...
        @() with_kernels(K, 3, 'progress', @(event) error('my:error', 'no more')));
    assert(~mislocked('scmk_mex'), 'a model was left behind');
    assert(isequal(with_kernels(K, 3), truth));
end
% Also a handle that cannot be called.
try
    with_kernels(K, 3, 'progress', @() true);
    error('my:quiet', 'no error');
catch problem
    assert(~strcmp(problem.identifier, 'my:quiet'));
end
end

function fit_in_the_handle()
[X, truth, K] = three_groups(60);
recorded();
[idx, model] = with_kernels({K, X * X'}, 3, 'preset', 'joint', 'max_iterations', 3, 'tolerance', 0, ...
    'progress', @(event) record(with_kernels(K, 3), Inf));
inner = recorded();
assert(isequal(idx, truth) && strcmp(model.outcome, 'iteration limit'));
assert(size(inner, 2) >= 3 && isequal(inner, repmat(truth, 1, size(inner, 2))));
assert(~mislocked('scmk_mex'));
end

% While a model lives, the MEX file stays where it is.
function clear_in_the_handle()
[X, truth, K] = three_groups(60);
recorded();
[idx, model] = with_kernels({K, X * X'}, 3, 'preset', 'joint', 'max_iterations', 3, 'tolerance', 0, ...
    'progress', @(event) record(cleared(), Inf));
locked = recorded();
assert(numel(locked) >= 3 && all(locked), 'it was not locked');
assert(isequal(idx, truth) && strcmp(model.outcome, 'iteration limit'));
% Afterwards it goes, and comes back when it is needed.
clear scmk_mex
assert(~mislocked('scmk_mex') && isequal(with_kernels(K, 3), truth));
end

function locked = cleared()
clear scmk_mex
clear mex
locked = mislocked('scmk_mex');
end

function stop_ends_a_path()
[~, ~, K] = three_groups(30);
recorded();
[idx, models] = scmk_path(K, 3, 'alpha', [0.1 1 10], 'kernels', 'precomputed', 'preset', 'joint', ...
    'max_iterations', 1, 'progress', @(event) record(event, 2));
recorded();
assert(size(idx, 2) == 2 && strcmp(models(2).outcome, 'cancelled'));
end

function time_limit()
[X, ~, K] = three_groups(60);
[~, model] = with_kernels({K, X * X'}, 3, 'tolerance', 0, 'time_limit', 1e-9);
assert(strcmp(model.outcome, 'time limit'));
end

% Counts from the begin of the fit: on a busy machine kernels are told about first.
function answer = note_and_stop(event, delay)
global scmk_test_clock
answer = false;
if strcmp(event.step, 'kernels')
    return
end
if isempty(scmk_test_clock)
    scmk_test_clock = struct('first', tic, 'stopped', []);
end
answer = toc(scmk_test_clock.first) >= delay;
if answer && isempty(scmk_test_clock.stopped)
    scmk_test_clock.stopped = tic;
end
end

function stop_within_a_second()
global scmk_test_clock
X = sin((1:2000)' * (1:20) .* (1:20));
for delay = [0 0.5 2]
    scmk_test_clock = [];
    [idx, model] = scmk(X, 10, 'kernels', 'gaussian(t=0.1)', 'preset', 'joint', 'alpha', 100, ...
        'tolerance', 0, 'progress', @(event) note_and_stop(event, delay));
    assert(~isempty(scmk_test_clock.stopped), 'the fit was over before it was stopped');
    seconds = toc(scmk_test_clock.stopped);
    if ~isempty(getenv('SCMK_TEST_TIMES'))
        fprintf('        back %.3f s after a stop at %g s\n', seconds, delay);
    end
    assert(strcmp(model.outcome, 'cancelled') && numel(idx) == 2000);
    assert(seconds < 1, 'stopping took %.2f s', seconds);
end
end

% There is no result yet: an error. One thread, so that building takes long enough anywhere.
function while_kernels_are_built()
X = sin((1:3000)' * (1:300) .* (1:300));
recorded();
building = {'kernels', 'paper', 'threads', 1};
raises('scmk:Stopped', [], @() scmk(X, 3, building{:}, 'progress', @(event) record(event, 1)));
list = recorded();
assert(numel(list) == 1 && strcmp(list.step, 'kernels') && list.iteration == 0);
assert(list.fraction >= 0 && list.fraction <= 1 && isnan(list.objective));
raises('my:error', 'no more', @() scmk(X, 3, building{:}, ...
    'progress', @(event) error('my:error', 'no more')));
raises('scmk:Stopped', [], @() scmk(X, 3, building{:}, 'time_limit', 0.15));
assert(~mislocked('scmk_mex'));
[X, truth] = three_groups(12);
assert(isequal(scmk(X, 3), truth));
end

% Nor has a suggestion that is stopped. One thread, for the same reason.
function stopped_suggestion()
X = sin((1:2000)' * (1:20) .* (1:20));
raises('scmk:Stopped', [], @() scmk_suggest(X, 2:5, 'threads', 1, 'progress', @after_kernels));
raises('my:error', 'no more', @() scmk_suggest(X, 2:5, 'threads', 1, ...
    'progress', @(event) error('my:error', 'no more')));
assert(~mislocked('scmk_mex'));
end

function stop = after_kernels(event)
stop = ~strcmp(event.step, 'kernels');
end
