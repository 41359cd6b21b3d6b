import { InvalidArgumentError, Option } from "commander";

/** `--events a,b`: which of them exist, the platform knows. */
export function eventsOption(description: string): Option {
  return new Option("--events <list>", description).argParser(parseList);
}

function parseList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) {
    throw new InvalidArgumentError("Must be event types separated by commas, such as 'order.*,customer.created'.");
  }
  return names;
}
