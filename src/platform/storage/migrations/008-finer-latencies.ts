import type { ColumnTypes, Migration } from "./migration.ts";

/**
 * Upper bounds by bucket (LATENCY_BOUNDS). The first eleven are those of the first migration, whose counts stay as they
 * are.
 */
const BOUNDS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 1, 2, 3, 4, 6, 8, 13, 16, 20, 32, 40, 63, 80, 126, 160, 200,
  316, 400, 630, 800, 1260, 1600, 2000, 3160, 4000, 6300, 8000, 9000, 9900,
];
const REST = BOUNDS.indexOf(10_000);

const bucketOf = (latency: string) =>
  `CASE ${BOUNDS.map((bound, bucket) => ({ bound, bucket }))
    .filter(({ bucket }) => bucket !== REST)
    .toSorted((a, b) => a.bound - b.bound)
    .map(({ bound, bucket }) => `WHEN ${latency} <= ${bound} THEN ${bucket}`)
    .join(" ")} ELSE ${REST} END`;

const groupOf = (attempt: string) => `d.environment, ${attempt}.at / 60000, COALESCE(d.endpoint_id, ''),
  COALESCE(${attempt}.status_code, 0), COALESCE(substr(${attempt}.error, 1, 512), ''),
  ${bucketOf(`${attempt}.duration_ms`)}`;

const KEY = "environment, minute, endpoint_id, status_code, error, bucket";

/** Counts latencies in narrow ranges, so that a percentile of them is close to that of the attempts. */
export const finerLatencies: Migration = {
  number: 8,
  name: "finer latencies",
  statements: ({ dialect }: ColumnTypes) =>
    dialect === "sqlite"
      ? [
          "DROP TRIGGER attempts_counted",
          `CREATE TRIGGER attempts_counted AFTER INSERT ON attempts BEGIN
             INSERT INTO attempt_counts (${KEY}, count, last_at)
             SELECT ${groupOf("NEW")}, 1, NEW.at FROM deliveries d WHERE d.id = NEW.delivery_id
             ON CONFLICT (${KEY})
             DO UPDATE SET count = count + 1, last_at = MAX(last_at, excluded.last_at);
           END`,
        ]
      : [
          `CREATE OR REPLACE FUNCTION count_attempt() RETURNS trigger LANGUAGE plpgsql AS $body$
           BEGIN INSERT INTO attempt_count_changes (${KEY}, count, last_at)
             SELECT ${groupOf("NEW")}, 1, NEW.at FROM deliveries d WHERE d.id = NEW.delivery_id;
             RETURN NULL; END $body$`,
        ],
};
