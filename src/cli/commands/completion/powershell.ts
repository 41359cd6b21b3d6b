/**
 * The script for PowerShell. That of the completion library builds a command out of what was typed and evaluates it, and
 * a typographic quote, which PowerShell takes for one of its own, ends the quoting.
 */
export const POWERSHELL = `# PowerShell completion for service
Register-ArgumentCompleter -Native -CommandName 'service', 'service-cli' -ScriptBlock {
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
        $reply = @(& service complete '--' @words 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
    }
    if (-not ("$($reply[-1])" -match '^:(\\d+)$')) { return }
    $directive = [int]$Matches[1]
    # A flag that holds its value keeps itself.
    $flag = if ($wordToComplete -match '^(-[^=]*=)') { $Matches[1] } else { '' }
    $lines = @($reply | Where-Object { $_ -match "\`t" })
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
