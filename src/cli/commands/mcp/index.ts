import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../help-layout.ts";

/** `service mcp`. */
export function register(program: Command, context: Context): void {
  const mcp = program
    .command("mcp")
    .description(
      "Run an MCP server over stdin and stdout, with tools for the sandbox's objects, events, endpoints, deliveries, request log and test clock. Tools that the credential's scopes do not allow are omitted.",
    )
    .addHelpText(
      "after",
      `
Add the command to the configuration of your MCP client:

  {
    "mcpServers": {
      "service": { "command": "npx", "args": ["-y", "service-cli", "mcp"] }
    }
  }

The platform serves the same tools over HTTP, at /mcp.
`,
    )
    .action(async () => {
      if (context.globals.live) {
        throw new UsageError("MCP tools are available in the sandbox only", { hint: "Remove --live." });
      }
      const { runMcp } = await import("./run.ts");
      await runMcp(context);
    });
  addExamples(mcp, ["service mcp", "service mcp --profile shop"]);
}
