# Completion of ckpt-patch for bash, made by tools/completions/generate.
_ckpt_patch() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
  [[ $cur == = ]] && cur=''
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
  COMPREPLY=()
  case $prev in
    --format)
      mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$cur")
      return
      ;;
    --color)
      mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
      return
      ;;
    -o | --output | --cdi | --files | --node | --externals | --plan | --apply | --oci-archive)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --device | --map | --drop-mount | --gpu-map | --oci | --image-name)
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
    --externals-format)
      mapfile -t COMPREPLY < <(compgen -W 'conf args json' -- "$cur")
      return
      ;;
    --for)
      mapfile -t COMPREPLY < <(compgen -W 'restore dump' -- "$cur")
      return
      ;;
    --compress)
      mapfile -t COMPREPLY < <(compgen -W 'none gzip zstd' -- "$cur")
      return
      ;;
  esac
  if [[ $cur == -* ]]; then
    case $command in
      *) words='-h --help --help-all --json --format -q --quiet -v --verbose --color --version -o --output --in-place --cdi --device --files --root --node --strict --engine --runtime --map --drop-mount --drop-hooks --gpu-map --in-image --strip-cdi-annotations --externals --externals-format --for --auto --plan --apply -n --dry-run --force --record --compress --oci --oci-archive --image-name --delta --verify' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -F _ckpt_patch ckpt-patch
