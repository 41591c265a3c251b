function infos = scmk_infos()
%SCMK_INFOS  What the field info of a model tells about a fit.
%   scmk_infos() prints a table.
%
%   INFOS = scmk_infos() returns a struct array of name, type ('real', 'int' or
%   'text') and doc. A fit that does not have one of them leaves it out.
%
%   Example:
%     [idx, model] = scmk(X, 3);
%     model.info.silhouette
%
%   See also SCMK, SCMK_OPTIONS.

infos = scmk_call('infos');
if nargout == 0
    for i = 1:numel(infos)
        fprintf('%-20s %-5s %s\n', infos(i).name, infos(i).type, infos(i).doc);
    end
    clear infos
end
end
