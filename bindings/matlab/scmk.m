function [idx, model] = scmk(data, k, varargin)
%SCMK  Cluster samples with one or several kernels.
%   IDX = scmk(K, k) divides n samples into k clusters. K is a symmetric n-by-n
%   kernel matrix, an n-by-n-by-r array or a cell array of r such matrices. IDX
%   is a column of n numbers from 1 to k, counted by first occurrence.
%
%   IDX = scmk(X, k, 'features', true) builds the kernels: the rows of X are
%   samples, its columns features. A cell array holds several views of the same
%   samples. Scale the columns first if they have different units.
%
%   [IDX, MODEL] = scmk(...) also returns what was learned:
%     labels      the same as IDX
%     weights     one for each kernel
%     similarity  sparse n-by-n matrix Z, its columns sum to 1
%     embedding   n-by-k matrix from which the labels were read
%     trace       objective after each iteration; it never rises
%     objective   its last value
%     info        struct of numbers about the fit; see scmk_infos
%     outcome     'converged', 'iteration limit', 'time limit' or 'cancelled'
%     method      the method that was used
%     options     struct of all options as they were
%   Results that a method does not have are [], such infos are left out.
%
%   scmk(..., NAME, VALUE, ...) sets options in the given order. Values are
%   numbers, logicals or text. scmk_options lists all of them, such as:
%     'alpha'     small gives few neighbours, large many
%     'method'    'scmk', or one of the others in scmk_methods
%     'preset'    'paper' sets what the paper used
%     'seed'      of the starts of k-means; nothing else is random
%   These are not the library's but of this function:
%     'features'  true: the data are features. Or features to be used beside
%                 the kernels in K: a matrix or a cell array of views.
%     'kernels'   for features: 'paper' (default, twelve kernels a view), or a
%                 list 'gaussian(t=0.1); linear; polynomial(a=1,b=2)'. A cell
%                 array has one list for each view.
%     'progress'  function handle, called several times a second with a struct
%                 of step, iteration, fraction (of the step) and objective. If
%                 it returns true (a logical), the fit stops and its last
%                 complete iterate is returned. If it fails, the fit stops and
%                 the error comes out of scmk.
%
%   Errors have identifiers such as scmk:NotFinite, scmk:Asymmetric,
%   scmk:Dimension, scmk:UnknownOption, scmk:InvalidArgument. Their messages
%   count kernels, rows and columns from 0. Ctrl-C stops a fit.
%
%   Examples:
%     % Three groups of points
%     X = [randn(30, 2); randn(30, 2) + 8; randn(30, 2) - 8];
%     idx = scmk(X, 3, 'features', true);
%
%     % Two kernels of one's own, and how much each of them counts
%     D = (X(:, 1) - X(:, 1)') .^ 2 + (X(:, 2) - X(:, 2)') .^ 2;
%     [idx, model] = scmk({exp(-D / 10), X * X'}, 3, 'alpha', 0.5);
%     model.weights
%
%     % Stop after ten seconds
%     started = tic;
%     [idx, model] = scmk(X, 3, 'features', true, ...
%         'progress', @(event) toc(started) > 10);
%     model.outcome
%
%   See also SCMK_PATH, SCMK_OPTIONS, SCMK_METHODS, SCMK_INFOS, SCMK_METRIC,
%   SCMK_VERSION, SCMK_BUILD.

if nargin < 2
    error('scmk:InvalidArgument', 'data and a number of clusters are expected: scmk(K, k)');
end
models = scmk_fit(data, k, varargin, {{}});
model = models{1};
idx = model.labels;
end
