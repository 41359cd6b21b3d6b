/** Characters that have no meaning to a POSIX shell, nor to PowerShell. */
const PLAIN_WORD = /^[\w./:@%+,=-]+$/;

/**
 * Tags a command line that a user may copy into a shell. Each value stays one word, whatever it contains, because URLs and
 * names come from other people. A list becomes several words.
 */
export function shellCommand(texts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => [value].flat().map(shellWord).join(" ")));
}

export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns a command line as a reader types it who has the package in a project, as the README installs it: in most Linux
 * systems, `service` is another program.
 */
export function inProject(line: string): string {
  return line.replaceAll(/(^|&& |\$\()service /gm, "$1npx service-cli ");
}

/** The platform that a command uses if nothing names another one. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:4010";

/** Returns the command that starts a platform at a URL of this machine. */
export function serveCommand({ port }: URL): string {
  return port === new URL(DEFAULT_BASE_URL).port ? "service serve" : `service serve --port ${port || 80}`;
}
