import { type CommandDefinition, flag } from "../../command.ts";

/** `service dev`: platform, listener, env file, seed data and app in one terminal. */
export const command: CommandDefinition = {
  name: "dev",
  about:
    "Run the platform, a listener and your app with the settings in service.yaml. Ctrl-C stops all of them. Exits with the app's exit code.",
  options: [
    flag("--exit-with-app", "Stop everything when the app crashes, instead of asking whether to restart it"),
    flag("--no-ui", "Print plain lines instead of the terminal UI"),
  ],
  isMixed: true,
  examples: ["service dev init # Create service.yaml", "service dev"],
  load: async () => (await import("./run.ts")).runDev,
  commands: [
    {
      name: "init",
      about: "Create service.yaml; prompts for settings that no flag sets",
      summary: "Create service.yaml",
      options: [
        flag("--port <number|auto>", "Port of the platform that `service dev` starts (default: auto, a free one)"),
        flag("--url <url>", "URL of an existing platform to use instead", { conflicts: "port" }),
        flag("--forward-to <target>", "Where your app receives events (default: localhost:3000/webhooks)"),
        flag("--run <command>", "Command that starts your app, or none (default: from package.json)"),
        flag(
          "--write-env <file>",
          "File next to service.yaml for the signing secret and the API key, or none (default: .env.local)",
        ),
        flag("--seed <file>", "Fixture to send once per database"),
        flag("--yes", "Accept the defaults without prompting"),
        flag("--force", "Replace an existing service.yaml"),
      ],
      examples: ["service dev init --yes --forward-to localhost:3000/webhooks --run 'npm run dev' # Without questions"],
      load: async () => (await import("./init.ts")).runInit,
    },
    {
      name: "trust",
      about:
        "Allow the service.yaml in this folder to send events to other machines, and your API key to its platform, even one on this machine. If the file later names new hosts, you are asked again.",
      summary: "Allow service.yaml to get your API key and to use other machines",
      options: [
        flag("--yes", "Skip the confirmation"),
        flag("--revoke", "Withdraw the permission", { conflicts: "yes" }),
      ],
      load: async () => (await import("./trust.ts")).runTrust,
    },
  ],
};
