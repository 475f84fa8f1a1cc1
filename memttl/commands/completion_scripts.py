"""The scripts that let a shell complete memttl's command lines, and where each is installed.

`cli.py` calls it for `--show-completion` and `--install-completion`. Each script asks `completing.py` at every press of
the tab key; Typer's own ones are not used, since they let the shell evaluate what stands in a memory file.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from memttl.commands.printing import put, say
from memttl.core.near import refuse_unknown_word
from memttl.errors import UsageError
from memttl.report.text import visible

AUTO = "auto"
_BASH = r"""# bash completion of memttl
_memttl() {
    local kind line
    COMPREPLY=()
    {
        IFS= read -r kind
        while IFS= read -r line; do COMPREPLY+=("$line"); done
    } < <(_MEMTTL_COMPLETE=complete_bash "$1" "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ $kind == files ]]; then compopt -o default 2>/dev/null; fi
    return 0
}
complete -F _memttl memttl
"""
_ZSH = r"""#compdef memttl
# zsh completion of memttl
_memttl() {
    local kind
    local -a lines
    lines=("${(@f)$(
        _MEMTTL_COMPLETE=complete_zsh "${(Q)words[1]}" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null
    )}")
    kind=$lines[1]
    shift lines
    if [[ $PREFIX == --*=* ]]; then compset -P '*='; fi
    if [[ $kind == files ]]; then
        _files
    elif (( $#lines )); then
        _describe -t values memttl lines
    fi
}
if [[ $funcstack[1] == _memttl ]]; then
    _memttl "$@"
else
    compdef _memttl memttl
fi
"""
_FISH = r"""# fish completion of memttl
function __memttl_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l lines (env _MEMTTL_COMPLETE=complete_fish $program $words (commandline -ct) 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    if test "$kind" = files
        set -l prefix (string match --regex '^--[^=]*=' -- (commandline -ct))
        for path in (__fish_complete_path (string replace --regex '^--[^=]*=' '' -- (commandline -ct)))
            echo "$prefix$path"
        end
    else if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
end
complete --command memttl --no-files --keep-order --arguments '(__memttl_complete)'
"""
_POWERSHELL = r"""# PowerShell completion of memttl
Register-ArgumentCompleter -Native -CommandName memttl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.Extent.Text } })
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.Encoding]::UTF8
        $env:PYTHONIOENCODING = 'utf-8'
        $env:_MEMTTL_COMPLETE = 'complete_powershell'
        $env:_MEMTTL_WORD = $wordToComplete
        $kind, $lines = @(& memttl @before 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
        Remove-Item Env:PYTHONIOENCODING, Env:_MEMTTL_COMPLETE, Env:_MEMTTL_WORD -ErrorAction SilentlyContinue
    }
    foreach ($line in $lines) {
        $value, $told = $line -split "`t", 2
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $told)
    }
}
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}


class Target(NamedTuple):
    """Where a script is installed: its path, and the lines that the shell's own file must hold to read it."""

    script: str
    own_file: str = ""
    lines: tuple[str, ...] = ()


def show(shell: str) -> None:
    """Print the script of a shell; `auto` is the one in use.

    Raises:
        UsageError: there is no script for it.
    """
    put(SCRIPTS[_known(shell, "--show-completion")])


def install(shell: str) -> None:
    """Write the script of a shell where that finds it, and say so.

    Raises:
        UsageError: there is no script for it, or no place that memttl would write to.
        NoPermission, CannotCreate: it cannot be written.
    """
    from memttl.files.output_file import write_output

    shell = _known(shell, "--install-completion")
    target = target_of(shell, os.environ)
    os.makedirs(os.path.dirname(target.script), exist_ok=True)
    write_output(target.script, SCRIPTS[shell], mode=0o644)
    say(f"Wrote {visible(target.script)}.")
    if target.own_file:
        _add_lines(target)
    say(f"It works in every {shell} that is started from now on.")


def target_of(shell: str, environ: Mapping[str, str]) -> Target:
    """Give where the script of a shell belongs, for the user whose environment this is.

    Raises:
        UsageError: PowerShell, whose profile memttl does not change.
    """
    home = os.path.expanduser("~")
    if shell == "bash":
        data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local/share")
        script = os.path.join(data, "bash-completion/completions/memttl")
        return Target(script, os.path.join(home, ".bashrc"), (f"source {shlex.quote(script)}",))
    if shell == "zsh":
        folder = environ.get("ZDOTDIR") or home
        functions = os.path.join(folder, ".zfunc")
        lines = (f"fpath+=({shlex.quote(functions)})", "autoload -Uz compinit && compinit")
        return Target(os.path.join(functions, "_memttl"), os.path.join(folder, ".zshrc"), lines)
    if shell == "fish":
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return Target(os.path.join(config, "fish/completions/memttl.fish"))
    raise UsageError(
        "memttl does not change the profile of PowerShell; nothing was done.",
        hint="Add this line to the file that $PROFILE names: "
        "memttl --show-completion powershell | Out-String | Invoke-Expression",
    )


def _add_lines(target: Target) -> None:
    """Give the shell's own file the lines that it lacks."""
    from memttl.files.output_file import write_output

    lines, text = "".join(f"{line}\n" for line in target.lines), ""
    try:
        if os.path.exists(target.own_file):
            with open(target.own_file, encoding="utf-8", newline="") as f:
                text = f.read()
    except UnicodeDecodeError:  # it would not be the same when it is written again
        say(f"{visible(target.own_file)} is no UTF-8 and was left alone. Add to it:\n{lines}")
        return
    if not all(line in text.splitlines() for line in target.lines):
        gap = "" if not text or text.endswith("\n") else "\n"
        write_output(target.own_file, f"{text}{gap}{lines}", mode=0o644)
        say(f"Added what reads it to {visible(target.own_file)}.")


def _known(shell: str, option: str) -> str:
    if shell == AUTO:
        shell = _detected(option)
    shell = "powershell" if shell == "pwsh" else shell
    refuse_unknown_word(option, shell, tuple(SCRIPTS))
    return shell


def _detected(option: str) -> str:
    import shellingham  # type: ignore[import-untyped]  # Typer brings it

    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        raise UsageError(
            "The shell in use cannot be told from here; nothing was done.",
            hint=f"Name it: `memttl {option} {'|'.join(SCRIPTS)}`.",
        ) from None
