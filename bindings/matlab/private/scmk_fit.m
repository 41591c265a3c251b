function models = scmk_fit(data, k, pairs, steps)
% What scmk and scmk_path share: sorts the arguments and calls the MEX file. Pairs are names and
% values, in order; steps holds further pairs for each of the fits.
kernels = numbers(data);
views = {};
lists = 'paper';
report = @(event) tell([], event);
chosen = {};
if mod(numel(pairs), 2) == 1
    error('scmk:InvalidArgument', 'options come as pairs of a name and a value');
end
for i = 1:2:numel(pairs)
    name = plain(pairs{i});
    value = plain(pairs{i + 1});
    if ~ischar(name)
        error('scmk:InvalidArgument', 'the name of an option is expected as text');
    end
    switch name
        case 'features'
            if (islogical(value) || isnumeric(value)) && isscalar(value)
                if value
                    views = [kernels, views];
                    kernels = {};
                end
            else
                views = [views, numbers(value)];
            end
        case 'kernels'
            lists = value;
        case 'progress'
            if isa(value, 'function_handle')
                report = @(event) tell(value, event);
            elseif ~isempty(value)
                error('scmk:InvalidArgument', 'progress: a function handle is expected');
            end
        otherwise
            chosen = [chosen, {name, option(value)}]; %#ok<AGROW>
    end
end
if ~iscell(lists)
    lists = repmat({lists}, 1, numel(views));
elseif numel(lists) ~= numel(views)
    error('scmk:Dimension', 'kernels: %d lists given for %d views', numel(lists), numel(views));
end
lists = cellfun(@plain, lists, 'UniformOutput', false);

for i = 1:numel(steps)
    for j = 2:2:numel(steps{i})
        steps{i}{j} = option(steps{i}{j});
    end
end
steps{1} = [chosen, steps{1}];
if (isnumeric(k) || islogical(k)) && ~isa(k, 'double')
    k = double(k);
end
models = scmk_call('fit', k, kernels, views, lists, steps, report);
% A fit that was stopped is the last one.
models = models(~cellfun('isempty', models));
end

% A cell array of matrices. Anything but doubles goes on as it is, for the MEX file to refuse: a
% kernel rounded to single or to integers is another kernel. Only logical is exact.
function list = numbers(data)
if ~iscell(data)
    data = {data};
end
list = reshape(data, 1, []);
for i = 1:numel(list)
    if islogical(list{i})
        list{i} = double(list{i});
    end
end
end

% MATLAB's strings are its newer kind of text.
function value = plain(value)
if isa(value, 'string') && isscalar(value)
    value = char(value);
end
end

% int64 for whole numbers of any class: a double has no room for every seed.
function value = option(value)
value = plain(value);
if isinteger(value)
    if isa(value, 'uint64') && any(value(:) > uint64(intmax('int64')))
        value = double(value);
    else
        value = int64(value);
    end
elseif isa(value, 'single')
    value = double(value);
end
end

% Called during a fit. An error must not leave through the library: it is handed over and raised
% when the fit is over. Called for no output, so that handles need not have one, and disp and
% fprintf print; an answer, if there is one, is in ans.
function [stop, problem] = tell(progress, event)
stop = false;
problem = [];
if isempty(progress)
    return
end
try
    ans = false; %#ok<NOANS>
    progress(event);
    stop = islogical(ans) && isscalar(ans) && ans;
catch problem
    stop = true;
end
end
