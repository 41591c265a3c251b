function display(result)
% What leaving out a semicolon prints.
fprintf('%s =\n\n', inputname(1));
disp(result);
fprintf('\n');
end
