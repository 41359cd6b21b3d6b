/**
 * The script for bash. Unlike that of the completion library it needs no other package, completes values that hold a
 * colon and flags that hold their value, and never evaluates what was typed.
 */
export const BASH = `# bash completion for service
_service_completion() {
  local word reply directive line value current head="" strip=""
  local -a words=()
  local i glue=0
  # Bash takes : and = for the ends of words; the program wants words whole.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)) && [[ -z $word && \${COMP_LINE:0:COMP_POINT} == *" " ]]; then glue=0; fi
    if ((\${#words[@]} > 0)) && { ((glue)) || [[ $word =~ ^[:=]+$ ]]; }; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word =~ ^[:=]+$ ]]; then glue=1; else glue=0; fi
  done
  current=\${words[\${#words[@]} - 1]}
  COMPREPLY=()
  reply=$("$1" complete -- "\${words[@]}" 2>/dev/null) || return 0
  directive=\${reply##*:}
  [[ $directive =~ ^[0-9]+$ ]] || return 0
  if [[ $current == -*=* ]]; then
    [[ $COMP_WORDBREAKS == *=* ]] || head="\${current%%=*}="
    current=\${current#*=}
  fi
  # Only what follows the last colon is replaced.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then strip="\${current%:*}:"; fi
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    [[ $line == *$'\\t'* ]] && COMPREPLY+=("$head\${value#"$strip"}")
  done <<<"$reply"
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if ((directive & 4)); then compopt +o default 2>/dev/null; fi
  return 0
}
complete -o default -F _service_completion service service-cli`;
