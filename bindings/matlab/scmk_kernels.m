function kernels = scmk_kernels()
%SCMK_KERNELS  The kernel functions that SCMK can build, as the library knows them.
%   scmk_kernels() prints a table.
%
%   KERNELS = scmk_kernels() returns a struct array:
%     name        to be given in the list 'kernels' of SCMK
%     parameters  with their defaults, such as 'a=1,b=2'; empty if it has none
%     doc         its formula
%
%   Example:
%     idx = scmk(X, 3, 'kernels', 'gaussian(t=0.1); linear');
%
%   See also SCMK, SCMK_PREPARATIONS, SCMK_METHODS, SCMK_OPTIONS.

kernels = scmk_call('kernels');
if nargout == 0
    for i = 1:numel(kernels)
        written = kernels(i).name;
        if ~isempty(kernels(i).parameters)
            written = [written '(' kernels(i).parameters ')']; %#ok<AGROW>
        end
        fprintf('%-20s %s\n', written, kernels(i).doc);
    end
    clear kernels
end
end
