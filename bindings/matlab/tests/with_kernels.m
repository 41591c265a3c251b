function [idx, model] = with_kernels(K, k, varargin)
% What most tests need: kernel matrices instead of features.
[idx, model] = scmk(K, k, 'kernels', 'precomputed', varargin{:});
end
