import type { Command } from "commander";
import { LATEST_VERSION } from "../../contract/versions.ts";
import type { Context } from "../context.ts";

/** `service version`. */
export function register(program: Command, context: Context): void {
  program
    .command("version")
    .description("Print the versions of the CLI, the API and Node.js")
    .action(async () => {
      const versions = {
        version: context.version,
        api_version: LATEST_VERSION,
        node: process.versions.node,
        platform: `${context.platform}-${process.arch}`,
      };
      if (context.output.json) return await context.output.document(versions);
      context.output.line(
        `service ${versions.version} (API ${versions.api_version}, Node ${versions.node}, ${versions.platform})`,
      );
    });
}
