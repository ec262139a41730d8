# Completion: scripts for shells

## Completes in bash

  $ cloister completion bash > script
  $ cat > ask.sh <<'END'
  > . ./script
  > ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cloister; echo "${COMPREPLY[@]}"; }
  > ask cloister le
  > ask cloister run kme
  > ask cloister run kmeans f.csv --clu
  > ask cloister run kmeans f.csv --relation ""
  > ask cloister ledger sh
  > END
  $ bash ask.sh
  ledger
  kmeans kmeans/density kmeans/local kmeans/highdim kmeans/grid kmeans/lloyd kmeans/sparse kmeans/aggregate kmedian kmedian/highdim kmedian/local kmedian/density
  --clusters --clusters-at-most
  replace add-remove
  show

## Refuses another shell

  $ cloister completion tcsh
  ! cloister: the shell must be bash, zsh or fish, not 'tcsh'
  [exit 2]

## Speaks bash

  $ cloister completion bash > script
  $ bash -n script && grep -c -- --epsilon script
  {{[1-9]}}

## Speaks zsh and fish

  $ for shell in zsh fish; do
  >     cloister completion $shell > $shell.script
  >     if command -v $shell > /dev/null; then $shell -n $shell.script; fi
  >     grep -q 'rows-per-unit' $shell.script || echo "$shell does not know --rows-per-unit"
  >     grep -q 'kmeans/lloyd' $shell.script || echo "$shell does not know kmeans/lloyd"
  > done
