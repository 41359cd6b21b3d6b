import { type Command, InvalidArgumentError, Option } from "commander";
import type { RequestMethod } from "../../../contract/schemas/request-log.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { registerList } from "../resource/list.ts";
import { registerTail } from "./tail.ts";
import { LOGS } from "./view.ts";

const METHODS: readonly RequestMethod[] = ["GET", "HEAD", "POST", "PATCH", "DELETE"];

/** `service logs`. */
export function register(program: Command, context: Context): void {
  const logs = program.command("logs").description("View or follow the API requests of the last 7 days");
  addExamples(logs, [
    "service logs list --status 404",
    "service logs list --method POST --path /v1/customers",
    "service logs tail",
  ]);
  registerList(logs, context, LOGS, {
    filters: filters(),
    examples: [
      "service logs list --status 422",
      "service logs list --key key_4Vf8aTqz0bKm2sNw9XyRcd",
      "service logs list --json --jq '.[] | {id, path, error_code}'",
    ],
  });
  registerTail(logs, context, filters());
}

function filters(): Option[] {
  return [
    new Option("--method <method>", "Filter by method").choices(METHODS).argParser(parseMethod),
    new Option("--path <path>", "Filter by exact path, such as /v1/customers"),
    new Option("--status <code>", "Filter by status code").argParser(wholeNumber(100, 599)),
    new Option("--key <id>", "Filter by API key").argParser(objectId),
  ];
}

/** Methods are written in capitals on the wire; a person need not. */
function parseMethod(text: string): string {
  const method = METHODS.find((name) => name === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`Allowed choices are ${METHODS.join(", ")}.`);
  return method;
}
