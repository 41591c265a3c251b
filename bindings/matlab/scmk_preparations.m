function steps = scmk_preparations()
%SCMK_PREPARATIONS  The steps in which SCMK can prepare features, as the library knows them.
%   scmk_preparations() prints a table.
%
%   STEPS = scmk_preparations() returns a struct array:
%     name  to be given in the list 'kernels' of SCMK, before the first kernel
%     doc   what it does
%
%   Example:
%     idx = scmk(X, 3, 'kernels', 'standardize; gaussian(t=0.1); linear');
%
%   See also SCMK, SCMK_KERNELS, SCMK_METHODS, SCMK_OPTIONS.

steps = scmk_call('preparations');
if nargout == 0
    for i = 1:numel(steps)
        fprintf('%-12s %s\n', steps(i).name, steps(i).doc);
    end
    clear steps
end
end
