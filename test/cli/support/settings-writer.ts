import { updateSettings } from "../../../src/cli/settings/write.ts";

/** Adds profiles to the settings, one per write. Arguments: folder, name of the writer, number of profiles. */
async function main([directory, writer, count]: string[]): Promise<void> {
  for (let i = 0; i < Number(count); i++) {
    const profile = { base_url: "http://127.0.0.1:4010", auth_url: "http://127.0.0.1:4010", credentials: {} };
    await updateSettings(directory!, (settings) => ({
      ...settings,
      profiles: { ...settings.profiles, [`writer-${writer}-${i}`]: profile },
    }));
  }
}

void main(process.argv.slice(2));
