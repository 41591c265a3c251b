function [idx, model] = scmk(data, k, varargin)
%SCMK  Cluster samples with several kernels, and learn a weight for each.
%   IDX = scmk(X, k) divides the samples, the rows of X, into k clusters. IDX is
%   a column of numbers from 1 to k, counted by first occurrence. X is taken as
%   it is: by default scmk scales its columns, or weighs words if X has counts
%   of them. IDX = scmk(X), or with k = [] or 0, chooses the number of clusters;
%   see SCMK_SUGGEST.
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
%     clusters      k, or the number that was chosen
%     weights       one for each kernel; they sum to 1 unless 'weighting' or
%                   'method' says otherwise. Noise has the weight 0
%     kernels       their names, a cell array, which tell how they were built
%     view_weights  share of each view in the weights; they sum to 1
%     views         their names, a cell array
%     similarity    sparse n-by-n matrix Z, its columns sum to 1
%     embedding     n-by-k matrix from which the labels were read
%     trace         objective after each iteration; it never rises
%     objective     its last value; NaN if the first iteration was not completed
%     info          struct of numbers about the fit, such as info.silhouette, and
%                   of the text info.warning; see scmk_infos
%     outcome       'converged', 'iteration limit', 'time limit' or 'cancelled'
%     method        the method that was used
%     options       struct of all options as they were
%     certified     struct of the weights and the embedding that the last step
%                   for Z was given: info.kkt_residual holds for these
%   What a fit does not have is [], and left out of info. MODEL is displayed
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
%     'kernels'   which kernels are built: 'auto' (default), one for each view,
%                 of features that are prepared as suits them; or a list such
%                 as 'gaussian(t=0.1); linear' of what scmk_kernels names,
%                 before which it may prepare the features by steps of
%                 scmk_preparations, as in 'standardize; linear'; or 'paper',
%                 a pool of twelve; or 'precomputed'. A cell array has one for
%                 each view.
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
%   scmk:degenerate has what to know before an answer is trusted, such as that
%   clusters are single samples (it is info.warning); scmk:LooksLikeKernel tells
%   of features that are a symmetric matrix. Ctrl-C stops scmk.
%
%   Examples:
%     % Three groups of points
%     X = [randn(30, 2); randn(30, 2) + 8; randn(30, 2) - 8];
%     idx = scmk(X, 3);
%     [idx, model] = scmk(X);                    % how many are there?
%     model.clusters
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
%   See also SCMK_SUGGEST, SCMK_PATH, SCMK_OPTIONS, SCMK_METHODS, SCMK_KERNELS,
%   SCMK_PREPARATIONS, SCMK_INFOS, SCMK_METRIC, SCMK_VERSION, SCMK_BUILD.

if nargin < 1
    error('scmk:InvalidArgument', 'data are expected: scmk(X), or scmk(X, k) for k clusters');
end
if nargin < 2
    k = [];
end
k = scmk_number(k);
model = scmk_fit(data, k, varargin, repmat({{}}, 1, numel(k)));
idx = [model.labels];
end
