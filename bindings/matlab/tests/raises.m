function raises(identifier, message, action)
% The action must fail with this identifier, and with this message unless that is [].
try
    action();
catch problem
    assert(strcmp(problem.identifier, identifier), '%s raised instead of %s: %s', ...
        problem.identifier, identifier, problem.message);
    assert(isequal(message, []) || strcmp(problem.message, message), ...
        'the message is "%s" instead of "%s"', problem.message, message);
    return
end
error('nothing was raised, %s expected', identifier);
end
