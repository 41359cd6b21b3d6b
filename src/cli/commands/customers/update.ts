import type { Command } from "commander";
import { apiPath } from "../../../client/path.ts";
import type { Customer, CustomerUpdate } from "../../../contract/schemas/customer.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { objectOfPairs, type Pair, pairsOption } from "../../arguments/pairs.ts";
import { CUSTOMERS } from "./view.ts";

interface Flags {
  email?: string;
  name?: string;
  phone?: string;
  metadata: Pair[];
}

export function registerUpdate(customers: Command, context: Context): void {
  const update = customers
    .command("update")
    .description("Change a customer; what is not named stays as it is")
    .argument("<id>", "Id of the customer", objectId)
    .option("--email <address>", "New email address")
    .option("--name <text>", "New name; empty removes it")
    .option("--phone <number>", "New phone number in E.164; empty removes it")
    .addOption(pairsOption("--metadata <key=value>", "Metadata pair to set; key= removes one"))
    .action((id: string, flags: Flags) => runUpdate(id, flags, context));
  addExamples(addDryRun(addFields(update, CUSTOMERS.view)), [
    `service customers update ${CUSTOMERS.exampleId} --name 'Ada King'`,
    `service customers update ${CUSTOMERS.exampleId} --metadata plan=pro --metadata trial=`,
  ]);
}

async function runUpdate(id: string, flags: Flags, context: Context): Promise<void> {
  const changes = changesOf(flags);
  if (Object.keys(changes).length === 0) {
    throw new UsageError("Nothing to change was given", {
      hint: "Name at least one of --email, --name, --phone, --metadata.",
    });
  }
  const client = await context.client();
  const { body } = await client.request<Customer>({
    method: "PATCH",
    path: CUSTOMERS.path + apiPath`/${id}`,
    body: changes,
  });
  context.output.success(`Updated customer ${id}`);
  await context.output.object(body, CUSTOMERS.view);
}

function changesOf({ email, name, phone, metadata }: Flags): CustomerUpdate {
  return {
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name: name === "" ? null : name }),
    ...(phone === undefined ? {} : { phone: phone === "" ? null : phone }),
    ...(metadata.length === 0 ? {} : { metadata: objectOfPairs(metadata, "--metadata") }),
  };
}
