"""
The completion scripts of bash, zsh and fish.

A script holds all that it knows. So nothing of Stepwell runs while somebody types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .completions import KINDS, LISTS, Flag, Verb

PREFIX: Final = "stepwell-"
OLD: Final = ("opt", "run", "import-onnx", "tune", "show", "calibrate")
"""The verbs that are commands of their own too, `stepwell-opt` and so on."""


def _commands() -> str:
    return " ".join(["stepwell", *(f"{PREFIX}{verb}" for verb in OLD)])


# bash

_BASH: Final = """\
# Completion of stepwell for bash. Add to ~/.bashrc:  source <(stepwell completion bash)
# or, faster:  stepwell completion bash > ~/.local/share/bash-completion/completions/stepwell
{names}
_stepwell_words() {{ COMPREPLY=($(compgen -W "$1" -- "$cur")); compopt +o default 2>/dev/null; }}
_stepwell_list() {{
  local before=
  [[ $cur == *,* ]] && before=${{cur%,*}},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${{cur##*,}}"))
  compopt +o default -o nospace 2>/dev/null
}}
_stepwell() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[0]##*/}}
  COMPREPLY=()
  # Readline takes the = of --flag=value for a word of its own.
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  if [[ $verb == stepwell ]]; then
    if (( COMP_CWORD == 1 )); then _stepwell_words "{verbs} --help --version"; return; fi
    verb=${{COMP_WORDS[1]}}
  fi
  verb=${{verb#stepwell-}}
  case $verb:$prev in
{values}
  esac
  case $verb in
{flags}
  esac
}}
complete -o default -F _stepwell {commands}
"""


def bash(verbs: Sequence[Verb]) -> str:
    """Returns the script for bash, 3.2 and later."""
    values: list[str] = []
    flags: list[str] = []
    for verb in verbs:
        for flag in verb.flags:
            if flag.value is not None:
                names = "|".join(f"{verb.name}:{name}" for name in flag.names)
                values.append(f"    {names}) {_bash_value(flag.value)}return;;")
        known = " ".join(name for flag in verb.flags for name in flag.names)
        words = "" if verb.words == "files" else f"; else _stepwell_words '{verb.words}'"
        flags.append(f"    {verb.name}) if [[ $cur == -* ]]; then _stepwell_words '{known}'{words}; fi;;")
    return _BASH.format(
        names="\n".join(f"_stepwell_{kind}='{' '.join(names())}'" for kind, names in KINDS.items()),
        verbs=" ".join(verb.name for verb in verbs),
        values="\n".join(values),
        flags="\n".join(flags),
        commands=_commands(),
    )


def _bash_value(value: str) -> str:
    if value in KINDS:
        return f'_stepwell_{"list" if value in LISTS else "words"} "$_stepwell_{value}"; '
    if value == "files":
        return ""
    return f"_stepwell_words '{value}'; "


# zsh

_ZSH: Final = """\
#compdef {commands}
# Completion of stepwell for zsh. Add to ~/.zshrc, after compinit:  source <(stepwell completion zsh)
# or write it to a file _stepwell in a folder of $fpath.
{names}
_stepwell() {{
  local verb=${{service#stepwell-}}
  if [[ $service == stepwell ]]; then
    if (( CURRENT == 2 )); then
      local -a verbs=({verbs})
      _describe verb verbs
      return
    fi
    verb=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $verb in
{cases}
  esac
}}
if [[ $funcstack[1] == _stepwell ]]; then _stepwell "$@"; else compdef _stepwell {commands}; fi
"""


def zsh(verbs: Sequence[Verb]) -> str:
    """Returns the script for zsh, which is both a file of `$fpath` and one to be sourced."""
    names = [
        f"_stepwell_{kind}() {{ {'_values -s ,' if kind in LISTS else '_values'} name {' '.join(known())} }}"
        for kind, known in KINDS.items()
    ]
    cases: list[str] = []
    for verb in verbs:
        specs = [_zsh_flag(flag) for flag in verb.flags]
        if verb.words:
            specs.append("'*:file:_files'" if verb.words == "files" else f"'1:word:({verb.words})'")
        cases.append("\n      ".join([f"    {verb.name}) _arguments -s \\", " \\\n      ".join(specs) + ";;"]))
    return _ZSH.format(
        names="\n".join(names),
        verbs=" ".join(f"'{verb.name}:{_quoted(verb.help)}'" for verb in verbs),
        cases="\n".join(cases),
        commands=_commands(),
    )


def _quoted(text: str) -> str:
    return text.replace("'", "'\\''").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")


def _zsh_flag(flag: Flag) -> str:
    action = "" if flag.value is None else f":value:{_zsh_value(flag.value)}"
    equals = "" if flag.value is None else "="
    specs = [f"'*{name}{equals if name.startswith('--') else ''}[{_quoted(flag.help)}]{action}'" for name in flag.names]
    return " ".join(specs)


def _zsh_value(value: str) -> str:
    if value in KINDS:
        return f"_stepwell_{value}"
    return "_files" if value == "files" else f"({value})" if value else " "


# fish

_FISH: Final = """\
# Completion of stepwell for fish:  stepwell completion fish > ~/.config/fish/completions/stepwell.fish
function __stepwell_list
    set -l typed (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l before (string replace -r '[^,]*$' '' -- "$typed")
    printf '%s\\n' "$before"$argv
end
{names}
{lines}
"""


def fish(verbs: Sequence[Verb]) -> str:
    """Returns the script for fish, 3.0 and later."""
    lines = [
        f"complete -c stepwell -n __fish_use_subcommand -f -a {verb.name} -d {_single(verb.help)}" for verb in verbs
    ]
    lines.append("complete -c stepwell -n __fish_use_subcommand -l version -d 'show the version'")
    for verb in verbs:
        scopes = [f"-c stepwell -n '__fish_seen_subcommand_from {verb.name}'"]
        scopes += [f"-c {PREFIX}{verb.name}"] if verb.name in OLD else []
        for scope in scopes:
            lines += [f"complete {scope} {_fish_flag(flag)}" for flag in verb.flags]
            if verb.words != "files":
                lines.append(f"complete {scope} -f" + (f" -a '{verb.words}'" if verb.words else ""))
    names = [f"set -g __stepwell_{kind} {' '.join(known())}" for kind, known in KINDS.items()]
    return _FISH.format(names="\n".join(names), lines="\n".join(lines))


def _single(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_flag(flag: Flag) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
    return f"{names}{_fish_value(flag.value)} -d {_single(flag.help)}"


def _fish_value(value: str | None) -> str:
    if value is None:
        return ""
    if value in LISTS:
        return f" -x -a '(__stepwell_list $__stepwell_{value})'"
    if value in KINDS:
        return f" -x -a '$__stepwell_{value}'"
    return " -r -F" if value == "files" else f" -x -a '{value}'" if value else " -x"


SHELLS: Final[dict[str, Callable[[Sequence[Verb]], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""The shells, and what writes their scripts."""
