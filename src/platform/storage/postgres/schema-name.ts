import { PostgresConnection } from "./connection.ts";
import { asOpenError } from "./errors.ts";
import { type ConnectionSettings, readUrl } from "./settings.ts";

/** The schema that a URL's tables are in. Throws StorageOpenError where the database cannot be reached. */
export async function schemaNameOf(settings: ConnectionSettings): Promise<string | null> {
  const { name, config } = readUrl(settings);
  try {
    const connection = await PostgresConnection.open(config, () => performance.now());
    const { rows } = await connection.execute("SELECT CAST(current_schema() AS TEXT) AS schema");
    await connection.close();
    return (rows[0] as { schema: string | null }).schema;
  } catch (error) {
    throw asOpenError(error, name);
  }
}
