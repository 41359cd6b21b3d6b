import { type Database, StorageUnavailableError, type Transaction, type WriteOptions } from "./database.ts";

/**
 * Runs the part of a unit of work that concerns one row. Resolves with undefined, without running it, if it threw
 * before.
 */
export type PartOf = <Result>(row: string, part: () => Promise<Result>) => Promise<Result | undefined>;

/**
 * Writes a unit of work over many rows. If the part of one throws, the unit is rolled back and run again without that
 * part, so that a row that cannot be processed does not stop the others. `onBroken` is called for each such row.
 */
export async function writeRows<Result>(
  database: Database,
  unit: (tx: Transaction, partOf: PartOf) => Promise<Result>,
  { onBroken, ...options }: WriteOptions & { onBroken: (row: string, error: unknown) => void },
): Promise<Result> {
  const skipped = new Set<string>();
  for (;;) {
    let broken: string | undefined;
    const partOf: PartOf = async (row, part) => {
      if (skipped.has(row)) return undefined;
      try {
        return await part();
      } catch (error) {
        broken ??= row;
        throw error;
      }
    };
    try {
      return await database.write((tx) => {
        broken = undefined;
        return unit(tx, partOf);
      }, options);
    } catch (error) {
      if (broken === undefined || error instanceof StorageUnavailableError) throw error;
      onBroken(broken, error);
      skipped.add(broken);
    }
  }
}
