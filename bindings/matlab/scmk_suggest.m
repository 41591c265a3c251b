function suggestion = scmk_suggest(data, range, varargin)
%SCMK_SUGGEST  How many clusters do the samples have?
%   scmk_suggest(X) says how many clusters the samples, the rows of X, fall into,
%   and plots how good each number is. scmk(X) takes that number by itself.
%
%   scmk_suggest(X, RANGE) looks at the numbers from the smallest to the largest
%   element of RANGE, such as 2:10; [] leaves the range to scmk.
%
%   S = scmk_suggest(...) plots nothing, and returns a struct:
%     clusters    the best number; 1 if the samples do not fall into clusters
%     next        the one to look at next; [] if there is none
%     confidence  how sure that is, from 0 to 1
%     numbers     the numbers of the range
%     scores      one for each of them; larger is better
%     summary     the same in words
%
%   scmk_suggest(X, RANGE, NAME, VALUE, ...) takes all that SCMK does: several
%   views, kernel matrices, 'kernels', 'progress', options. Stopped, it has
%   nothing to return, and raises the error scmk:Stopped.
%
%   Example:
%     X = [randn(30, 2); randn(30, 2) + 8; randn(30, 2) - 8];
%     s = scmk_suggest(X, 2:10);
%     idx = scmk(X, s.clusters);
%
%   See also SCMK, SCMK_PATH, SCMK_OPTIONS.

if nargin < 1
    error('scmk:InvalidArgument', 'data are expected: scmk_suggest(X)');
end
if nargin < 2
    range = [];
end
range = scmk_number(range);
if isnumeric(range) || islogical(range)
    range = [min(range(:)), max(range(:))];
end
found = scmk_run('suggest', data, range, varargin, {{}});
found.summary = summary(found);
if nargout > 0
    suggestion = found;
    return
end
fprintf('%s\n', found.summary);
show(found);
end

function words = summary(found)
sure = sprintf('confidence %.2f', found.confidence);
if found.clusters == 1
    words = ['the samples do not fall into clusters (' sure];
else
    words = sprintf('%d clusters (%s', found.clusters, sure);
end
if ~isempty(found.next)
    words = sprintf('%s, next %d', words, found.next);
end
words = [words ')'];
end

function show(found)
if exist('OCTAVE_VERSION', 'builtin') && isempty(available_graphics_toolkits())
    % Without a way to plot, a table has to do.
    fprintf('%10s  %s\n', 'clusters', 'score');
    fprintf('%10d  %.4g\n', [found.numbers, found.scores]');
    return
end
best = found.numbers == found.clusters;
plot(found.numbers, found.scores, 'o-', found.numbers(best), found.scores(best), 'r*');
xlabel('clusters');
ylabel('score');
title(found.summary);
end
