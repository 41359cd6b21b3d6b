import { describe } from "vitest";
import { describeLife } from "./conformance-life.ts";
import { describeStatements } from "./conformance-statements.ts";
import { describeUnits } from "./conformance-units.ts";
import { type TestDatabase, useSubject } from "./subject.ts";

/** Describes the behavior of every driver through the port only. */
export function describeDatabase(name: string, createDatabase: () => Promise<TestDatabase>): void {
  describe(`${name} as a database`, () => {
    const subject = useSubject(createDatabase);
    describeStatements(subject);
    describeUnits(subject);
    describeLife(subject);
  });
}
