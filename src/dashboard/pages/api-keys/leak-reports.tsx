import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { Time } from "../../components/time.tsx";

/** Keys that were found in public and revoked by the platform, and where (platform specification 5.1). */
export function LeakReports({ keys }: { keys: readonly ApiKey[] }) {
  if (keys.length === 0) return null;
  return (
    <section class="notice bad">
      <h2>Found in public</h2>
      <p>The platform revoked {keys.length === 1 ? "a key" : `${keys.length} keys`} that somebody reported:</p>
      <ul>
        {keys.map((key) => (
          <li key={key.id}>
            <strong>{key.name ?? "Unnamed"}</strong>{" "}
            <code>
              {key.prefix}…{key.last4}
            </code>
            , revoked <Time at={key.revoked_at} />, {placeOf(key)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Text, never a link: whoever reported the key chose it. */
function placeOf({ revoked_reason: reason }: ApiKey): string {
  const place = /^leaked: (.*)$/s.exec(reason ?? "")?.[1];
  return place === undefined ? "place not told" : `found at ${place}`;
}
