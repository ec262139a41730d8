#!/bin/sh
# Says what is left to do where the loader does not find the library that was installed under
# PREFIX.
# usage: check_install.sh PREFIX
prefix=$1
library=$(find "$prefix"/lib* -name libcloister.so 2>/dev/null | head -n 1)
folder=$(dirname "${library:-$prefix/lib/libcloister.so}")
# Whether the command starts, with the library of this prefix and no other.
if env -u LD_LIBRARY_PATH ldd "$prefix/bin/cloister" 2>/dev/null | grep -qF "=> $folder/"; then
    exit 0
fi
cat <<END

$folder is not where programs look for libraries.  One of these helps:
  for everybody   echo $folder | sudo tee /etc/ld.so.conf.d/cloister.conf && sudo ldconfig
  for one shell   export LD_LIBRARY_PATH=$folder
  for a program   cc ... -L$folder -Wl,-rpath,$folder -lcloister
Programs find the headers by  export PKG_CONFIG_PATH=$folder/pkgconfig
END
