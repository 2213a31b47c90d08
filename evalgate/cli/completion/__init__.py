"""Shell completion: a static script for bash, zsh, fish or PowerShell, generated from the parsers of all verbs.

Entry points: `verb.COMMANDS`, `command_words.list_commands`, `bash_script`, `zsh_script`, `fish_script`,
`powershell_script`.
"""
