// Prints docs/mcp.md with its table of tools, as the server lists them.
import { readFileSync } from "node:fs";
import { chooseTools } from "../src/cli/mcp/server.ts";
import { receiverTools } from "../src/cli/mcp/tools/receiver.ts";
import { kindsWith, RESOURCES } from "../src/contract/resources.ts";

const tools = chooseTools(undefined, receiverTools({} as never));
const rows = [...new Set(tools.map(({ group }) => group))].map((group) => {
  const own = tools.filter((tool) => tool.group === group);
  const kind = kindsWith("plural").find((one) => RESOURCES[one].plural === group);
  const about = kind === undefined ? own[0]!.description.replace(/[:.] .*/, ".") : RESOURCES[kind].about;
  return `| \`${group}\` | ${own.map(({ name }) => `\`${name}\``).join(", ")} | ${about} |`;
});
const page = readFileSync("docs/mcp.md", "utf8");
const table = ["| Group | Tools | About |", "| --- | --- | --- |", ...rows].join("\n");
process.stdout.write(page.replace(/(?<=\n## Tools\n\n)\|[^]*?(?=\n\n)/, () => table));
