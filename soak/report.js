// What a soak run leaves behind: a table of verdicts, a table of what was measured, and a plot.

/** The report in Markdown, and whether every verdict that could be judged is met. */
export function reportOf({ title, verdicts, processes, samples }) {
  const most = (name, what) => Math.max(0, ...samples[name].map((sample) => sample[what]));
  const word = { true: "yes", false: "**NO**", undefined: "not judged" };
  const text = [
    title,
    "",
    "| Verdict | Bound | Seen | Met |",
    "| --- | --- | --- | --- |",
    ...verdicts.map(({ what, bound, seen, isMet }) => `| ${what} | ${bound} | ${seen} | ${word[isMet]} |`),
    "",
    "| Process | Lives | Most memory | Most open files |",
    "| --- | --- | --- | --- |",
    ...processes.map(
      ({ name, lives }) => `| ${name} | ${lives} | ${Math.round(most(name, "memory"))} MB | ${most(name, "files")} |`,
    ),
  ].join("\n");
  return { text, isMet: verdicts.every(({ isMet }) => isMet !== false) };
}

/** What plot.js draws. */
export function plotOf({ title, seconds, processes, samples, kills }) {
  const line = (name, what) => samples[name].map((sample) => [sample.at, sample[what]]);
  const perProcess = (what) => Object.fromEntries(processes.map(({ name }) => [name, line(name, what)]));
  return {
    title,
    seconds,
    panels: [
      { title: "Memory", unit: "MB", lines: perProcess("memory") },
      { title: "Open files", unit: "", lines: perProcess("files") },
      { title: "Deliveries that wait", unit: "", lines: { queue: line("queue", "depth") } },
    ],
    kills,
  };
}
