// Prints docs/authentication.md with its table of scopes.
import { readFileSync } from "node:fs";
import { kindsWith, resourceOf } from "../src/contract/resources.ts";
import { SCOPES } from "../src/contract/scopes.ts";

/** What scopes permit that permit more, or less, than their names say. */
const PERMITS: Record<string, string> = {
  events: "Events; `write` replays them, too",
  deliveries: "Deliveries, bulk operations, statistics and the test clock",
  sandbox: "Resets, snapshots and faults",
  request_logs: "The request log; no operation needs `request_logs:write`",
};

const rows = kindsWith("scoped").map((kind) => {
  const { plural, labels } = resourceOf(kind);
  return `| \`${plural}:read\`, \`${plural}:write\` | ${PERMITS[plural] ?? labels} |`;
});

process.stdout.write(
  readFileSync("docs/authentication.md", "utf8").replace(/(?<=\n### Scopes\n\n)[^]*?(?=\n\n## )/, () =>
    [
      `There are ${SCOPES.length} scopes. A key with full access has all of them. \`write\` does not include \`read\`:`,
      "",
      "| Scopes | What they permit to see or change |",
      "| --- | --- |",
      ...rows,
      "| `listen:read` | Receive events with `service listen` |",
    ].join("\n"),
  ),
);
