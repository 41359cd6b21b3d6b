import { type Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { registerCreate } from "../resource/create.ts";
import { registerDelete } from "../resource/delete.ts";
import { registerGet } from "../resource/get.ts";
import { createdFilters, registerList } from "../resource/list.ts";
import { registerUpdate } from "./update.ts";
import { CUSTOMERS } from "./view.ts";

/** `service customers`. */
export function register(program: Command, context: Context): void {
  const customers = program.command("customers").description("Create, find, change and delete customers.");
  addExamples(customers, [
    "service customers create --email ada@example.com --name 'Ada Lovelace'",
    "service customers list --created-after 7d",
    `service customers update ${CUSTOMERS.exampleId} --metadata plan=pro`,
  ]);
  registerCreate(customers, context, CUSTOMERS, {
    options: [
      new Option("--email <address>", "Email address, unique in the account").makeOptionMandatory(),
      new Option("--name <text>", "Full name"),
      new Option("--phone <number>", "Phone number in E.164, such as +442071838750"),
    ],
    examples: [
      "service customers create --email ada@example.com --name 'Ada Lovelace'",
      "service customers create --email ada@example.com --metadata plan=pro --metadata source=import",
      "id=$(service customers create --email ada@example.com --quiet)",
    ],
  });
  registerList(customers, context, CUSTOMERS, {
    filters: [
      new Option("--email <address>", "Only the one with this address, in whatever case"),
      ...createdFilters(context),
    ],
    examples: [
      "service customers list --created-after 7d",
      "service customers list --all --fields id,email,metadata.plan",
      "service customers list --json --jq '.[].email'",
    ],
  });
  registerGet(customers, context, CUSTOMERS);
  registerUpdate(customers, context);
  registerDelete(customers, context, CUSTOMERS);
}
