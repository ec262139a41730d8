# Version

## Refuses a stray word

  $ cloister version now
  ! cloister: 'version' does not know what to do with 'now'
  ! try: cloister version --help
  [exit 2]

## Says its version

  $ cloister version
  cloister 0.1.0
  $ cloister --version
  cloister 0.1.0

## Writes JSON

  $ cloister version --json | python3 -c "import json,sys; print(sorted(json.load(sys.stdin)))"
  ['blas_threading', 'mechanisms', 'schema', 'version']
