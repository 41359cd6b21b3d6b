import { shellCommand } from "../../contract/shell-command.ts";
import { UsageError, UserError } from "../errors.ts";

/** Runs a jq expression on a value. Strings are printed raw, each result on its own line. Throws UserError. */
export async function filterWithJq(value: unknown, expression: string): Promise<string> {
  return await run(JSON.stringify(value), expression, (problem, cause) => {
    const isOfItems = Array.isArray(value) && expression.startsWith(".") && problem.includes("Cannot index array with");
    return new UserError(problem, {
      code: "jq_failed",
      cause,
      ...(isOfItems && {
        // `.data` is where a response of the API has them.
        hint: shellCommand`The output is an array. For each of its items: --jq ${expression.replace(/^(\.data\b)?(\[\d*\])?/, ".[]")}`,
      }),
    });
  });
}

/** Throws UsageError for an expression that jq cannot parse. */
export async function assertJq(expression: string): Promise<void> {
  // Without any input it is compiled and not run.
  await run("", expression, (problem, cause) => new UsageError(problem, { cause }));
}

async function run(
  input: string,
  expression: string,
  toError: (problem: string, cause: unknown) => UserError,
): Promise<string> {
  const { raw } = await import("jq-wasm");
  try {
    return await raw(input, expression, ["-r", "-c"]);
  } catch (error) {
    const [reason = "invalid expression"] = (error as Error).message
      .replace(/^(Failed to execute raw query: )?(jq: )?(error: |error \(at [^)]*\): )?/, "")
      .replace(/ \(Unix shell quoting issues\?\)/, "")
      .replace(/ at <top-level>/, "")
      .split("\n");
    throw toError(`--jq ${expression}: ${reason.replace(/(, line \d+)?:\s*$/, "")}`, error);
  }
}
