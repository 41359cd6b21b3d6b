import { type CommandDefinition, flag } from "../../command.ts";

/** `service demo`: the main workflow end to end, without setup. */
export const command: CommandDefinition = {
  name: "demo",
  about: "Run an end-to-end demo: platform, receiver, customer, listen, trigger",
  options: [flag("--once", "Exit after the last step: 0 if every step succeeded, else 1", { default: false })],
  isMixed: true,
  examples: ["service demo", "service demo --once --json # In CI: exit when the event is delivered"],
  load: async () => (await import("./run.ts")).runDemo,
};
