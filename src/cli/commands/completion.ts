import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { basename } from "node:path";

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish", "powershell"];

/** `service completion <shell>`. */
export const command: CommandDefinition = {
  name: "completion",
  about: "Generate a shell completion script for commands, flags, event types, profiles and IDs",
  args: [{ arg: "[shell]", about: "Shell, by default that of $SHELL", choices: SHELLS }],
  examples: [
    "source <(service completion bash) # In ~/.bashrc",
    "source <(service completion zsh) # In ~/.zshrc, after compinit",
    "service completion fish > ~/.config/fish/completions/service.fish",
    "service completion powershell | Out-String | Invoke-Expression # In $PROFILE",
  ],
  notes: `
Shells complete a command by its first word, so not after npx. To have the
command itself: npm install --global service-cli`,
  run({ stdout, env }: Context, named: Shell | undefined) {
    const own = basename(env["SHELL"] ?? "");
    const shell = named ?? SHELLS.find((known) => known === own);
    if (shell === undefined) throw new UsageError(`Pass the shell: ${SHELLS.join(", ")}`);
    // If it was called as `service-cli`, `service` may be another program: several Linux distributions have one.
    const names = basename(process.argv[1] ?? "").startsWith(PACKAGE) ? [PACKAGE] : ["service", PACKAGE];
    stdout.write(`${SCRIPTS[shell](names)}\n`);
  },
};

type Shell = "bash" | "zsh" | "fish" | "powershell";

const PACKAGE = "service-cli";

/**
 * Returns the script for bash. Unlike that of the completion library it needs no other package, completes values with a
 * colon and flags with an inline value, and never evaluates the input.
 */
const bashScript = (names: readonly string[]) => `# bash completion for service
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
complete -o default -F _service_completion ${names.join(" ")}`;

/** Returns the script for zsh. That of the completion library cuts values at a colon, and splits quoted words. */
const zshScript = (names: readonly string[]) => `#compdef ${names.join(" ")}
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
  compdef _service ${names.join(" ")}
fi`;

/**
 * Returns the script for fish. That of the completion library completes one name only, and keeps the results of the last
 * word in a global variable.
 */
const fishScript = (names: readonly string[]) => `# fish completion for service
function __service_complete
    set -l word (commandline -ct)
    set -l words (commandline -opc) "$word"
    set -l reply ($words[1] complete -- $words[2..-1] 2>/dev/null)
    set -l directive (string match -rg '^:(\\d+)$' -- $reply[-1])
    test -n "$directive"; or return
    # A flag that holds its value keeps itself.
    set -l flag (string match -r -- '^-[^=]*=' "$word")
    set -l values (string match -re '\\t' -- $reply)
    printf '%s\\n' "$flag"$values
    if test (count $values) -eq 0; and test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path (string replace -r -- '^-[^=]*=' '' "$word")
    end
end
${names.map((name) => `complete -c ${name} -f -k -a '(__service_complete)'`).join("\n")}`;

/**
 * Returns the script for PowerShell. That of the completion library builds a command from the typed text and evaluates
 * it. A typographic quote, which PowerShell treats as its own, would end the quoting.
 */
const powershellScript = (names: readonly string[]) => `# PowerShell completion for service
Register-ArgumentCompleter -Native -CommandName ${names.map((name) => `'${name}'`).join(", ")} -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # The words up to the cursor, as they were typed.
    $words = @(foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        $length = $cursorPosition - $element.Extent.StartOffset
        if ($length -gt 0) {
            $text = $element.Extent.Text
            $text.Substring(0, [Math]::Min($length, $text.Length))
        }
    })
    # Older versions drop an empty argument on its way; the program takes the quotes off.
    if ($wordToComplete -eq '') { $words += '""' }
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.Encoding]::UTF8
        $response = @(& ${names[0]} complete '--' @words 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
    }
    if (-not ("$($response[-1])" -match '^:(\\d+)$')) { return }
    $directive = [int]$Matches[1]
    # A flag that holds its value keeps itself.
    $flag = if ($wordToComplete -match '^(-[^=]*=)') { $Matches[1] } else { '' }
    $lines = @($response | Where-Object { $_ -match "\`t" })
    # An empty answer keeps the shell from offering files.
    if ($lines.Count -eq 0 -and ($directive -band 4)) { return '' }
    foreach ($line in $lines) {
        $value, $description = $line.Split("\`t", 2)
        $text = $flag + $value
        # A comma would make a list of it.
        $quoted = if ($text -match '[,@]') { "'$text'" } else { $text }
        $tip = if ($description) { $description } else { $value }
        [System.Management.Automation.CompletionResult]::new($quoted, $value, 'ParameterValue', $tip)
    }
}`;

const SCRIPTS: Readonly<Record<Shell, (names: readonly string[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};
