import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { type Resource, withArticle } from "./resource.ts";

/** `get <id>`. */
export function registerGet<Item extends object>(group: Command, context: Context, resource: Resource<Item>): void {
  const { command, exampleId, path, view } = resource;
  const get = group
    .command("get")
    .description(`Show ${withArticle(view.noun)}`)
    .argument("<id>", `ID of the ${view.noun}`, objectId)
    .action(async (id: string) => {
      const client = await context.client();
      const { body } = await client.request<Item>({ method: "GET", path: path + apiPath`/${id}` });
      await context.output.object(body, view);
    });
  addExamples(addFields(get, view), [
    `service ${command} get ${exampleId}`,
    `service ${command} get ${exampleId} --json`,
  ]);
}
