import { schemaText } from "../src/cli/commands/dev/folder.ts";

process.stdout.write(schemaText());
