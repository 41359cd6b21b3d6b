import { resolve } from "node:path";
import type * as inquirer from "@inquirer/prompts";
import { isRecord } from "../contract/json.ts";
import { InterruptedError, UsageError, UserError } from "./errors.ts";
import type { ProcessIo } from "./process-io.ts";
import { wrapWords } from "./terminal/wrap.ts";

/** Files and standard input, as flags name them. */
export class Input {
  readonly #stdin: () => NodeJS.ReadStream;
  readonly #signal: AbortSignal;
  readonly #cwd: string;
  #reader: string | undefined;

  constructor({ streams, signal, cwd }: ProcessIo) {
    this.#stdin = streams.stdin;
    this.#signal = signal;
    this.#cwd = cwd;
  }

  /** Reads a whole file, or stdin if the name is `-`. `flag` names the source. */
  async read(name: string, flag: string): Promise<Buffer> {
    if (name === "-") return await this.readStdin(flag);
    const { readFile } = await import("node:fs/promises");
    try {
      return await readFile(resolve(this.#cwd, name));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason =
        code === "ENOENT" ? "does not exist" : code === "EISDIR" ? "is a folder" : `cannot be read: ${message}`;
      throw new UsageError(`${flag}: ${name} ${reason}`, { code: "input_file", cause: error });
    }
  }

  async readApiKey(prompts: Prompts): Promise<string> {
    if (this.#stdin().isTTY) {
      return (await prompts.secret({ message: "API key", flag: "--api-key-stdin with a pipe" })).trim();
    }
    const key = (await this.readStdin("--api-key-stdin")).toString("utf8").trim();
    if (key === "") throw new UsageError("--api-key-stdin: stdin is empty");
    return key;
  }

  /** Reads all of stdin. It can be read once, so two flags that both read it are an error. */
  async readStdin(flag: string): Promise<Buffer> {
    if (this.#reader !== undefined) {
      throw new UsageError(`${this.#reader} and ${flag} both read stdin`, {
        hint: "Pass a file to one of them.",
      });
    }
    this.#reader = flag;
    const { addAbortSignal } = await import("node:stream");
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of addAbortSignal(this.#signal, this.#stdin())) chunks.push(Buffer.from(chunk as Buffer));
    } catch (error) {
      throw this.#signal.aborted ? this.#signal.reason : error;
    }
    return Buffer.concat(chunks);
  }
}

/** Parses a JSON object that the user has written. Throws UserError, whose message begins with the source. */
export function parseObject(text: string, source: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${source} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (isRecord(value)) return value;
  throw new UserError(`${source} does not contain a JSON object`);
}

/** One question, and the flag that answers it without a terminal. */
interface Question {
  message: string;
  flag: string;
  /** The answer if nothing is typed. */
  default?: string;
  /** Returns why an answer is invalid. It is shown, and the question stays. */
  problemOf?: (text: string) => string | undefined;
}

/** Asks on stderr, so that stdout stays data. Ctrl-C at a prompt throws InterruptedError. */
export type Prompts = ReturnType<typeof createPrompts>;

interface PromptOptions {
  /** False without a terminal on both ends, and after `--no-input`. */
  possible: () => boolean;
  stdin: () => NodeJS.ReadStream;
  stderr: () => NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Room for the mark before a question, and for `(y/N)` and the answer after it. */
const CONFIRM_WIDTH = 2 + 10;

/** Returns the choices that contain every typed word. */
function matching(choices: readonly string[], typed: string): string[] {
  const words = typed.toLowerCase().split(/\s+/);
  return choices.filter((choice) => words.every((word) => choice.toLowerCase().includes(word)));
}

interface Shared {
  message: string;
  theme: { prefix: { done: string } };
}

/** A long choice is not repeated. */
function chosenInWords(chosen: readonly { short: string }[], all: readonly unknown[]): string {
  return chosen.length === all.length ? `all ${all.length}` : chosen.map(({ short }) => short).join(", ");
}

export function createPrompts({ possible, stdin, stderr, signal }: PromptOptions) {
  async function ask<Answer>(
    { message, flag }: Question,
    show: (prompts: typeof inquirer, shared: Shared, context: object) => Promise<Answer>,
  ): Promise<Answer> {
    if (!possible()) throw new UsageError(`${flag} is required without terminal input`);
    const prompts = await import("@inquirer/prompts");
    try {
      // An answered question has the mark of all that succeeded.
      const done = process.getBuiltinModule("node:util").styleText("green", "✓");
      return await show(
        prompts,
        { message, theme: { prefix: { done } } },
        { input: stdin(), output: stderr(), signal },
      );
    } catch (error) {
      if (error instanceof Error && error.name === "ExitPromptError") throw new InterruptedError("SIGINT");
      if (signal.aborted) throw signal.reason;
      throw error;
    }
  }

  return {
    text: (question: Question) =>
      ask(question, ({ input }, shared, context) => {
        const { default: standard, problemOf } = question;
        const given = standard === undefined ? {} : { default: standard };
        return input({ ...shared, ...given, validate: (text) => problemOf?.(text) ?? true }, context);
      }),
    /** Yes or no. Enter is no, unless yes is what the user came for. */
    confirm: (question: Question & { isYes?: true }) =>
      ask(question, ({ confirm }, { message }, context) => {
        const lines = wrapWords(message, (stderr().columns || 80) - CONFIRM_WIDTH);
        // No is an answer, but no success.
        const theme = { prefix: { done: "?" } };
        return confirm({ message: lines.join("\n"), default: question.isYes === true, theme }, context);
      }),
    /** One of several values; typing searches them. */
    one: (question: Question & { choices: readonly string[] }) =>
      ask(question, ({ search }, shared, context) =>
        search({ ...shared, source: (typed = "") => matching(question.choices, typed) }, context),
      ),
    /** At least one of several values. */
    many: (question: Question & { choices: readonly string[] }) =>
      ask(question, ({ checkbox }, { message, theme }, context) => {
        const shown = { ...theme, style: { renderSelectedChoices: chosenInWords } };
        return checkbox(
          { message, theme: shown, choices: [...question.choices], required: true, pageSize: 10 },
          context,
        );
      }),
    /** A line that is not echoed. */
    secret: (question: Question) =>
      ask(question, ({ password }, shared, context) => password({ ...shared, mask: "•" }, context)),
  };
}
