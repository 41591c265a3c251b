function methods = scmk_methods()
%SCMK_METHODS  Names of the clustering methods, a cell array.
%   Use one with scmk(X, k, 'method', NAME). The first is the default.
%
%   Example:
%     for name = scmk_methods()
%         idx = scmk(X, 3, 'method', name{1});
%     end
%
%   See also SCMK, SCMK_OPTIONS.

options = scmk_options();
methods = options(strcmp({options.name}, 'method')).choices;
end
