function name = scmk_name(given)
% A name in any case, as everywhere in MATLAB; the library's are lower.
if isa(given, 'string') && isscalar(given)
    given = char(given);
end
if ~ischar(given)
    error('scmk:InvalidArgument', 'the name of an option: class %s is given, text is expected', ...
        class(given));
end
name = lower(given);
end
