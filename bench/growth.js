// Growth: what claims, lists, statistics and retention cost with a million past events, each with a delivery and an
// attempt, against the same with a thousand, on both databases. `node bench/run.js growth`.
import { join } from "node:path";
import { atMost } from "./goals.js";
import { bundle, startNode, temporaryFolder } from "./measure.js";
import { startServer } from "./postgres.js";

const FEW = 1_000;
const MANY = Number(process.env.BENCH_GROWTH_EVENTS ?? 1_000_000);

function rowsOf(database, few, many) {
  const rows = Object.entries(many.times).map(([name, time]) => ({
    name: `Growth to ${MANY}, ${database}: ${name}`,
    figure: `${time.toFixed(2)} ms`,
    baseline: `${few.times[name].toFixed(2)} ms with ${FEW}`,
    ratio: time / few.times[name],
    goal: atMost(2),
  }));
  const { deliveries, milliseconds, longest, slice } = many.retention;
  rows.push({
    name: `Growth to ${MANY}, ${database}: ${deliveries} old deliveries removed with events and attempts`,
    figure: `${((milliseconds / deliveries) * 1000).toFixed(0)} ms per 1,000`,
  });
  rows.push({
    name: `Growth to ${MANY}, ${database}: longest pause of the event loop meanwhile`,
    figure: `${longest.toFixed(1)} ms`,
  });
  rows.push({
    name: `Growth to ${MANY}, ${database}: processor time of the longest slice meanwhile`,
    figure: `${slice.toFixed(1)} ms`,
    value: slice,
    ...(database === "SQLite" ? { goal: atMost(5, "ms") } : {}),
  });
  return rows;
}

export async function benchGrowth() {
  const loader = await bundle("growth-loader");
  const measure = async (place, events) => (await startNode([loader, place, String(events)])).ready;
  const file = () => join(temporaryFolder(), "platform.db");
  const rows = rowsOf("SQLite", await measure(file(), FEW), await measure(file(), MANY));
  const server = await startServer();
  const database = () => server.ask({ create: true });
  rows.push(...rowsOf("PostgreSQL", await measure(await database(), FEW), await measure(await database(), MANY)));
  server.child.stdin.end();
  return rows;
}
