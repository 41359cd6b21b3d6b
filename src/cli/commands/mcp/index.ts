import type { CommandDefinition } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";

/** `service mcp`. */
export const command: CommandDefinition = {
  name: "mcp",
  about:
    "Run an MCP server over stdin and stdout, with tools for the sandbox's objects, events, endpoints, deliveries, request log and test clock. Tools that the credential's scopes do not allow are omitted.",
  notes: `
Add the command to the configuration of your MCP client:

  {
    "mcpServers": {
      "service": { "command": "npx", "args": ["-y", "service-cli", "mcp"] }
    }
  }

The platform serves the same tools over HTTP, at /mcp.
`,
  examples: ["service mcp", "service mcp --profile shop"],
  async run(context: Context) {
    if (context.globals.live) {
      throw new UsageError("MCP tools are available in the sandbox only", { hint: "Remove --live." });
    }
    const { runMcp } = await import("./run.ts");
    await runMcp(context);
  },
};
