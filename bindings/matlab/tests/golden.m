function path = golden(varargin)
% A file or folder of the problems that all languages share.
root = fileparts(fileparts(fileparts(fileparts(mfilename('fullpath')))));
path = fullfile(root, 'tests', 'golden', varargin{:});
end
