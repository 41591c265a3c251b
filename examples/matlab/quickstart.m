function quickstart(folder)
%QUICKSTART  Cluster 400 handwritten digits that are described in six ways (views), by plain defaults.
%Run scmk_build once before; then quickstart, or quickstart(DATA_FOLDER).
here = fileparts(mfilename('fullpath'));
if isempty(which('scmk'))
    addpath(fullfile(here, '..', '..', 'bindings', 'matlab'));
end
if nargin < 1
    folder = fullfile(here, '..', 'data', 'digits');
end
views = struct();
for name = {'fou', 'fac', 'kar', 'pix', 'zer', 'mor'}
    views.(name{1}) = csvread(fullfile(folder, [name{1} '.csv']));
end

[idx, model] = scmk(views, 10);

% The true digits serve for the accuracy alone.
truth = csvread(fullfile(folder, 'labels.csv'));
fprintf('labels   %s ...\n', sprintf(' %d', idx(1:25)));
fprintf('clusters %s\n', sprintf(' %d:%d', [1:10; accumarray(idx, 1)']));
shares = [model.views, num2cell(model.view_weights)]';
fprintf('views    %s\n', sprintf(' %s:%.4f', shares{:}));
fprintf('quality   accuracy %.1f %%, NMI %.1f %%\n', ...
    100 * scmk_metric('accuracy', truth, idx), 100 * scmk_metric('nmi', truth, idx));
fprintf('solved    in %.2f s, relative duality gap at most %.1e\n', ...
    model.info.seconds, model.info.kkt_residual);
end
