import { type DatabaseReader, StorageOpenError } from "../../../src/platform/storage/database.ts";

/** Returns the error of opening a database as plain data. A database that did open is closed. */
export async function describeError(
  opening: Promise<Pick<DatabaseReader, "close">>,
): Promise<{ code: string; message: string }> {
  let database: Pick<DatabaseReader, "close">;
  try {
    database = await opening;
  } catch (error) {
    if (!(error instanceof StorageOpenError)) throw error;
    return { code: error.code, message: error.message };
  }
  await database.close();
  return { code: "opened", message: "" };
}
