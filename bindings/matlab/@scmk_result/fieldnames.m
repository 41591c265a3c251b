function names = fieldnames(result)
% As for a struct.
names = fieldnames(struct(result));
end
