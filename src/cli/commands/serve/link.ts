import type { Command } from "commander";
import type { PostgresOptions } from "../../database/options.ts";
import { deploymentSettings, namedDatabase } from "../../database/settings.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import {
  createSignInLink,
  isPostgresUrl,
  MasterKeyError,
  NotServingError,
  requestSignInLink,
  StorageOpenError,
} from "../../../platform/index.ts";

interface LinkOptions extends PostgresOptions {
  database?: string;
}

/** `service serve link`: asks the process that serves an SQLite file, or a PostgreSQL database itself. */
export async function runLink(context: Context, _flags: object, command: Command): Promise<void> {
  const options = command.optsWithGlobals<LinkOptions>();
  const database = namedDatabase(options, context);
  const request = isPostgresUrl(database)
    ? createSignInLink(deploymentSettings(database, options, context))
    : requestSignInLink(database);
  const link = await request.catch((error: unknown) => {
    if (error instanceof StorageOpenError || error instanceof MasterKeyError) {
      throw new UserError(error.message, { code: "unreachable", cause: error });
    }
    if (!(error instanceof NotServingError)) throw error;
    throw new UserError(error.message, {
      hint: "To start it: service serve. If it uses another database: service serve link --database FILE",
      code: "not_serving",
      cause: error,
    });
  });
  if (context.output.json) return await context.output.document(link);
  context.output.line(link.sign_in_url);
  context.output.note(`One-time sign-in link for ${link.email}; expires at ${link.expires_at}.`);
}
