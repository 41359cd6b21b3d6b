import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** Returns the path of a file in deploy/. */
export const deployed = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));

/** A PromQL query and its source. */
export interface NamedQuery {
  name: string;
  expr: string;
}

/** Returns the alert rules for Prometheus. */
export function alertQueries(): NamedQuery[] {
  const { groups } = parse(readFileSync(deployed("alerts.yml"), "utf8")) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr })));
}

/** A Grafana dashboard, as far as the tests read it. */
interface Dashboard {
  templating: { list: { name: string; query: string | { query: string } }[] };
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
}

/** Returns the queries of the dashboard's panels and variables. */
export function dashboardQueries(text = readFileSync(deployed("grafana/service.json"), "utf8")): NamedQuery[] {
  const { templating, panels } = JSON.parse(text) as Dashboard;
  const ofVariables = templating.list.flatMap(({ name, query }) => {
    const [, expr] = (typeof query === "string" ? undefined : /^label_values\((.*), \w+\)$/.exec(query.query)) ?? [];
    return expr === undefined ? [] : { name, expr };
  });
  const ofPanels = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr })));
  return [...ofVariables, ...ofPanels];
}

const OPERATORS = new Set(["and", "or", "unless", "bool"]);

/** Returns the metrics that a query reads by their declared names: a histogram once, without its suffixes. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, " ")
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ");
  const names = [...bare.matchAll(/\b[a-z_]\w*\b(?!\s*\()/g)].map(([name]) => name);
  return [
    ...new Set(names.filter((name) => !OPERATORS.has(name)).map((name) => name.replace(/_(bucket|sum|count)$/, ""))),
  ];
}
