function varargout = subsref(result, at)
% Reads fields and elements as those of a struct array.
if numel(at) == 1 && strcmp(at.type, '()')
    varargout = {scmk_result(subsref(struct(result), at))};
    return
end
if strcmp(at(1).type, '.') && ~any(strcmp(at(1).subs, fieldnames(result)))
    error('scmk:UnknownField', 'a model of scmk has no field ''%s'': it has %s', at(1).subs, ...
        strjoin(fieldnames(result)', ', '));
end
[varargout{1:max(1, nargout)}] = subsref(struct(result), at);
end
