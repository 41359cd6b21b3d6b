import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { escapeXml } from "./printable.ts";

/** A case of a JUnit report. Without a failure and a reason to skip it, it passed. */
export interface TestCase {
  classname: string;
  name: string;
  milliseconds: number;
  failure?: { type?: string; message: string; text: string } | undefined;
  skipped?: string | undefined;
}

export async function writeJunit(
  file: string,
  suite: { name: string; milliseconds: number; cases: readonly TestCase[] },
  { cwd }: Context,
): Promise<void> {
  try {
    await writeFile(resolve(cwd, file), junitOf(suite));
  } catch (error) {
    throw new UserError(`--junit: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function junitOf({ name, milliseconds, cases }: Parameters<typeof writeJunit>[1]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds(milliseconds)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escapeXml(name)}" ${counts}>`,
    ...cases.map(caseOf),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function caseOf({ classname, name, milliseconds, failure, skipped }: TestCase): string {
  const attributes = `classname="${escapeXml(classname)}" name="${escapeXml(name)}" time="${seconds(milliseconds)}"`;
  if (failure !== undefined) {
    const type = failure.type === undefined ? "" : ` type="${failure.type}"`;
    const element = `<failure${type} message="${escapeXml(failure.message)}">${escapeXml(failure.text)}</failure>`;
    return `    <testcase ${attributes}>\n      ${element}\n    </testcase>`;
  }
  if (skipped === undefined) return `    <testcase ${attributes}/>`;
  return `    <testcase ${attributes}>\n      <skipped message="${escapeXml(skipped)}"/>\n    </testcase>`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
