import type { Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectOfPairs, type Pair, pairsOption } from "../../arguments/pairs.ts";
import { addIdempotencyKey } from "./idempotency-key.ts";
import { type Resource, withArticle } from "./resource.ts";

/** `create`, with `--metadata` and `--idempotency-key` besides the resource's own options: each one a member of the body. */
export function registerCreate<Item extends { id: string }>(
  group: Command,
  context: Context,
  { path, view }: Resource<Item>,
  { options, examples }: { options: readonly Option[]; examples: readonly string[] },
): void {
  const create = group.command("create").description(`Create ${withArticle(view.noun)}`);
  for (const option of options) create.addOption(option);
  create.addOption(pairsOption("--metadata <key=value>", "Metadata pair, at most 50"));
  addIdempotencyKey(create).action(
    async ({ metadata, idempotencyKey, ...members }: { metadata: Pair[]; idempotencyKey?: string }) => {
      const body = metadata.length === 0 ? members : { ...members, metadata: objectOfPairs(metadata, "--metadata") };
      const client = await context.client();
      const { body: created } = await client.request<Item>({ method: "POST", path, body, idempotencyKey });
      context.output.success(`Created ${view.noun} ${created.id}`);
      await context.output.object(created, view);
    },
  );
  addExamples(addFields(create, view), examples);
}
