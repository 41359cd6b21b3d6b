import type { Command, Option } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { addIdempotencyKey } from "./idempotency-key.ts";
import type { Resource } from "./resource.ts";

export interface Action<Flags extends object> {
  /** The command's name and the last segment of the path. */
  verb: string;
  /** Returns the note once it is done: `Order ord_1 completed`. */
  done: (id: string) => string;
  description: string;
  options?: readonly Option[];
  body?: (flags: Flags) => object;
}

/** Adds a verb that changes one object by POST, such as `complete`. */
export function registerAction<Item extends object, Flags extends object>(
  group: Command,
  context: Context,
  { command, exampleId, path, view }: Resource<Item>,
  { verb, done, description, options = [], body = () => ({}) }: Action<Flags>,
): void {
  const action = group.command(verb).description(description).argument("<id>", `ID of the ${view.noun}`, objectId);
  for (const option of options) action.addOption(option);
  addIdempotencyKey(action).action(async (id: string, flags: Flags & { idempotencyKey?: string }) => {
    const client = await context.client();
    const { body: changed } = await client.request<Item>({
      method: "POST",
      path: path + apiPath`/${id}/${verb}`,
      body: body(flags),
      idempotencyKey: flags.idempotencyKey,
    });
    context.output.success(done(id));
    await context.output.object(changed, view);
  });
  addExamples(addFields(action, view), [`service ${command} ${verb} ${exampleId}`]);
}
