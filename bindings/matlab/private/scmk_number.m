function k = scmk_number(k)
% What is left empty is chosen, which the library calls 0.
if isnumeric(k) && isempty(k)
    k = 0;
end
end
