import { schemaText } from "../src/cli/commands/dev/init.ts";

process.stdout.write(schemaText());
