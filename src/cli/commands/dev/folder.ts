import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellCommand } from "../../../contract/shell-command.ts";
import { createFolder } from "../../../files/folders.ts";
import { UserError } from "../../errors.ts";
import { PROJECT_FILE } from "../../project/file-name.ts";
import { outsideOf } from "../../project/files.ts";
import { databaseOf, OWN_FOLDER } from "../../project/platform.ts";
import { type Project, PROJECT_SCHEMA } from "../../project/schema.ts";

/** Where editors find the schema, below the project's folder. */
export const SCHEMA_FILE = `${OWN_FOLDER}/schema.json`;

/**
 * Creates the folder of the platform's database, and writes the schema that the project file refers to. Git ignores the
 * folder `.service`.
 */
export function prepareFolder(project: Project, text: string, cwd: string): void {
  const usesSchema = text.includes(`$schema=${SCHEMA_FILE}`);
  const folder = join(cwd, OWN_FOLDER);
  const database = project.platform?.url === undefined ? databaseOf(project, cwd) : undefined;
  if (usesSchema || project.platform?.port === "auto" || (database !== undefined && dirname(database) === folder)) {
    createFolder(folder);
    writeIfChanged(join(folder, ".gitignore"), "*\n", cwd);
  }
  if (usesSchema) writeIfChanged(join(cwd, SCHEMA_FILE), schemaText(), cwd);
}

/** Returns the JSON schema of the project file. */
export function schemaText(): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", title: "service.yaml", ...PROJECT_SCHEMA };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function writeIfChanged(file: string, text: string, project: string): void {
  const place = outsideOf(project, file);
  if (place !== undefined) {
    throw new UserError(`${file} leads to ${place}, outside the folder of ${PROJECT_FILE}`, {
      hint: shellCommand`Remove the link: rm ${file}`,
      code: "project_file",
    });
  }
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
