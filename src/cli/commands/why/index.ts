import type { Command } from "commander";
import { objectId } from "../../arguments/values.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { printable } from "../../terminal/printable.ts";
import type { Explanation } from "./explanation.ts";

const FIELDS = {
  noun: "explanation",
  fields: ["object", "id", "kind", "cause", "findings", "request", "subject", "event", "deliveries", "operation"],
} satisfies { noun: string; fields: (keyof Explanation)[] };

/** `service why`. */
export function register(program: Command, context: Context): void {
  const why = program
    .command("why")
    .description(
      "Explain an ID: the API request, the object, the event, every delivery and attempt, the likely cause, and the command that fixes it",
    )
    .argument("<id>", "ID of an event, delivery, request, object, endpoint or bulk operation", objectId)
    .action((id: string) => runWhy(id, context));
  addExamples(addFields(why, FIELDS), [
    "service why evt_4Vf8aTqz0bKm2sNw9XyRcd",
    "service why req_4Vf8aTqz0bKm2sNw9XyRcd",
    "service why dlv_4Vf8aTqz0bKm2sNw9XyRcd --json --jq .cause",
  ]);
}

async function runWhy(id: string, context: Context): Promise<void> {
  const { output } = context;
  const { explain } = await import("./explanation.ts");
  const client = await context.client();
  const { chain, explanation } = await output.spinner.during(`Looking up ${id}`, explain(client, id));
  if (output.json || output.chosen) return output.document(explanation);
  if (output.quiet) return output.line(explanation.cause ?? "");
  if (!output.terminal) {
    for (const { code, subject, summary, fix } of explanation.findings) {
      output.line([code, subject, summary, fix ?? ""].map(printable).join("\t"));
    }
    return;
  }
  const { explanationLines } = await import("./view.ts");
  for (const line of explanationLines(chain, explanation.findings, context)) output.line(line);
}
