# Completion of ckpt-inspect for bash, made by tools/completions/generate.
_ckpt_inspect() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
  [[ $cur == = ]] && cur=''
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      show | mounts | devices | gpu | ps | files | sockets | memory | stats | env | ls | cat | decode | encode | config | spec | check | explain | audit | list | diff | node)
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
    --mnt-id | -p | --pid | --find | --regex | --address | --length | --device | --map | --drop-mount | --gpu-map)
      return
      ;;
    -o | --output | --cdi | --files | --node | --criu-conf | --archive)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --root)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    --engine)
      mapfile -t COMPREPLY < <(compgen -W 'auto podman cri-o containerd runc crun' -- "$cur")
      return
      ;;
    --runtime)
      mapfile -t COMPREPLY < <(compgen -W 'runc crun' -- "$cur")
      return
      ;;
    --severity)
      mapfile -t COMPREPLY < <(compgen -W 'low medium high' -- "$cur")
      return
      ;;
    --only)
      mapfile -t COMPREPLY < <(compgen -W 'mounts devices device_rules hooks environment annotations namespaces rlimits capabilities masked_paths readonly_paths spec checkpoint image_mounts device_nodes processes files gpu sizes members' -- "$cur")
      return
      ;;
  esac
  if [[ $cur == -* ]]; then
    case $command in
      show) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      mounts) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --gpu --hidden --mnt-id' ;;
      devices) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      gpu) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      ps) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --cmd --env --threads -p --pid' ;;
      files) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all -p --pid' ;;
      sockets) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all -p --pid' ;;
      memory) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all -p --pid --find --regex --hexdump --address --length' ;;
      stats) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      env) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --values -p --pid' ;;
      ls) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      cat) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      decode) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --all --pretty -o --output' ;;
      encode) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all -o --output' ;;
      config) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      spec) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      check) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --cdi --device --files --root --node --strict --engine --runtime --map --drop-mount --drop-hooks --gpu-map --in-image --strip-cdi-annotations --criu-conf' ;;
      explain) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --archive --list' ;;
      audit) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --severity' ;;
      list) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
      diff) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --only --values' ;;
      node) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all --root' ;;
      *) words='-h --help --json --format -q --quiet -v --verbose --color --version --help-all' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  if [[ -z $command ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'show mounts devices gpu ps files sockets memory stats env ls cat decode encode config spec check explain audit list diff node' -- "$cur")
  fi
}
complete -o filenames -F _ckpt_inspect ckpt-inspect
