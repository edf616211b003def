// Generates shell completion scripts from the declarations of the commands.
import { shownCatalog } from "./catalog.ts";
import { commonOptions, isGroup, type Option } from "./framework/command.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type ShellName = (typeof shells)[number];

interface Entry {
  /** The words that name the command, such as "bucket create"; empty for `store` itself. */
  readonly path: string;
  /** Subcommands. */
  readonly words: readonly { readonly name: string; readonly summary: string }[];
  readonly options: Readonly<Record<string, Option>>;
}

async function entries(): Promise<Entry[]> {
  const loaded = await Promise.all(shownCatalog.map(({ load }) => load()));
  const found: Entry[] = [{ path: "", words: loaded, options: commonOptions }];
  for (const entry of loaded) {
    if (!isGroup(entry)) {
      found.push({ path: entry.name, words: [], options: { ...entry.options, ...commonOptions } });
      continue;
    }
    found.push({ path: entry.name, words: entry.commands, options: commonOptions });
    for (const command of entry.commands) {
      const path = `${entry.name} ${command.name}`;
      found.push({ path, words: [], options: { ...command.options, ...commonOptions } });
    }
  }
  return found;
}

export async function completionScript(shell: ShellName): Promise<string> {
  const all = await entries();
  return shell === "bash" ? bashScript(all) : shell === "zsh" ? zshScript(all) : fishScript(all);
}

function candidates({ words, options }: Entry): string {
  const names = words.map(({ name }) => name);
  return [...names, ...Object.keys(options).map((name) => `--${name}`)].join(" ");
}

/** Shell code that sets `path` to the command and subcommand typed so far, without options. */
const bashPath = `  local path="" word names
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    names=$(_store_names "\${path:+$path }$word")
    [[ -n $names ]] && path="\${path:+$path }$word" || break
  done`;

function bashScript(all: readonly Entry[]): string {
  const cases = all.map((entry) => `    "${entry.path}") echo "${candidates(entry)}" ;;`);
  return `# Completions of store for bash: source <(store completions bash)
_store_names() {
  case "$1" in
${cases.join("\n")}
  esac
}
_store() {
${bashPath}
  local current="\${COMP_WORDS[COMP_CWORD]}" candidate
  COMPREPLY=($(compgen -W "$(_store_names "$path")" -- "$current"))
  [[ $current == -* || ( -n \${COMPREPLY[0]} && \${COMPREPLY[0]} != -* ) ]] && return
  COMPREPLY=()
  local quote="" quotes=$'"\\'' typed=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  [[ $current == [$quotes]* ]] && quote="\${current:0:1}"
  typed=("\${typed[@]//\\\\/}")
  typed=("\${typed[@]#[$quotes]}")
  while IFS= read -r candidate; do
    [[ -z $candidate ]] && continue
    [[ -n $quote ]] && COMPREPLY+=("$quote$candidate") || COMPREPLY+=("$(printf %q "$candidate")")
  done < <(command store complete -- "\${typed[@]}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o bashdefault -o default -F _store store`;
}

/** Uses `at` instead of `path`, because `path` is the search path in zsh. */
function zshScript(all: readonly Entry[]): string {
  const cases = all.map((entry) => {
    const words = entry.words.map(({ name, summary }) => zshWord(name, summary));
    const options = Object.entries(entry.options).map(([name, { summary }]) => zshWord(`--${name}`, summary));
    return `    "${entry.path}") reply=(${[...words, ...options].join(" ")}) ;;`;
  });
  return `#compdef store
# Completions of store for zsh: source <(store completions zsh)
_store_names() {
  reply=()
  case "$1" in
${cases.join("\n")}
  esac
}
_store() {
  local at="" word
  local -a reply
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    _store_names "\${at:+$at }$word"
    (( \${#reply} )) && at="\${at:+$at }$word" || break
  done
  _store_names "$at"
  local -a found folders typed
  local quotes=$'"\\''
  typed=("\${(@Q)words[2,CURRENT]}")
  typed[-1]="\${typed[-1]#[$quotes]}"
  if [[ $PREFIX != -* ]]; then
    found=("\${(@f)$(command store complete -- "\${(@)typed}" 2>/dev/null)}")
    folders=(\${(M)found:#*/})
    found=(\${found:#*/})
    (( \${#folders} )) && compadd -S '' -- $folders
    [[ -n $found[1] ]] && compadd -- $found
  fi
  if [[ $PREFIX == -* || \${#found}\${#folders} == 00 || -z "$at" ]]; then
    _describe store reply || _files
  fi
}
compdef _store store`;
}

function zshWord(name: string, summary: string): string {
  return quoteWord(`${name.replaceAll(":", "\\:")}:${summary}`);
}

function fishScript(all: readonly Entry[]): string {
  const lines = all.flatMap((entry) => {
    const condition = `-n ${quoteWord(fishCondition(entry))}`;
    const words = entry.words.map(
      ({ name, summary }) => `complete -c store -f ${condition} -a ${name} -d ${quoteWord(summary)}`,
    );
    const options = Object.entries(entry.options).map(([name, { value, summary }]) => {
      const valueFlag = value === undefined ? "" : "-r ";
      return `complete -c store ${valueFlag}${condition} -l ${name} -d ${quoteWord(summary)}`;
    });
    return [...words, ...options];
  });
  const head = "# Completions of store for fish: store completions fish | source";
  return [head, fishNames, ...lines, "complete -c store -a '(__store_names)'"].join("\n");
}

/** The word under the cursor is as typed: with its backslashes, or with a quote that is still open. */
const fishNames = `function __store_names
  set -l typed (commandline -ct)
  if string match -qr '^[\\'"]' -- "$typed"
    set typed (string sub -s 2 -- "$typed")
  else
    set typed (string unescape -- "$typed")
  end
  command store complete -- (commandline -opc)[2..-1] "$typed" 2>/dev/null
end`;

/** A condition that is true when this command was typed without a subcommand. */
function fishCondition({ path, words }: Entry): string {
  if (path === "") return "__fish_use_subcommand";
  const seen = path.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
  const names = words.map(({ name }) => name).join(" ");
  return [...seen, ...(names === "" ? [] : [`not __fish_seen_subcommand_from ${names}`])].join("; and ");
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
