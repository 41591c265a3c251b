function result = subsasgn(result, at, value)
% Elements can be replaced, to put arrays together; what a fit has found cannot.
if numel(at) > 1 || ~strcmp(at.type, '()') || ~(isa(value, 'scmk_result') || isempty(value))
    error('scmk:ReadOnly', ...
        'the fields of a model of scmk cannot be changed: change a copy, struct(model)');
end
if isempty(result)
    result = scmk_result();
end
if isa(value, 'scmk_result')
    value = struct(value);
end
result = scmk_result(subsasgn(struct(result), at, value));
end
