import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { confirmDestruction } from "./confirm-destruction.ts";
import { type Resource, withArticle } from "./resource.ts";

/** What DELETE answers for every resource. */
interface Deleted {
  id: string;
  object: string;
  deleted: true;
}

const DELETED: ResourceView<Deleted> = {
  noun: "deletion",
  plural: "deletions",
  fields: ["id", "object", "deleted"],
  columns: [],
  details: [
    { label: "ID", text: ({ id }) => id },
    { label: "Deleted", text: ({ deleted }) => String(deleted) },
  ],
};

/** `delete <id>`, which asks first in live mode. */
export function registerDelete<Item extends object>(group: Command, context: Context, resource: Resource<Item>): void {
  const { command, exampleId, path, view } = resource;
  const remove = group
    .command("delete")
    .description(`Delete ${withArticle(view.noun)}`)
    .argument("<id>", `ID of the ${view.noun}`, objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      await confirmDestruction(context, { id, consequence: `The ${view.noun} ${id} will be deleted`, yes });
      const client = await context.client();
      const { body } = await client.request<Deleted>({ method: "DELETE", path: path + apiPath`/${id}` });
      context.output.success(`Deleted ${view.noun} ${id}`);
      await context.output.object(body, DELETED);
    });
  addExamples(addDryRun(addFields(remove, DELETED)), [`service ${command} delete ${exampleId}`]);
}
