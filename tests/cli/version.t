# Version

## Refuses a stray word

  $ cloister version now
  ! cloister: 'version' does not expect 'now': put it in quotes if it is part of an option's value
  ! try: cloister version --help
  [exit 2]

## Says its version

  $ sed -n "s/^ *version: '\(.*\)',/cloister \1/p" "$HERE/../../meson.build" > number
  $ cloister version | diff number -
  $ cloister --version | diff number -

## Writes JSON

  $ cloister version --json | python3 -c "import json,sys; print(sorted(json.load(sys.stdin)))"
  ['blas_threading', 'mechanisms', 'schema', 'version']

## Says what is left to do after an install under another prefix

  $ mkdir -p here/lib && touch here/lib/libcloister.so
  $ "$HERE/../../tools/check_install.sh" here
  {{}}
  here/lib is not where programs look for libraries.  One of these helps:
    for everybody   echo here/lib | sudo tee /etc/ld.so.conf.d/cloister.conf && sudo ldconfig
    for one shell   export LD_LIBRARY_PATH=here/lib
    for a program   cc ... -Lhere/lib -Wl,-rpath,here/lib -lcloister
  Programs find the headers by  export PKG_CONFIG_PATH=here/lib/pkgconfig
