// Prints docs/concepts.md with its tables: the objects that have a command, and the event types.
import { readFileSync } from "node:fs";
import { EVENT_TYPES } from "../src/contract/event-types.ts";
import { type KindWith, kindsWith, resourceOf } from "../src/contract/resources.ts";

const objects = kindsWith("command").map((kind) => {
  const { label, prefix, statuses = {}, about } = resourceOf(kind);
  const names = Object.keys(statuses).map((status) => `\`${status}\``);
  return `| ${label} | \`${prefix}\` | ${names.join(", ")} | ${about} |`;
});

/** Changes that do not follow the pattern "An order was completed". */
const WHEN: Record<string, string> = {
  ping: "`service endpoints ping`, or the button in the dashboard, sent a test event",
  failing: "An endpoint began to fail: see [Endpoint health](#endpoint-health)",
  recovered: "An attempt succeeded again",
  disabled: "An endpoint was disabled by a user or by a 410 response, and receives nothing",
};

const eventTypes = EVENT_TYPES.map((type) => {
  const [kind, change] = type.split(".") as [KindWith<"events">, string];
  const { label, statuses = {} } = resourceOf(kind);
  const verb = ["succeeded", "failed"].includes(change) ? change : `was ${change}`;
  const status = change === "created" ? Object.keys(statuses)[0] : change;
  const isStatus = status !== undefined && status in statuses;
  return [
    "",
    `\`${type}\``,
    WHEN[change] ?? `${/^[AEIO]/.test(label) ? "An" : "A"} ${label.toLowerCase()} ${verb}`,
    isStatus ? `${label}, \`${status}\`` : label,
    "",
  ].join(" | ");
});

const page = readFileSync("docs/concepts.md", "utf8");
process.stdout.write(
  page
    .replace(/(?<=\n## Objects\n\n)\|[^]*?(?=\n\n)/, () =>
      ["| Object | ID | Statuses | Description |", "| --- | --- | --- | --- |", ...objects].join("\n"),
    )
    .replace(/(?<=\n### Event types\n[^#|]*)\|[^]*?(?=\n\n)/, () =>
      ["| Type | When | `data.object` |", "| --- | --- | --- |", ...eventTypes.map((row) => row.trim())].join("\n"),
    ),
);
