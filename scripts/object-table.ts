// Prints docs/concepts.md with its table of objects: the resources that have a command.
import { readFileSync } from "node:fs";
import { kindsWith, resourceOf } from "../src/contract/resources.ts";

const rows = kindsWith("command").map((kind) => {
  const { label, prefix, statuses = {}, about } = resourceOf(kind);
  const names = Object.keys(statuses).map((status) => `\`${status}\``);
  return `| ${label} | \`${prefix}\` | ${names.join(", ")} | ${about} |`;
});
const table = ["| Object | ID | Statuses | Description |", "| --- | --- | --- | --- |", ...rows].join("\n");
const page = readFileSync("docs/concepts.md", "utf8");
process.stdout.write(page.replace(/(?<=\n## Objects\n\n)\|[^]*?(?=\n\n)/, () => table));
