import type { TextStream } from "../../terminal/text-stream.ts";
import { BASH } from "./bash.ts";
import type { Shell } from "./index.ts";
import { POWERSHELL } from "./powershell.ts";
import { ZSH } from "./zsh.ts";

const NAME = "service";

/** Prints the script that binds `service complete` to a shell's Tab key. */
export async function printScript(shell: Shell, stdout: TextStream): Promise<void> {
  if (shell === "bash") return stdout.write(`${BASH}\n`);
  if (shell === "zsh") return stdout.write(`${ZSH}\n`);
  if (shell === "powershell") return stdout.write(`${POWERSHELL}\n`);
  const { script } = await import("@bomb.sh/tab");
  script(shell, NAME, NAME);
}
