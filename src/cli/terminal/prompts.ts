import type * as inquirer from "@inquirer/prompts";
import { InterruptedError, UsageError } from "../errors.ts";

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
export interface Prompts {
  /** A line of text. */
  text(question: Question): Promise<string>;
  /** Asks for a line that is not echoed. */
  secret(question: Question): Promise<string>;
}

interface PromptOptions {
  /** False without a terminal on both ends, and after `--no-input`. */
  possible: () => boolean;
  stdin: () => NodeJS.ReadStream;
  stderr: () => NodeJS.WriteStream;
  signal: AbortSignal;
}

export function createPrompts({ possible, stdin, stderr, signal }: PromptOptions): Prompts {
  async function ask<Answer>(
    { message, flag }: Question,
    show: (prompts: typeof inquirer, context: object) => Promise<Answer>,
  ): Promise<Answer> {
    if (!possible()) throw new UsageError(`${flag} is required without a terminal (cannot ask "${message}")`);
    const prompts = await import("@inquirer/prompts");
    try {
      return await show(prompts, { input: stdin(), output: stderr(), signal });
    } catch (error) {
      if (error instanceof Error && error.name === "ExitPromptError") throw new InterruptedError("SIGINT");
      if (signal.aborted) throw signal.reason;
      throw error;
    }
  }

  return {
    text: (question) =>
      ask(question, ({ input }, context) =>
        input(
          {
            message: question.message,
            ...(question.default === undefined ? {} : { default: question.default }),
            validate: (text) => question.problemOf?.(text) ?? true,
          },
          context,
        ),
      ),
    secret: (question) =>
      ask(question, ({ password }, context) => password({ message: question.message, mask: "•" }, context)),
  };
}
