import type { Command, Option } from "commander";

/** The state after parsing the words before the cursor. */
export interface Position {
  command: Command;
  /** Number of arguments that the command has already. */
  operands: readonly string[];
  /** The flag whose value is next. */
  option: Option | undefined;
  /** True if that flag has a value already and accepts more. */
  more: boolean;
  /** Flags that were given. */
  given: ReadonlySet<Option>;
  /** True after `--`: the rest belongs to another program. */
  beyond: boolean;
}

/** Parses the words as commander would. Unknown words are skipped. */
export function scanWords(root: Command, words: readonly string[]): Position {
  let command = root;
  let option: Option | undefined;
  let more = false;
  let beyond = false;
  const operands: string[] = [];
  const given = new Set<Option>();
  for (const word of words) {
    if (beyond) continue;
    const isFlag = word.startsWith("-") && word !== "-";
    if (option !== undefined && !(more && isFlag)) {
      more = option.variadic;
      if (!more) option = undefined;
      continue;
    }
    option = undefined;
    more = false;
    if (word === "--") {
      beyond = true;
    } else if (isFlag) {
      const found = optionNamed(word, command, root);
      if (found === undefined) continue;
      given.add(found);
      if (takesValue(found) && !word.includes("=")) option = found;
    } else {
      const child = operands.length === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
      if (child === undefined) operands.push(word);
      else command = child;
    }
  }
  return { command, operands, option, more, given, beyond };
}

/** Returns the flag that a word names, alone, with `=value`, or as the last of several short ones. */
export function optionNamed(word: string, command: Command, root: Command): Option | undefined {
  const [name = ""] = word.split("=", 1);
  const short = `-${name.at(-1)}`;
  return optionsOf(command, root).find(
    (option) => option.long === name || (!name.startsWith("--") && option.short === short),
  );
}

/** Returns the command's own flags, and the global ones. */
export function optionsOf(command: Command, root: Command): readonly Option[] {
  const own = command === root ? [] : command.options;
  return [...own, ...root.options.filter(({ hidden }) => !hidden)];
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}
