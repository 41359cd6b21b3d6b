import { Argument, type Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import type { Shell } from "./scripts.ts";

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish", "powershell"];

/** `service completion <shell>`. */
export function register(program: Command, context: Context): void {
  const completion = program
    .command("completion")
    .description("Generate a shell completion script for commands, flags, event types, profiles and IDs")
    .addArgument(new Argument("<shell>", "Shell").choices(SHELLS))
    .action(async (shell: Shell) => {
      const { printScript } = await import("./scripts.ts");
      printScript(shell, process.argv[1] ?? "", context.stdout);
    });
  addExamples(completion, [
    "source <(service completion bash)                               # in ~/.bashrc",
    "source <(service completion zsh)                                # in ~/.zshrc, after compinit",
    "service completion fish > ~/.config/fish/completions/service.fish",
    "service completion powershell | Out-String | Invoke-Expression  # in $PROFILE",
  ]);
}
