function value = scmk_run(command, data, k, pairs, steps)
% What fits and suggestions share: sorts the arguments and calls the MEX file. Pairs are names and
% values; steps are further pairs, of a fit for each element of k.
[views, names] = split(data);
lists = 'auto';
report = @scmk_quiet;
chosen = {};
if mod(numel(pairs), 2) == 1
    error('scmk:InvalidArgument', 'options are expected as pairs of a name and a value');
end
for i = 1:2:numel(pairs)
    name = scmk_name(pairs{i});
    value = plain(pairs{i + 1});
    switch name
        case 'kernels'
            lists = value;
        case 'progress'
            if isa(value, 'function_handle')
                report = @(event) tell(value, event);
            elseif ~isempty(value)
                error('scmk:InvalidArgument', ...
                    'progress: class %s is given, a function handle is expected', class(value));
            end
        case 'features'
            error('scmk:UnknownOption', ['unknown option ''features'': the first argument is ' ...
                'features, without it; kernel matrices are given with ''kernels'', ''precomputed''']);
        otherwise
            chosen = [chosen, {name, option(value)}]; %#ok<AGROW>
    end
end
if ~iscell(lists)
    lists = repmat({lists}, 1, numel(views));
elseif numel(lists) ~= numel(views)
    error('scmk:Dimension', 'kernels: %d lists are given for %d views, one for each is expected', ...
        numel(lists), numel(views));
end
lists = cellfun(@folded, lists, 'UniformOutput', false);
warn_of_kernels(views, names, lists);

for i = 1:numel(steps)
    for j = 2:2:numel(steps{i})
        steps{i}{j} = option(steps{i}{j});
    end
    % A preset sets other options, and what is said beside it is meant to stay.
    listed = reshape([chosen, steps{i}], 2, []);
    first = strcmp(listed(1, :), 'preset');
    steps{i} = reshape([listed(:, first), listed(:, ~first)], 1, []);
end
if (isnumeric(k) || islogical(k)) && ~isa(k, 'double')
    k = double(k);
end
value = scmk_call(command, k, views, names, lists, steps, report);
end

% Views and what they are called. What they are made of is looked at by the MEX file.
function [views, names] = split(data)
names = {};
if isstruct(data)
    if numel(data) ~= 1
        error('scmk:InvalidArgument', ...
            'data: a struct array of %d elements is given, one struct of views is expected', ...
            numel(data));
    end
    names = fieldnames(data)';
    views = struct2cell(data)';
elseif iscell(data)
    views = reshape(data, 1, []);
else
    views = {data};
end
if isempty(names)
    names = repmat({''}, 1, numel(views));
end
end

% Once kernels were the first argument here, and in other programs they are.
function warn_of_kernels(views, names, lists)
for i = 1:numel(views)
    X = views{i};
    n = size(X, 1);
    if strcmp(lists{i}, 'precomputed') || ~isa(X, 'double') || issparse(X) || ~isreal(X) || ...
            n < 2 || ~isequal(size(X), [n n])
        continue
    end
    if max(max(abs(X - X'))) <= 1e-8 * max(max(abs(X)))
        called = 'data';
        if ~isempty(names{i})
            called = ['view ''' names{i} ''''];
        elseif numel(views) > 1
            called = sprintf('view %d', i);
        end
        warning('scmk:LooksLikeKernel', ['%s: a square symmetric matrix, like a kernel matrix, is ' ...
            'taken as features; for a kernel matrix add ''kernels'', ''precomputed'''], called);
    end
end
end

% MATLAB's strings are its newer kind of text.
function value = plain(value)
if isa(value, 'string') && isscalar(value)
    value = char(value);
end
end

% Text in any case means the same, as everywhere in MATLAB; the library's is lower.
function value = folded(value)
value = plain(value);
if ischar(value)
    value = lower(value);
end
end

% int64 for whole numbers of any class: a double has no room for every seed.
function value = option(value)
value = folded(value);
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

% Called while the library works. An error must not leave through the library: it is handed over
% and raised when the call is over. Called for no output, so that handles need not have one, and
% disp and fprintf print; an answer, if there is one, is in ans.
function [stop, problem] = tell(progress, event)
stop = false;
problem = [];
try
    ans = false; %#ok<NOANS>
    progress(event);
    stop = islogical(ans) && isscalar(ans) && ans;
catch problem
    stop = true;
end
end
