function options = scmk_options()
%SCMK_OPTIONS  All options that SCMK takes, as the library knows them.
%   scmk_options() prints a table.
%
%   OPTIONS = scmk_options() returns a struct array:
%     name     to be given to SCMK, in any case
%     type     'real', 'int' or 'text'
%     default  number or text
%     min, max smallest and largest value; NaN for text
%     choices  cell array of the values of a text option
%     doc      what it does
%
%   Example:
%     options = scmk_options();
%     options(strcmp({options.name}, 'alpha'))
%
%   See also SCMK, SCMK_METHODS, SCMK_KERNELS, SCMK_INFOS.

options = scmk_call('options');
% Set by this binding, which counts as its host does.
options(strcmp({options.name}, 'index_base')).default = '1';
for i = 1:numel(options)
    if strcmp(options(i).type, 'text')
        options(i).choices = strtrim(strsplit(options(i).choices, ','));
    else
        options(i).choices = {};
        options(i).default = str2double(options(i).default);
    end
end
if nargout == 0
    for i = 1:numel(options)
        o = options(i);
        if strcmp(o.type, 'text')
            standard = o.default;
            allowed = strjoin(o.choices, ', ');
        else
            standard = sprintf('%.4g', o.default);
            allowed = sprintf('%s from %.4g to %.4g', o.type, o.min, o.max);
        end
        fprintf('%-16s %-10s %s\n%-27s %s\n', o.name, standard, allowed, '', o.doc);
    end
    clear options
end
end
