import { Card, Facts } from "./page.tsx";
import { Empty } from "./states.tsx";

export function MetadataFacts({ metadata }: { metadata: Record<string, string> }) {
  const rows = Object.entries(metadata);
  return <Card title="Metadata">{rows.length === 0 ? <Empty title="None." /> : <Facts rows={rows} />}</Card>;
}
