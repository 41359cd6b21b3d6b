/** The script for zsh. That of the completion library cuts values at a colon, and splits quoted words. */
export const ZSH = `#compdef service service-cli
_service() {
  local reply line value directive width=0
  local -a values descriptions shown extra
  reply=$("\${words[1]}" complete -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null) || return 1
  directive=\${reply##*:}
  [[ $directive == <-> ]] || return 1
  for line in "\${(@f)reply}"; do
    [[ $line == *$'\\t'* ]] || continue
    value=\${line%%$'\\t'*}
    values+=("$value")
    descriptions+=("\${line#*$'\\t'}")
    ((\${#value} > width)) && width=\${#value}
  done
  local i
  for ((i = 1; i <= \${#values}; i++)); do
    shown+=("\${(r:width:)values[i]}\${descriptions[i]:+  }\${descriptions[i]}")
  done
  # A flag that holds its value keeps itself.
  compset -P '-*='
  ((directive & 2)) && extra=(-S '')
  if ((\${#values})); then
    compadd -l -d shown "\${extra[@]}" -a values
  elif ((!(directive & 4))); then
    _files
  fi
}
if [[ "\${funcstack[1]}" == _service ]]; then
  _service "$@"
else
  compdef _service service service-cli
fi`;
