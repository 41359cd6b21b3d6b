import { realpathSync } from "node:fs";
import { type CommandDefinition, flag } from "../../command.ts";

/** `service mcp`. */
export const command: CommandDefinition = {
  name: "mcp",
  about:
    "Run an MCP server over stdin and stdout, with tools for the sandbox's objects, events, endpoints, deliveries, request log, test clock, snapshots and faults. Tools that the credential's scopes do not allow are omitted.",
  get notes() {
    // MCP clients do not start in the folder of a project, and know no aliases.
    const program = JSON.stringify(realpathSync(process.argv[1]!));
    return `
Add the command to the configuration of your MCP client:

  {
    "mcpServers": {
      "service": {
        "command": "node",
        "args": [
          ${program},
          "mcp"
        ]
      }
    }
  }

The platform serves the same tools over HTTP, at /mcp.
`;
  },
  options: [
    flag("--tools <list>", "Only these tools, by name or group, such as customers,events,explain (default: all)"),
    flag("--output-schemas", "List the schemas of results, too, for clients that validate them"),
  ],
  examples: ["service mcp", "service mcp --profile shop", "service mcp --tools customers,events # Only these tools"],
  sandboxOnly: "MCP tools are available in the sandbox only",
  load: async () => (await import("./run.ts")).runMcp,
};
