import { Card, Facts } from "./page.tsx";

export function MetadataFacts({ metadata }: { metadata: Record<string, string> }) {
  const rows = Object.entries(metadata);
  return <Card title="Metadata">{rows.length === 0 ? <p class="soft">None.</p> : <Facts rows={rows} />}</Card>;
}
