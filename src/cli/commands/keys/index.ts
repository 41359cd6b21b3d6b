import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { registerGet } from "../resource/get.ts";
import { registerList } from "../resource/list.ts";
import { registerCreate } from "./create.ts";
import { registerRevoke, registerRoll } from "./end.ts";
import { registerScan } from "./scan/index.ts";
import { KEYS } from "./view.ts";

/** `service keys`. */
export function register(program: Command, context: Context): void {
  const keys = program
    .command("keys")
    .description(
      "Manage API keys and scan for leaked ones. A key belongs to one environment: pass --live for live keys.",
    );
  addExamples(keys, [
    "service keys create --name reports --scope customers:read --expires-in 90d",
    "service keys list",
    "service keys scan --staged",
  ]);
  registerCreate(keys, context);
  registerList(keys, context, KEYS, {
    filters: [],
    examples: ["service keys list", "service keys list --json --jq '.[] | select(.last_used == null) | .id'"],
  });
  registerGet(keys, context, KEYS);
  registerRevoke(keys, context);
  registerRoll(keys, context);
  registerScan(keys, context);
}
