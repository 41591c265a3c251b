function version = scmk_version()
%SCMK_VERSION  Release of the library scmk that is loaded, such as '1.2.3'.
%
%   See also SCMK, SCMK_BUILD.

version = scmk_call('version');
end
