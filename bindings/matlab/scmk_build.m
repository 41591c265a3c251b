function scmk_build(varargin)
%SCMK_BUILD  Compile the MEX file that scmk needs, once for each MATLAB or Octave.
%   scmk_build() finds the library scmk in the checkout this file is part of
%   (built with `make build`) or else, through pkg-config, where
%   `make install` has put it.
%
%   scmk_build(PREFIX) uses the library that was installed below PREFIX, such
%   as '/usr/local' or '/opt/scmk'.
%
%   scmk_build(..., NAME, VALUE) sets a folder of its own for:
%     'lib'      the shared library
%     'include'  scmk.h
%     'output'   the MEX file; by default the folder of this file
%
%   A C++ compiler is needed: in Octave that of mkoctfile (Debian: package
%   octave-dev), in MATLAB that of `mex -setup C++`. The MEX file remembers
%   where the library is, so that no environment variable is needed.
%
%   Example:
%     addpath('/path/to/scmk/bindings/matlab')
%     scmk_build
%     scmk_version
%
%   See also SCMK, MEX.

here = fileparts(mfilename('fullpath'));
folders = struct('lib', '', 'include', '', 'output', here);
if mod(nargin, 2) == 1
    prefix = text(varargin{1}, 'PREFIX');
    varargin(1) = [];
    folders.lib = library_below(prefix);
    folders.include = fullfile(prefix, 'include');
end
for i = 1:2:numel(varargin)
    name = lower(text(varargin{i}, 'a name'));
    if ~isfield(folders, name)
        error('scmk:InvalidArgument', ...
            'scmk_build takes ''lib'', ''include'' and ''output'', not ''%s''', name);
    end
    folders.(name) = text(varargin{i + 1}, name);
end

% What was not said: the checkout if it is one, then pkg-config.
root = fileparts(fileparts(here));
built = fullfile(root, 'build', 'lib');
if isempty(folders.lib) && has_library(built)
    folders.lib = built;
end
if isempty(folders.include) && exist(fullfile(root, 'include', 'scmk.h'), 'file')
    folders.include = fullfile(root, 'include');
end
if isempty(folders.lib)
    folders.lib = pkg_config('libdir');
end
if isempty(folders.include)
    folders.include = pkg_config('includedir');
end
if isempty(folders.lib)
    error('scmk:NotFound', ['the library scmk was not found, neither in ''%s'' nor by ' ...
        'pkg-config: run `make build` in the main folder of scmk, or say where it is installed, ' ...
        'as in scmk_build(''/usr/local'')'], built);
elseif ~has_library(folders.lib)
    error('scmk:NotFound', ['the library scmk was not found in ''%s'': say where it is installed, ' ...
        'as in scmk_build(''/usr/local''), or where its file is, as in ' ...
        'scmk_build(''lib'', FOLDER)'], folders.lib);
elseif isempty(folders.include)
    error('scmk:NotFound', ...
        'scmk.h was not found: say where it is, as in scmk_build(''include'', FOLDER)');
elseif ~exist(fullfile(folders.include, 'scmk.h'), 'file')
    error('scmk:NotFound', ['scmk.h was not found in ''%s'': say where it is, as in ' ...
        'scmk_build(''include'', FOLDER)'], folders.include);
elseif ~exist(folders.output, 'dir')
    error('scmk:NotFound', 'output: there is no folder ''%s''', folders.output);
end

% A loaded MEX file cannot be written over.
clear scmk_mex
source = fullfile(here, 'scmk_mex.cpp');
lib = absolute(folders.lib);
include = absolute(folders.include);
if exist('OCTAVE_VERSION', 'builtin')
    % mkoctfile does not understand an output folder with a space in its name.
    made = [tempname() '.mex'];
    [words, status] = mkoctfile('--mex', ['-I' include], ['-L' lib], '-lscmk', ...
        ['-Wl,-rpath,' lib], '-o', made, source);
    if status ~= 0
        error('scmk:NotBuilt', 'mkoctfile has failed: %s', words);
    end
    [done, words] = movefile(made, fullfile(folders.output, 'scmk_mex.mex'));
    if ~done
        error('scmk:NotBuilt', 'the MEX file cannot be written: %s', words);
    end
elseif ispc
    % The loader of Windows knows no rpath: the folder of the library belongs in PATH.
    mex(['-I' include], ['-L' lib], '-lscmk', '-outdir', folders.output, source);
else
    mex(['-I' include], ['-L' lib], '-lscmk', ['LDFLAGS=$LDFLAGS -Wl,-rpath,' lib], ...
        '-outdir', folders.output, source);
end
rehash
end

function found = has_library(folder)
found = ~isempty(folder) && ~isempty([dir(fullfile(folder, 'libscmk.so')); ...
    dir(fullfile(folder, 'libscmk.dylib')); dir(fullfile(folder, 'scmk.lib'))]);
end

function value = text(value, name)
if isa(value, 'string') && isscalar(value)
    value = char(value);
end
if ~ischar(value) || isempty(value)
    error('scmk:InvalidArgument', 'scmk_build: %s is expected as text, such as a folder', name);
end
end

function lib = library_below(prefix)
lib = fullfile(prefix, 'lib');
if ~has_library(lib) && has_library(fullfile(prefix, 'lib64'))
    lib = fullfile(prefix, 'lib64');
end
end

function value = pkg_config(variable)
% Where there is no pkg-config, or it knows nothing, its words would only confuse.
[status, words] = system(['pkg-config --variable=' variable ' scmk 2>&1']);
value = '';
if status == 0
    value = strtrim(words);
end
end

% The MEX file will be used from other folders than the one it was built in. (Going there by cd
% would lose a relative folder of the host's search path, perhaps the one of this file.)
function folder = absolute(folder)
inside = dir(folder);
folder = inside(1).folder;
end
