function result = scmk_result(fields)
%SCMK_RESULT  What SCMK and SCMK_PATH return as MODEL, one or an array.
%   It is used like a struct: MODEL.weights, MODELS(2).outcome, [MODELS.objective],
%   fieldnames(MODEL). It is a class for one reason only: displayed, it is a few
%   lines, where Octave prints every entry of a struct. struct(MODEL) is a plain
%   struct, to be saved or changed in any way. help scmk lists the fields.
%
%   See also SCMK, SCMK_PATH.

% A class of the kind without classdef: Octave has arrays of these only.
if nargin < 1
    names = {'labels', 'clusters', 'weights', 'kernels', 'view_weights', 'views', 'similarity', ...
        'embedding', 'trace', 'objective', 'info', 'outcome', 'method', 'options', 'certified'};
    fields = cell2struct(cell(numel(names), 1), names', 1);
end
result = class(fields, 'scmk_result');
end
