function [idx, model] = scmk(data, k, varargin)
%SCMK  Cluster samples with several kernels, and learn a weight for each.
%   IDX = scmk(X, k) divides the samples, the rows of X, into k clusters. IDX is
%   a column of numbers from 1 to k, counted by first occurrence. Scale the
%   columns of X first if they have different units, or more simply let
%   'kernels' do it: scmk(X, k, 'kernels', 'standardize; paper').
%
%   X can also be several views of the same samples: a struct with a matrix in
%   each field, whose name the view then has, or a cell array of matrices. All
%   are full, real and of class double; convert others with double(X), full(X),
%   table2array(X).
%
%   IDX = scmk(K, k, 'kernels', 'precomputed') takes kernel matrices instead:
%   K is symmetric n-by-n, a struct or cell array of such matrices, or an
%   n-by-n-by-r array.
%
%   [IDX, MODEL] = scmk(...) also returns what was learned:
%     labels        the same as IDX
%     clusters      the same as k
%     weights       one for each kernel; of method scmk the square roots sum to 1
%     kernels       their names, a cell array
%     view_weights  share of each view in the weights; they sum to 1
%     views         their names, a cell array
%     similarity    sparse n-by-n matrix Z, its columns sum to 1
%     embedding     n-by-k matrix from which the labels were read
%     trace         objective after each iteration; it never rises
%     objective     its last value; NaN if the first iteration was not completed
%     info          struct of numbers about the fit; see scmk_infos
%     outcome       'converged', 'iteration limit', 'time limit' or 'cancelled'
%     method        the method that was used
%     options       struct of all options as they were
%     certified     struct of the weights and the embedding that the last step
%                   for Z was given: info.kkt_residual holds for these
%   What a method does not have is [], and left out of info. MODEL is displayed
%   in a few lines; struct(MODEL) is a plain struct.
%
%   [IDX, MODELS] = scmk(X, [2 3 4]) tries several numbers of clusters with the
%   same kernels: column j of IDX and MODELS(j) are those of the j-th.
%
%   scmk(..., NAME, VALUE, ...) sets options. Values are numbers, logicals or
%   text; names and text are taken in any case and order, a preset comes before
%   all others. scmk_options lists all of them with their defaults and what they
%   do, scmk_methods what the option 'method' may be. These two are not the
%   library's but of this function:
%     'kernels'   which kernels are built: 'paper' (default, twelve a view); or
%                 a list such as 'gaussian(t=0.1); linear' of what scmk_kernels
%                 names, before which it may prepare the features by steps of
%                 scmk_preparations, as in 'standardize; linear'; or
%                 'precomputed'. A cell array has one for each view.
%     'progress'  function handle, called several times a second with a struct
%                 of step, iteration, fraction (of the step) and objective. If
%                 it returns true (a logical), scmk stops: the last complete
%                 iterate of the fit is returned, with the outcome 'cancelled';
%                 while kernels are built (step 'kernels') there is none, and
%                 the error scmk:Stopped is raised. If it fails, scmk stops and
%                 its error comes out.
%
%   Errors have identifiers such as scmk:NotFinite, scmk:Asymmetric,
%   scmk:Dimension, scmk:UnknownOption, scmk:InvalidArgument. The warning
%   scmk:LooksLikeKernel tells of features that are a symmetric matrix. Ctrl-C
%   stops scmk.
%
%   Examples:
%     % Three groups of points
%     X = [randn(30, 2); randn(30, 2) + 8; randn(30, 2) - 8];
%     idx = scmk(X, 3);
%
%     % Two views with names, and how much each of them counts
%     [idx, model] = scmk(struct('place', X, 'noise', randn(90, 5)), 3);
%     rows = [model.views, num2cell(model.view_weights)]';
%     fprintf('%-8s %.4f\n', rows{:});
%
%     % Two kernels of one's own
%     D = (X(:, 1) - X(:, 1)') .^ 2 + (X(:, 2) - X(:, 2)') .^ 2;
%     [idx, model] = scmk({exp(-D / 10), X * X'}, 3, 'kernels', 'precomputed');
%     model.weights
%
%     % Stop after ten seconds
%     started = tic;
%     [idx, model] = scmk(X, 3, 'progress', @(event) toc(started) > 10);
%     model.outcome
%
%   See also SCMK_PATH, SCMK_OPTIONS, SCMK_METHODS, SCMK_KERNELS,
%   SCMK_PREPARATIONS, SCMK_INFOS, SCMK_METRIC, SCMK_VERSION, SCMK_BUILD.

if nargin < 2
    error('scmk:InvalidArgument', 'data and a number of clusters are expected: scmk(X, k)');
end
model = scmk_fit(data, k, varargin, repmat({{}}, 1, numel(k)));
idx = [model.labels];
end
