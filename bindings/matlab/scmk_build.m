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
    prefix = varargin{1};
    varargin(1) = [];
    folders.lib = library_below(prefix);
    folders.include = fullfile(prefix, 'include');
end
for i = 1:2:numel(varargin)
    if ~isfield(folders, varargin{i})
        error('scmk:InvalidArgument', ...
            'scmk_build takes ''lib'', ''include'' and ''output'', not ''%s''', varargin{i});
    end
    folders.(varargin{i}) = varargin{i + 1};
end

% What was not said: the checkout if it is one, then pkg-config.
root = fileparts(fileparts(here));
if isempty(folders.lib) && has_library(fullfile(root, 'build', 'lib'))
    folders.lib = fullfile(root, 'build', 'lib');
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
if ~has_library(folders.lib)
    error('scmk:NotFound', ['the library scmk was not found in ''%s'': run `make build` in the ' ...
        'checkout, or say where it is installed: scmk_build(PREFIX)'], folders.lib);
end
if ~exist(fullfile(folders.include, 'scmk.h'), 'file')
    error('scmk:NotFound', 'scmk.h was not found in ''%s''', folders.include);
end

% A loaded MEX file cannot be written over.
clear scmk_mex
source = fullfile(here, 'scmk_mex.cpp');
lib = absolute(folders.lib);
include = absolute(folders.include);
if exist('OCTAVE_VERSION', 'builtin')
    % mkoctfile does not understand an output folder with a space in its name.
    built = [tempname() '.mex'];
    [words, status] = mkoctfile('--mex', ['-I' include], ['-L' lib], '-lscmk', ...
        ['-Wl,-rpath,' lib], '-o', built, source);
    if status ~= 0
        error('scmk:NotBuilt', 'mkoctfile has failed: %s', words);
    end
    [done, words] = movefile(built, fullfile(folders.output, 'scmk_mex.mex'));
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

function lib = library_below(prefix)
lib = fullfile(prefix, 'lib');
if ~has_library(lib) && has_library(fullfile(prefix, 'lib64'))
    lib = fullfile(prefix, 'lib64');
end
end

function value = pkg_config(variable)
[status, words] = system(['pkg-config --variable=' variable ' scmk']);
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
