import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../help-layout.ts";

/** `service mcp`. */
export function register(program: Command, context: Context): void {
  const mcp = program
    .command("mcp")
    .description(
      "Serve customers, orders, events, deliveries, the receiver check and the test clock of the sandbox as tools of the Model Context Protocol, over stdin and stdout. Tools that the credential's scopes do not allow are left out.",
    )
    .addHelpText(
      "after",
      `
An MCP client starts it by itself; its configuration names the command:

  { "mcpServers": { "service": { "command": "service", "args": ["mcp"] } } }
`,
    )
    .action(async () => {
      if (context.globals.live) {
        throw new UsageError("Tools act in the sandbox only", { hint: "Leave out --live." });
      }
      const { runMcp } = await import("./run.ts");
      await runMcp(context);
    });
  addExamples(mcp, ["service mcp", "service mcp --profile shop"]);
}
