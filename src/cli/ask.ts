import { type Option, InvalidArgumentError } from "commander";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../contract/event-types.ts";
import type { Context } from "./context.ts";

/** What is known about a flag without a value. Not `Flag`, whose module imports this one when it needs it. */
interface Asked {
  about: string;
  question?: string | undefined;
  choices?: readonly string[] | undefined;
  parse?: ((text: string) => unknown) | undefined;
}

/** Asks for the value of a flag: from a list if its values are known. Returns it as the flag would parse it. */
export async function askForFlag(flag: Asked, option: Option, { prompts }: Context): Promise<unknown> {
  const question = { message: flag.question ?? flag.about, flag: option.long! };
  if (flag.choices !== undefined) return await prompts.one({ ...question, choices: flag.choices });
  if (option.long === "--events") {
    const chosen = await prompts.many({ ...question, choices: SUBSCRIPTIONS });
    return chosen.includes("*") ? ["*"] : chosen;
  }
  const parse = flag.parse ?? ((text: string): unknown => text);
  const text = await prompts.text({
    ...question,
    problemOf: (typed) => problemOf(typed.trim(), parse),
  });
  return parse(text.trim());
}

/** All types, then those of one kind, then single types. */
const SUBSCRIPTIONS = [...SUBSCRIPTION_WILDCARDS, ...EVENT_TYPES];

function problemOf(text: string, parse: (text: string) => unknown): string | undefined {
  if (text === "") return "Required";
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.message;
    throw error;
  }
}
