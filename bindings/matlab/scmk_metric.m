function value = scmk_metric(name, truth, labels)
%SCMK_METRIC  Compare labels with a known division of the same samples.
%   VALUE = scmk_metric(NAME, TRUTH, LABELS) is the metric of that name. TRUTH
%   and LABELS are vectors of whole numbers; only which samples share a number
%   matters, not which number it is. Ctrl-C stops it.
%
%   scmk_metric() lists the metrics. METRICS = scmk_metric() returns them as a
%   struct array of name and doc.
%
%   Example:
%     scmk_metric('accuracy', [1 1 2 2], [2 2 1 2])     % 0.75
%
%   See also SCMK.

if nargin == 0
    value = scmk_call('metrics');
    if nargout == 0
        for i = 1:numel(value)
            fprintf('%-16s%s\n', value(i).name, value(i).doc);
        end
        clear value
    end
    return
end
if nargin ~= 3
    error('scmk:InvalidArgument', 'a name, the truth and the labels are expected');
end
value = scmk_call('metric', scmk_name(name), whole(truth, 'truth'), whole(labels, 'labels'), ...
    @scmk_quiet);
end

% The library counts in int32; a conversion would round silently.
function labels = whole(given, name)
if ~isnumeric(given) && ~islogical(given)
    error('scmk:InvalidArgument', '%s: class %s is given, whole numbers are expected', ...
        name, class(given));
end
labels = int32(full(given));
if ~isequal(double(labels), double(given))
    error('scmk:InvalidArgument', '%s: whole numbers from -2^31 to 2^31 - 1 are expected', name);
end
end
