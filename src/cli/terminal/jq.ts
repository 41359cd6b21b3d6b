import { shellCommand } from "../../contract/shell-command.ts";
import { UsageError, UserError } from "../errors.ts";

/** Runs a jq expression on a value. Strings are printed raw, each result on its own line. Throws UserError. */
export async function filterWithJq(value: unknown, expression: string): Promise<string> {
  return await run(JSON.stringify(value), expression, (problem) => {
    const isOfItems = Array.isArray(value) && expression.startsWith(".") && problem.includes("Cannot index array with");
    return new UserError(problem, {
      code: "jq_failed",
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
  await run("", expression, (problem) => new UsageError(problem));
}

async function run(input: string, expression: string, toError: (problem: string) => UserError): Promise<string> {
  const { raw } = await import("jq-wasm");
  const { stdout, stderr, exitCode } = await raw(input, expression, ["-r", "-c"]);
  if (exitCode === 0) return stdout;
  const [reason = "invalid expression"] = stderr
    .replace(/^jq: (error: |error \(at [^)]*\): |parse error: )/, "")
    .replace(/ at <top-level>, (line \d+, column \d+).*/, " at $1")
    .split("\n");
  throw toError(`--jq ${expression}: ${reason}`);
}
