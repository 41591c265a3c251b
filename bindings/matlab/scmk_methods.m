function names = scmk_methods()
%SCMK_METHODS  The clustering methods, as the library knows them.
%   scmk_methods() prints a table.
%
%   NAMES = scmk_methods() returns their names, a cell array. Use one with
%   scmk(X, k, 'method', NAME). The first is the default.
%
%   Example:
%     for name = scmk_methods()
%         idx = scmk(X, 3, 'method', name{1});
%     end
%
%   See also SCMK, SCMK_OPTIONS, SCMK_KERNELS.

methods = scmk_call('methods');
names = {methods.name};
if nargout == 0
    for i = 1:numel(methods)
        fprintf('%-8s %s\n', methods(i).name, methods(i).doc);
    end
    clear names
end
end
