import { go, hrefOf, place } from "../router.tsx";

/** The status that the address names; empty for all. */
export function chosenStatus(): string {
  return place.value.query.get("status") ?? "";
}

/** Chooses a status, which the address keeps. */
export function StatusFilter({ page, statuses }: { page: string; statuses: readonly string[] }) {
  return (
    <label>
      Status
      <select
        value={chosenStatus()}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          go(hrefOf(page, "", chosen === "" ? {} : { status: chosen }), { replace: true });
        }}
      >
        <option value="">All</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {status}
          </option>
        ))}
      </select>
    </label>
  );
}
