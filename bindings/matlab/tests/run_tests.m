function failed = run_tests()
%RUN_TESTS  All tests of the binding: one line for each, and how many failed.
%   Needs scmk and its MEX file (scmk_build) on the path.
files = {'test_golden', 'test_bad_inputs', 'test_results', 'test_choice', ...
    'test_progress', 'test_memory'};
passed = 0;
failed = 0;
for i = 1:numel(files)
    tests = feval(files{i});
    for j = 1:size(tests, 1)
        name = [files{i}(6:end) ': ' tests{j, 1}];
        try
            tests{j, 2}();
            fprintf('ok      %s\n', name);
            passed = passed + 1;
        catch problem
            fprintf('FAILED  %s: %s\n', name, problem.message);
            for k = 1:min(2, numel(problem.stack))
                fprintf('        %s, line %d\n', problem.stack(k).name, problem.stack(k).line);
            end
            failed = failed + 1;
        end
    end
end
fprintf('%d passed, %d failed\n', passed, failed);
end
