import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../help-layout.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { addSecretOptions, type SecretFlags, secretsOf } from "./secrets.ts";

interface Flags extends SecretFlags {
  payload: string;
  timestamp?: number;
}

export function registerSign(webhooks: Command, context: Context): void {
  const sign = addSecretOptions(
    webhooks.command("sign").description("Print the Service-Signature header for a payload"),
  )
    .requiredOption("--payload <file>", "File with the exact bytes to sign; - for stdin")
    .option("--timestamp <seconds>", "Unix time of the signature (default: now)", wholeNumber(0))
    .action((flags: Flags) => runSign(flags, context));
  addExamples(sign, [
    "service webhooks sign --secret whsec_… --payload event.json",
    `curl -H "Service-Signature: $(service webhooks sign --payload event.json)" --data-binary @event.json localhost:3000`,
  ]);
}

async function runSign(flags: Flags, context: Context): Promise<void> {
  const secrets = await secretsOf(flags, context);
  const payload = await context.readInput(flags.payload, "--payload");
  const timestamp = flags.timestamp ?? Math.floor(context.now() / 1000);
  const { sign, SignatureError } = await import("../../../webhooks/index.ts");
  try {
    const header = sign({ payload, secrets, timestamp });
    if (context.output.json) await context.output.document({ header, timestamp });
    else context.output.line(header);
  } catch (error) {
    if (error instanceof SignatureError) throw new UsageError(error.message, { code: error.code, cause: error });
    throw error;
  }
}
