import { NotServingError, requestSignInLink } from "../../../platform/admin/client.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { namedDatabase } from "./named-database.ts";
import type { ServeOptions } from "./index.ts";

/** `service serve link`: asks the process that serves the database, which nobody else can open. */
export async function runLink(options: ServeOptions, context: Context): Promise<void> {
  const database = namedDatabase(options, context);
  const link = await requestSignInLink(database, fetch).catch((error: unknown) => {
    if (!(error instanceof NotServingError)) throw error;
    throw new UserError(error.message, {
      hint: "Start it: service serve. Or name its database: service serve link --database FILE",
      code: "not_serving",
      cause: error,
    });
  });
  if (context.output.json) {
    context.output.line(JSON.stringify(link));
    return;
  }
  context.output.line(link.sign_in_url);
  context.output.note(`Signs ${link.email} in, once, until ${link.expires_at}.`);
}
