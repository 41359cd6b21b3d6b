import { type DatabaseReader, StorageOpenError } from "../../src/platform/storage/database.ts";

/** Why a database was not opened, as plain data; one that was opened is closed. */
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
