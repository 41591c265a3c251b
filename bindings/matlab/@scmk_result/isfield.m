function found = isfield(result, name)
% As for a struct.
found = isfield(struct(result), name);
end
