import { LATEST_VERSION } from "../../contract/versions.ts";
import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";

/** `service version`. */
export const command: CommandDefinition = {
  name: "version",
  about: "Print the versions of the CLI, the API and Node.js",
  async run({ output, version, platform }: Context) {
    const versions = {
      version,
      api_version: LATEST_VERSION,
      node: process.versions.node,
      platform: `${platform}-${process.arch}`,
    };
    if (output.json) return await output.document(versions);
    output.line(`service ${version} (API ${versions.api_version}, Node ${versions.node}, ${versions.platform})`);
  },
};
