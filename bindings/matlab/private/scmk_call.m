function value = scmk_call(varargin)
% Calls the MEX file and raises what it reports. Raised here, the text of an error is the
% library's and nothing else; Octave would put the MEX file's name before it.
if exist('scmk_mex', 'file') ~= 3
    error('scmk:NotBuilt', 'the MEX file is missing: run scmk_build');
end
[value, problem] = scmk_mex(varargin{:});
if isstruct(problem)
    error(problem.identifier, '%s', problem.message);
elseif ~isnumeric(problem)
    % The error of a progress handle, as it was.
    rethrow(problem);
end
end
