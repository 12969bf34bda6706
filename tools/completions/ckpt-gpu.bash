# Completion of ckpt-gpu for bash, made by tools/completions/generate.
_ckpt_gpu() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
  [[ $cur == = ]] && cur=''
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      state | tid | preflight | suspend | resume | lock | checkpoint | restore | unlock | toggle | recover | map)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done
  case $prev in
    --format)
      mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$cur")
      return
      ;;
    --color)
      mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
      return
      ;;
    --timeout | --copy-timeout | --pid | --tree | --container | --device-map | --jobs | --old)
      return
      ;;
    --libcuda | --libnvml | --cgroup | --device-map-file | --recorded | --record)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --state-root | --proc-root)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    --for)
      mapfile -t COMPREPLY < <(compgen -W 'restore dump' -- "$cur")
      return
      ;;
  esac
  if [[ $cur == -* ]]; then
    case $command in
      state) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container -a --all' ;;
      tid) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container' ;;
      preflight) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --device-map --device-map-file --recorded --for' ;;
      suspend) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --hugepages --record' ;;
      resume) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --device-map --device-map-file --recorded' ;;
      lock) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force' ;;
      checkpoint) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --hugepages --record' ;;
      restore) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --device-map --device-map-file --recorded' ;;
      unlock) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force' ;;
      toggle) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --hugepages --record --device-map --device-map-file --recorded' ;;
      recover) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --pid --tree --cgroup --container --jobs --force --device-map --device-map-file --recorded' ;;
      map) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all --device-map --device-map-file --recorded --old' ;;
      *) words='-h --help --json --format -q --quiet -v --verbose --color --version --timeout --copy-timeout --libcuda --libnvml --state-root --proc-root --help-all' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  if [[ -z $command ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'state tid preflight suspend resume lock checkpoint restore unlock toggle recover map' -- "$cur")
  fi
}
complete -o filenames -F _ckpt_gpu ckpt-gpu
