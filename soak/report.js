// The result of a soak run: a table of verdicts, a table of measurements, and a plot.

/** Returns the report in Markdown, and whether no verdict failed. */
export function reportOf({ title, verdicts, processes, samples, retained }) {
  const max = (list, measure) => Math.round(list.reduce((highest, sample) => Math.max(highest, sample[measure]), 0));
  const word = { true: "yes", false: "**NO**", undefined: "not judged" };
  const text = [
    title,
    "",
    "| Verdict | Bound | Seen | Met |",
    "| --- | --- | --- | --- |",
    ...verdicts.map(({ what, bound, observed, isMet }) => `| ${what} | ${bound} | ${observed} | ${word[isMet]} |`),
    "",
    "| Process | Lives | Max memory | Max open files | Max heap after collection | Timers | Listeners | Statements |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...processes.map(({ name, lives }) => {
      const of = (measure) => max(retained[name], measure);
      return `| ${name} | ${lives} | ${max(samples[name], "memory")} MB | ${max(samples[name], "files")} | ${of("heap")} MB | ${of("timers")} | ${of("listeners")} | ${of("statements")} |`;
    }),
  ].join("\n");
  return { text, isMet: verdicts.every(({ isMet }) => isMet !== false) };
}

/** Input of plot.js. */
export function plotOf({ title, seconds, processes, samples, retained, kills }) {
  const line = (list, measure) => list.map((sample) => [sample.at, sample[measure]]);
  const perProcess = (from, measure) =>
    Object.fromEntries(processes.map(({ name }) => [name, line(from[name], measure)]));
  return {
    title,
    seconds,
    panels: [
      { title: "Memory", unit: "MB", lines: perProcess(samples, "memory") },
      { title: "Heap after collection", unit: "MB", lines: perProcess(retained, "heap") },
      { title: "Open files", unit: "", lines: perProcess(samples, "files") },
      { title: "Pending deliveries", unit: "", lines: { queue: line(samples.queue, "depth") } },
    ],
    kills,
  };
}
