import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { registerCheck } from "./check/index.ts";
import { registerSign } from "./sign.ts";
import { registerVerify } from "./verify.ts";

/** `service webhooks`. */
export function register(program: Command, context: Context): void {
  const webhooks = program
    .command("webhooks")
    .description("Sign and verify payloads and check receivers, without a platform");
  addExamples(webhooks, [
    "service webhooks sign --payload event.json",
    "service webhooks verify --header 't=1764590400,v1=5257a8…' --payload event.json",
    "service webhooks check localhost:3000/webhooks",
  ]);
  registerSign(webhooks, context);
  registerVerify(webhooks, context);
  registerCheck(webhooks, context);
}
