"""The completion script of PowerShell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.cli.completion.command_words import CommandWords, Value

_SCRIPT = r"""# Completes evalgate in PowerShell. Written by: evalgate completion powershell
Register-ArgumentCompleter -Native -CommandName evalgate -ScriptBlock {
    param($word, $ast, $cursor)
    $commands = @{
@COMMANDS@
    }
    $path = 'evalgate'
    $option = ''
    $count = 0
    foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursor) { break }
        $text = "$element"
        if ($option) { $option = '' }
        elseif ($commands[$path].takes.Contains($text)) { $option = $text }
        elseif ($commands.ContainsKey("$path $text")) { $path = "$path $text" }
        elseif (-not $text.StartsWith('-')) { $count++ }
    }
    $command = $commands[$path]
    $help = @{}
    if ($option) { $kind = $command.takes[$option] }
    elseif ("$word".StartsWith('-')) { $kind = 'words'; $help = $command.options }
    elseif ($command.actions.Count) { $kind = 'words'; $help = $command.actions }
    elseif ($command.operands.Count) { $kind = $command.operands[[Math]::Min($count, $command.operands.Count - 1)] }
    else { $kind = 'text' }
    $found = @($help.Keys)
    if ($kind -eq 'scenario') {
        # Ids of scenarios of the last run; none with a character that could change the terminal.
        $results = Get-Item .evalgate/results.json -Force -ErrorAction SilentlyContinue
        if ($results -and $results.Length -lt 1000000) {
            $found = [regex]::Matches([IO.File]::ReadAllText($results.FullName), '"id":"([^"\\\p{C}]+)","variant":') |
                ForEach-Object { $_.Groups[1].Value } | Sort-Object -Unique
        }
    }
    elseif ($kind -is [array]) { $found = $kind }
    # Without a result PowerShell completes files.
    foreach ($each in $found | Where-Object { "$_".StartsWith("$word".Trim("'")) }) {
        $quoted = if ($each -match '^[\w.*-]+$') { $each } else { "'" + $each.Replace("'", "''") + "'" }
        $text = if ($help[$each]) { $help[$each] } else { $each }
        [System.Management.Automation.CompletionResult]::new($quoted, $each, 'ParameterValue', $text)
    }
}"""


def write_script(commands: Sequence[CommandWords]) -> str:
    """The script: a table of what follows each command, and the block that looks up where the cursor is."""
    return _SCRIPT.replace("@COMMANDS@", "\n".join(map(_write_command, commands)))


def _write_command(command: CommandWords) -> str:
    helps = {name: option.help for option in command.options for name in option.names}
    values = {name: option.value for option in command.options if option.value for name in option.names}
    fields = (
        f"options = {_write_table({name: _quote(text) for name, text in helps.items()})}",
        f"takes = {_write_table({name: _write_value(value) for name, value in values.items()})}",
        f"actions = {_write_table({name: _quote(text) for name, text in command.actions})}",
        f"operands = @({_write_operands(command.operands)})",
    )
    return f"        {_quote(' '.join(('evalgate', *command.path)))} = @{{ {'; '.join(fields)} }}"


def _write_table(entries: dict[str, str]) -> str:
    return "[ordered]@{ " + "; ".join(f"{_quote(name)} = {text}" for name, text in entries.items()) + " }"


def _write_operands(operands: Sequence[Value]) -> str:
    """The values as elements of a list; a list of one list needs a comma in front, which keeps it a list."""
    written = ", ".join(map(_write_value, operands))
    return f", {written}" if len(operands) == 1 else written


def _write_value(value: Value) -> str:
    return f"@({', '.join(map(_quote, value.words))})" if value.kind == "words" else _quote(value.kind)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
