/** Characters that have no meaning to a POSIX shell, nor to PowerShell. */
const PLAIN_WORD = /^[\w./:@%+,=-]+$/;

/**
 * Tags a command line that a user may copy into a shell. Each value stays one word, whatever it contains, because URLs and
 * names come from other people. A list becomes several words.
 */
export function shellCommand(texts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => [value].flat().map(shellWord).join(" ")));
}

/** Returns text as one word of a shell command. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
