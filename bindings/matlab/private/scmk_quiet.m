function [stop, problem] = scmk_quiet(event) %#ok<INUSD>
% Called where there is no progress handle: the host notices Ctrl-C only while code of its own runs.
stop = false;
problem = [];
end
