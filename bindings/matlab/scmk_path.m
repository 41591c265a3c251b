function [idx, models] = scmk_path(data, k, name, values, varargin)
%SCMK_PATH  Cluster the same samples along several values of one option.
%   IDX = scmk_path(X, k, NAME, VALUES) fits once for each element of VALUES, a
%   vector or a cell array, with the option NAME set to it. The kernels are
%   built only once. Column j of IDX has the labels of VALUES(j). If k is [],
%   each fit chooses it.
%
%   [IDX, MODELS] = scmk_path(...) also returns the models, an array.
%
%   scmk_path(X, k, NAME, VALUES, NAME2, VALUE2, ...) takes all that SCMK does.
%   With 'warm_start', true each fit starts from the result of the one before:
%   faster, but the answers then depend on the path. A fit that is stopped by
%   the progress handle is the last one. For several numbers of clusters, see
%   SCMK: it takes a vector of them.
%
%   Example:
%     X = [randn(30, 2); randn(30, 2) + 8; randn(30, 2) - 8];
%     [idx, models] = scmk_path(X, 3, 'neighbors', [5 10 20]);
%     models
%
%   See also SCMK, SCMK_SUGGEST, SCMK_OPTIONS.

if nargin < 4 || isempty(values)
    error('scmk:InvalidArgument', ...
        'data, a number of clusters (or []), an option and its values are expected');
end
k = scmk_number(k);
if ~isscalar(k)
    error('scmk:InvalidArgument', 'k: %d numbers are given, one is expected along a path', numel(k));
end
if ischar(values)
    values = {values};
elseif ~iscell(values)
    values = num2cell(values);
end
name = scmk_name(name);
steps = cell(1, numel(values));
for i = 1:numel(values)
    steps{i} = {name, values{i}};
end
models = scmk_fit(data, repmat(k, 1, numel(values)), varargin, steps);
idx = [models.labels];
end
